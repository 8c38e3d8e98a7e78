"""Triton's kernels for the problems of manifests, as launches for
`bench_kernels --peers`: every configuration compiled for gfx950, no GPU needed.
Usage: triton_rows.py FOLDER MANIFEST.jsonl...; writes FOLDER/launches.jsonl and the
code objects beside it."""

import itertools
import json
import os
import pathlib
import struct
import sys
import time

# What Triton's users on gfx950 switch on: global loads straight into LDS, and
# waves of a SIMD that take turns. Configurations choose.
os.environ.update(TRITON_ALWAYS_COMPILE="1", TRITON_DISABLE_LINE_INFO="1")

import triton
from triton import knobs

from triton_kernels import TARGET, gemm_nt, grouped, scaled_nt, source

COMPUTE_UNITS = 256


class Compiler:
    """Compiles a configuration once; None where Triton refuses it."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def compile(self, kernel, pointers, values, constants, warps, stages, direct):
        integers = {name: value % 16 == 0 for name, value in values.items()}
        key = (kernel.__name__, *sorted(constants.items()), *integers.items(), warps, stages, direct)
        if key not in self.known:
            ast = source(kernel, pointers, integers, constants)
            self.known[key] = self._compile(kernel.__name__, ast, constants, warps, stages, direct)
        return self.known[key]

    def _compile(self, name, ast, constants, warps, stages, direct):
        knobs.amd.use_async_copy = direct
        knobs.amd.use_block_pingpong = direct
        options = {"num_warps": warps, "num_stages": stages, "matrix_instr_nonkdim": 16}
        start = time.perf_counter()
        try:
            made = triton.compile(ast, target=TARGET, options=options)
        except Exception as error:  # a configuration that cannot be built is none
            print(f"{name} {constants}: {' '.join(str(error).split())[:160]}", file=sys.stderr)
            return None
        seconds = time.perf_counter() - start
        path = self.folder / f"{name}_{len(self.known)}.hsaco"
        path.write_bytes(made.asm["hsaco"])
        return {"peer": "triton", "path": str(path), "kernel": made.metadata.name, "block": str(warps * 64), "lds": made.metadata.shared,
                "compile_seconds": seconds}


# Scratch memory of the kernel and of a profiler, which these do not use.
HIDDEN = ["hex:" + "00" * 8] * 2

FEW = [(16, 32, 128, 2, 2), (16, 64, 128, 4, 2), (16, 64, 256, 4, 2), (32, 32, 128, 4, 2), (32, 64, 128, 4, 2),
       (32, 128, 64, 4, 3), (64, 64, 128, 4, 2), (16, 128, 128, 4, 2)]
MANY = [(64, 64, 64, 4, 2), (64, 128, 64, 4, 2), (128, 64, 64, 4, 2), (128, 128, 64, 4, 2), (128, 128, 64, 8, 3),
        (128, 256, 64, 8, 2), (256, 128, 64, 8, 2), (256, 256, 64, 8, 2), (256, 256, 32, 8, 3)]


def configurations(m):
    tiles = FEW if m <= 32 else FEW + MANY[:4] if m <= 128 else MANY
    return itertools.product(tiles, (False, True))


def text(tile, direct):
    return "{}x{}x{} {}w {}s".format(*tile) + (" direct" if direct else "")


def ceildiv(a, b):
    return -(-a // b)


def launch(pointers, values):
    """Arguments of a launch: sizes in bytes, or what --arg takes; integers."""
    sizes = [p if isinstance(p, str) else f"ptr:{p}" for p in pointers]
    return sizes + [f"i32:{value}" for value in values.values()] + HIDDEN


def gemm(compiler, row):
    m, n, k = (row["dims"][d] for d in "mnk")
    pointers = dict(a_ptr="*bf16", b_ptr="*bf16", d_ptr="*bf16")
    values = dict(m=m, n=n, k=k, lda=k, ldb=k, ldd=n)
    arguments = launch([m * k * 2, n * k * 2, m * n * 2], values)
    for tile, direct in configurations(m):
        tile_m, tile_n, tile_k, warps, stages = tile
        constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": tile_k, "GROUP": 8, "EVEN_K": k % tile_k == 0}
        made = compiler.compile(gemm_nt, pointers, values, constants, warps, stages, direct)
        if made:
            yield {**made, "id": f"gemm bf16 bf16 {m}x{n}x{k}", "config": text(tile, direct),
                   "grid": str(ceildiv(m, tile_m) * ceildiv(n, tile_n)), "arguments": arguments}


FORMATS = {"e4m3fn": ("e4m3", 1), "e5m2": ("e5m2", 1), "e2m1": ("e2m1", 2)}


def scaled(compiler, row):
    m, n, k = (row["dims"][d] for d in "mnk")
    (a, a_packs), (b, b_packs) = (FORMATS[row["dtypes"][x]] for x in "ab")
    pointers = dict(a_ptr="*u8", b_ptr="*u8", sa_ptr="*u8", sb_ptr="*u8", d_ptr="*bf16")
    values = dict(m=m, n=n, k=k, lda=k // a_packs, ldb=k // b_packs, lds=k // 32, ldd=n)
    arguments = launch([m * k // a_packs, n * k // b_packs, m * k // 32, n * k // 32, m * n * 2], values)
    for tile, direct in configurations(m):
        tile_m, tile_n, tile_k, warps, stages = tile
        tile_k *= 2 * min(a_packs, b_packs)
        if k % tile_k:
            continue
        constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": tile_k, "GROUP": 8, "A_FORMAT": a, "B_FORMAT": b,
                     "A_PACKS": a_packs, "B_PACKS": b_packs}
        made = compiler.compile(scaled_nt, pointers, values, constants, warps, stages, direct)
        if made:
            yield {**made, "id": f"scaled_gemm {row['dtypes']['a']} {row['dtypes']['b']} {m}x{n}x{k}",
                   "config": text((tile_m, tile_n, tile_k, warps, stages), direct),
                   "grid": str(ceildiv(m, tile_m) * ceildiv(n, tile_n)), "arguments": arguments}


SHARES = {"": (1,), " skewed": (0.62, 1, 1.38)}  # of the groups' rows, by turns


def offsets(compiler, groups, m, name):
    """A file with the ends of the groups."""
    shares = [SHARES[name][g % len(SHARES[name])] for g in range(groups)]
    ends = [round(m * sum(shares[:g + 1]) / sum(shares)) for g in range(groups)]
    path = compiler.folder / f"offs_{groups}_{m}{name.replace(' ', '_')}.bin"
    path.write_bytes(struct.pack(f"{groups}i", *ends))
    return path


def grouped_gemm(compiler, row):
    g, n, k, m = (row["dims"][d] for d in ("g", "n", "k", "total_m"))
    pointers = dict(a_ptr="*bf16", b_ptr="*bf16", offs_ptr="*i32", d_ptr="*bf16")
    values = dict(groups=g, n=n, k=k, lda=k, ldb=n, ldd=n)
    for tile, direct in configurations(m // g):
        tile_m, tile_n, tile_k, warps, stages = tile
        workgroups = COMPUTE_UNITS * (2 if tile_m * tile_n <= 128 * 128 else 1)
        constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": tile_k, "WORKGROUPS": workgroups}
        made = compiler.compile(grouped, pointers, values, constants, warps, stages, direct)
        if not made:
            continue
        for name in SHARES:
            offs = f"ptr:{g * 4}:file={offsets(compiler, g, m, name)}"
            yield {**made, "id": f"grouped_gemm bf16 bf16 {g}x{m}x{n}x{k}{name}", "config": text(tile, direct),
                   "grid": str(workgroups), "arguments": launch([m * k * 2, g * n * k * 2, offs, m * n * 2], values)}


OPS = {"gemm": gemm, "scaled_gemm": scaled, "grouped_gemm": grouped_gemm}


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(folder)
    with open(folder / "launches.jsonl", "w") as out:
        for manifest in sys.argv[2:]:
            for line in open(manifest):
                row = json.loads(line)
                for made in OPS[row["op"]](compiler, row):
                    print(json.dumps(made), file=out)
    print(f"{len(compiler.known)} configurations, {sum(v is not None for v in compiler.known.values())} built")


main()
