"""Rebuilds Triton's code objects for gfx950 from the kernels below; no GPU is
needed. Tests use the stored objects. Run it with the Python environment that
`./dev bench peers` makes under build/.

Beside the objects, kernels.txt has one line for each: name, symbol, warps,
bytes of dynamic LDS."""

import gzip
import os
import pathlib

# No paths of this machine in the objects, and no stored ones.
os.environ.update(TRITON_DISABLE_LINE_INFO="1", TRITON_ALWAYS_COMPILE="1", TRITON_DEFAULT_FP_FUSION="1")

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("hip", "gfx950", 64)


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + row * n + i, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(mask, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, axis=0) / n + eps)
    y = d * scale * tl.load(weight + i, mask=mask, other=0.0) + tl.load(bias + i, mask=mask, other=0.0)
    tl.store(out + row * n + i, y.to(tl.bfloat16), mask=mask)


@triton.jit
def column_sums(x, out, rows, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + r[:, None] * n + i[None, :], mask=(r[:, None] < rows) & (i[None, :] < n), other=0)
    tl.atomic_add(out + i, tl.sum(v, axis=0), mask=i < n)


@triton.jit
def matmul(a, b, d, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rm = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    rn = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    pa = a + rm[:, None] * k + rk[None, :]
    pb = b + rn[None, :] * k + rk[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, TILE_K)):
        left = k - step * TILE_K
        x = tl.load(pa, mask=(rm[:, None] < m) & (rk[None, :] < left), other=0.0)
        y = tl.load(pb, mask=(rn[None, :] < n) & (rk[:, None] < left), other=0.0)
        acc = tl.dot(x, y, acc)
        pa += TILE_K
        pb += TILE_K
    tl.store(d + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


# A tile of D from mxfp4: two elements a byte, a scale for each 32 along K.
@triton.jit
def scaled_matmul(a, a_scale, b, b_scale, d, n, k, TILE: tl.constexpr, TILE_K: tl.constexpr):
    rm = tl.program_id(0) * TILE + tl.arange(0, TILE)
    rn = tl.program_id(1) * TILE + tl.arange(0, TILE)
    rk = tl.arange(0, TILE_K // 2)
    rs = tl.arange(0, TILE_K // 32)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for step in range(0, k // TILE_K):
        x = tl.load(a + rm[:, None] * (k // 2) + step * (TILE_K // 2) + rk[None, :])
        y = tl.load(b + rn[None, :] * (k // 2) + step * (TILE_K // 2) + rk[:, None])
        sx = tl.load(a_scale + rm[:, None] * (k // 32) + step * (TILE_K // 32) + rs[None, :])
        sy = tl.load(b_scale + rn[:, None] * (k // 32) + step * (TILE_K // 32) + rs[None, :])
        acc = tl.dot_scaled(x, sx, "e2m1", y, sy, "e2m1", acc)
    tl.store(d + rm[:, None] * n + rn[None, :], acc)


@triton.jit
def attention(q, k, v, out, n, scale, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, WIDTH)
    x = tl.load(q + rows[:, None] * WIDTH + cols[None, :], mask=rows[:, None] < n, other=0.0)
    top = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, WIDTH), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        keys = start + tl.arange(0, BLOCK)
        y = tl.load(k + keys[None, :] * WIDTH + cols[:, None], mask=keys[None, :] < n, other=0.0)
        s = tl.dot(x, y) * scale
        s = tl.where((keys[None, :] <= rows[:, None]) & (keys[None, :] < n), s, -float("inf"))
        new_top = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new_top[:, None])
        fade = tl.exp(top - new_top)
        total = total * fade + tl.sum(p, axis=1)
        z = tl.load(v + keys[:, None] * WIDTH + cols[None, :], mask=keys[:, None] < n, other=0.0)
        acc = acc * fade[:, None] + tl.dot(p.to(tl.bfloat16), z)
        top = new_top
    tl.store(out + rows[:, None] * WIDTH + cols[None, :], acc / total[:, None], mask=rows[:, None] < n)


def matmul_of(kind):
    signature = {"a": f"*{kind}", "b": f"*{kind}", "d": "*fp32", "m": "i32", "n": "i32", "k": "i32"}
    return matmul, signature, {"TILE_M": 64, "TILE_N": 32, "TILE_K": 64}, {"num_warps": 4, "num_stages": 2}


KERNELS = {
    "vector_add": (vector_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024},
                   {"num_warps": 4}),
    "softmax": (softmax, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}, {"num_warps": 4}),
    "layer_norm": (layer_norm, {"x": "*bf16", "weight": "*fp32", "bias": "*fp32", "out": "*bf16", "n": "i32",
                                "eps": "fp32"}, {"BLOCK": 2048}, {"num_warps": 8}),
    "column_sums": (column_sums, {"x": "*i32", "out": "*i32", "rows": "i32", "n": "i32"}, {"BLOCK": 64},
                    {"num_warps": 4}),
    "matmul_bf16": matmul_of("bf16"),
    "matmul_f16": matmul_of("fp16"),
    "matmul_fp8": matmul_of("fp8e4nv"),
    "matmul_bf8": matmul_of("fp8e5"),
    "scaled_matmul": (scaled_matmul, {"a": "*u8", "a_scale": "*u8", "b": "*u8", "b_scale": "*u8", "d": "*fp32",
                                      "n": "i32", "k": "i32"}, {"TILE": 64, "TILE_K": 128}, {"num_warps": 4}),
    "attention": (attention, {"q": "*bf16", "k": "*bf16", "v": "*bf16", "out": "*fp32", "n": "i32",
                              "scale": "fp32"}, {"BLOCK": 64, "WIDTH": 64}, {"num_warps": 4}),
}


def main():
    here = pathlib.Path(__file__).parent
    lines = []
    for name, (kernel, signature, constants, options) in KERNELS.items():
        facts = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind[0] == "*"}
        source = ASTSource(fn=kernel, signature={**signature, **{c: "constexpr" for c in constants}},
                           constexprs=constants, attrs=facts)
        made = triton.compile(source, target=TARGET, options=options)
        with open(here / f"{name}.hsaco.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
            out.write(made.asm["hsaco"])
        lines.append(f"{name} {made.metadata.name} {made.metadata.num_warps} {made.metadata.shared}\n")
    (here / "kernels.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
