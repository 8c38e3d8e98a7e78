"""FlyDSL's own GEMMs for the problems of manifests, as launches for
`bench_kernels --peers`: no GPU needed. Its kernels are no part of its wheel:
they come from a checkout of its sources, which this names and never copies.
Usage: flydsl_rows.py FOLDER CHECKOUT MANIFEST.jsonl...; adds to
FOLDER/launches.jsonl and puts the code objects beside it."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

os.environ.update(COMPILE_ONLY="1", ARCH="gfx950", FLYDSL_GPU_ARCH="gfx950", FLYDSL_RUNTIME_ENABLE_CACHE="0",
                  FLYDSL_DEBUG_DUMP_ASM="1")

import torch

LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
BF16 = 2  # as the checkout numbers its dtypes
WORKSPACE = 256  # words of its semaphores

# Tile m, n, k, stages, waves along m, n and within k; half tiles interleaved.
FEW = [(16, 32, 128, 4, 1, 1, 4, False), (16, 32, 256, 4, 1, 1, 4, False), (16, 64, 128, 4, 1, 1, 4, False),
       (16, 64, 256, 3, 1, 1, 4, False), (16, 64, 128, 4, 1, 4, 1, False), (16, 128, 128, 3, 1, 4, 1, False),
       (32, 32, 128, 4, 1, 1, 4, False), (32, 64, 128, 4, 1, 1, 4, False), (32, 64, 128, 4, 1, 4, 1, False)]
MANY = [(64, 64, 64, 4, 2, 2, 1, False), (64, 64, 128, 4, 1, 1, 4, False), (64, 128, 64, 4, 2, 2, 1, False),
        (128, 64, 64, 4, 2, 2, 1, False), (128, 128, 64, 4, 2, 2, 1, False), (128, 128, 64, 2, 4, 4, 1, False),
        (128, 128, 64, 2, 2, 2, 1, True), (128, 256, 64, 2, 2, 4, 1, False), (256, 128, 64, 2, 2, 4, 1, False),
        (256, 128, 64, 2, 2, 4, 1, True), (256, 256, 64, 2, 2, 4, 1, False), (256, 256, 64, 2, 2, 4, 1, True)]


def tensor(size_bytes, *shape):
    """A tensor of the kernel's: where it is, its shape and all strides but the
    unit one."""
    if len(shape) == 1:
        return [f"ptr:{size_bytes}", f"i32:{shape[0]}"]
    rows, columns, stride = shape
    return [f"ptr:{size_bytes}", "hex:" + struct.pack("<iiq", rows, columns, stride).hex()]


class Compiler:
    """Compiles what it is asked for once, to a code object in the folder."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def compile(self, key, run):
        if key not in self.known:
            self.known[key] = self._compile(run)
        return self.known[key]

    def _compile(self, run):
        dump = self.folder / "dump"
        shutil.rmtree(dump, ignore_errors=True)
        os.environ["FLYDSL_DUMP_DIR"] = str(dump)
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        assembly = next(dump.rglob("*final_isa.s"))
        path = self.folder / f"flydsl_{len(self.known)}.hsaco"
        relocatable = path.with_suffix(".o")
        subprocess.run([LLVM / "llvm-mc", "-triple=amdgcn-amd-amdhsa-unknown", "-mcpu=gfx950", "-filetype=obj",
                        assembly, "-o", relocatable], check=True)
        subprocess.run([LLVM / "ld.lld", "-shared", relocatable, "-o", path], check=True)
        relocatable.unlink()
        return {"peer": "flydsl", "path": str(path), "kernel": assembly.parent.name, "lds": 0, "compile_seconds": seconds}


def gemm(compiler, row):
    from kernels.gemm import gemm_a16w16_gfx950 as peer

    m, n, k = (row["dims"][d] for d in "mnk")
    few = FEW if m <= 32 else FEW + MANY[:4] if m <= 128 else MANY
    for tile in few:
        tile_m, tile_n, tile_k, stages, waves_m, waves_n, waves_k, halves = tile
        settings = dict(in_dtype_id=BF16, out_dtype_id=BF16, block_m=tile_m, block_n=tile_n, block_k=tile_k,
                        stages=stages, split_k=1, m_waves=waves_m, n_waves=waves_n, k_waves=waves_k, group_m=0,
                        use_half_tile_interleaved=halves, a_is_transposed=False, b_is_transposed=True, has_bias=False)
        param = peer.make_gemm_a16w16_param_and_validate(m, n, k, settings)
        if param is None:
            continue

        def run():
            # Layouts are dynamic: one code object serves every size.
            a = torch.empty(512, 512, dtype=torch.bfloat16)
            matrix = lambda t, unit: peer._dynamic_tensor_arg(t, unit)
            semaphores = torch.zeros(WORKSPACE, dtype=torch.int32)
            peer.gemm_a16w16_gfx950(matrix(torch.empty_like(a), 1), matrix(a, 1), matrix(torch.empty_like(a).t(), 0),
                                    matrix(a, 1), semaphores, semaphores, 1, param)

        made = compiler.compile(tile, run)
        d, a, b = tensor(m * n * 2, m, n, n), tensor(m * k * 2, m, k, k), tensor(n * k * 2, k, n, k)
        semaphores = tensor(WORKSPACE * 4, WORKSPACE) * 2
        sizes = [f"i32:{value}" for value in (m, n, k, 1, k, k, k)]
        config = "{}x{}x{} {}s {}x{}x{}w".format(*tile[:7]) + (" halves" if halves else "")
        yield {**made, "id": f"gemm bf16 bf16 {m}x{n}x{k}", "config": config, "block": str(param.block_threads),
               "grid": str(-(-m // tile_m) * -(-n // tile_n)), "arguments": d + a + b + a + semaphores + sizes}


def scaled_gemm(compiler, row):
    from kernels.gemm import fp4_gemm_4wave as peer

    m, n, k = (row["dims"][d] for d in "mnk")
    if {row["dtypes"]["a"], row["dtypes"]["b"]} != {"e2m1"} or m % 256 or n % 256 or k % 256:
        return

    def run():
        flat = lambda size: torch.empty(size, dtype=torch.uint8)
        peer.compile_fp4_gemm_4w(K=k, MN=(m, n))(flat(m * k // 2), flat(n * k // 2),
                                                 torch.empty(m * n, dtype=torch.bfloat16), flat(m * k // 32),
                                                 flat(n * k // 32), m, n, None)

    made = compiler.compile(("fp4", m, n, k), run)
    sizes = [(m * k // 2, m * k // 2), (n * k // 2, n * k // 2), (m * n * 2, m * n), (m * k // 32, m * k // 32),
             (n * k // 32, n * k // 32)]
    arguments = [text for size_bytes, elements in sizes for text in tensor(size_bytes, elements)]
    yield {**made, "id": f"scaled_gemm e2m1 e2m1 {m}x{n}x{k}", "config": "256x256x256 4w", "block": "256",
           "grid": str(m // 256 * n // 256), "arguments": arguments + [f"i32:{m}", f"i32:{n}"]}


OPS = {"gemm": gemm, "scaled_gemm": scaled_gemm}


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, sys.argv[2])
    compiler = Compiler(folder)
    with open(folder / "launches.jsonl", "a") as out:
        for manifest in sys.argv[3:]:
            for line in open(manifest):
                row = json.loads(line)
                for made in OPS.get(row["op"], lambda *_: ())(compiler, row):
                    print(json.dumps(made), file=out)
    print(f"{len(compiler.known)} of FlyDSL built")


main()
