"""The benches' problems as Triton kernels, written as a user of Triton on
gfx950 would: masked tails, f32 accumulation, the divisibility and pointer-range
facts its JIT derives from 16-byte aligned tensors below 2 GiB."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("hip", "gfx950", 64)


@triton.jit
def rmsnorm(x_ptr, weight_ptr, y_ptr, n, x_stride, y_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / n + eps)
    tl.store(y_ptr + row * y_stride + columns, (x * scale * weight).to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def gemm_nt(a_ptr, b_ptr, d_ptr, m, n, k, lda, ldb, ldd, alpha,
            TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr):
    # Workgroups that share rows of A run close in time, for the L2's sake.
    tiles_m = tl.cdiv(m, TILE_M)
    tiles_n = tl.cdiv(n, TILE_N)
    tile = tl.program_id(0)
    group = tile // (GROUP * tiles_n)
    first_m = group * GROUP
    rows = min(tiles_m - first_m, GROUP)
    tile_m = first_m + (tile % (GROUP * tiles_n)) % rows
    tile_n = (tile % (GROUP * tiles_n)) // rows

    rm = tile_m * TILE_M + tl.arange(0, TILE_M)
    rn = tile_n * TILE_N + tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    a = a_ptr + (rm % m)[:, None] * lda + rk[None, :]
    b = b_ptr + (rn % n)[None, :] * ldb + rk[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, TILE_K)):
        left = k - step * TILE_K
        acc = tl.dot(tl.load(a, mask=rk[None, :] < left, other=0.0),
                     tl.load(b, mask=rk[:, None] < left, other=0.0), acc)
        a += TILE_K
        b += TILE_K
    d = d_ptr + rm[:, None] * ldd + rn[None, :]
    tl.store(d, (acc * alpha).to(d_ptr.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


def _source(kernel, signature, constants):
    names = list(signature)
    facts = {}
    for i, name in enumerate(names):
        if signature[name].startswith("*"):
            facts[(i,)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
        elif signature[name] == "i32":
            facts[(i,)] = [["tt.divisibility", 16]]
    return ASTSource(fn=kernel, signature={**signature, **{c: "constexpr" for c in constants}},
                     constexprs=constants, attrs=facts)


def _rmsnorm(n):
    signature = {"x_ptr": "*bf16", "weight_ptr": "*bf16", "y_ptr": "*bf16", "n": "i32",
                 "x_stride": "i32", "y_stride": "i32", "eps": "fp32"}
    source = _source(rmsnorm, signature, {"BLOCK": triton.next_power_of_2(n)})
    return source, {"num_warps": 4 if n <= 4096 else 8}


def _gemm(tile_m, tile_n, warps):
    signature = {"a_ptr": "*bf16", "b_ptr": "*bf16", "d_ptr": "*bf16", "m": "i32", "n": "i32", "k": "i32",
                 "lda": "i32", "ldb": "i32", "ldd": "i32", "alpha": "fp32"}
    source = _source(gemm_nt, signature, {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": 64, "GROUP": 8})
    return source, {"num_warps": warps, "num_stages": 2, "matrix_instr_nonkdim": 16}


# By the names that the comparison uses; see compare.py.
PROBLEMS = {
    "rmsnorm bf16 n=4096": lambda: _rmsnorm(4096),
    "rmsnorm bf16 n=8192": lambda: _rmsnorm(8192),
    "gemm bf16 nt 128x128": lambda: _gemm(128, 128, 4),
    "gemm bf16 nt 256x256": lambda: _gemm(256, 256, 8),
}


def compile_problem(name):
    """Compiles from source to code object, nothing cached; returns its bytes."""
    source, options = PROBLEMS[name]()
    return triton.compile(source, target=TARGET, options=options).asm["hsaco"]
