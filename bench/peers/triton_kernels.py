"""What the benches compare with, as Triton kernels, written as a user of Triton on
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
def _tile_of(tile, m, n, TILE_M: tl.constexpr, TILE_N: tl.constexpr, GROUP: tl.constexpr):
    tiles_n = tl.cdiv(n, TILE_N)
    group = tile // (GROUP * tiles_n)
    rows = min(tl.cdiv(m, TILE_M) - group * GROUP, GROUP)
    in_group = tile % (GROUP * tiles_n)
    return group * GROUP + in_group % rows, in_group // rows


@triton.jit
def gemm_nt(a_ptr, b_ptr, d_ptr, m, n, k, lda, ldb, ldd, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
            TILE_K: tl.constexpr, GROUP: tl.constexpr, EVEN_K: tl.constexpr):
    tile_m, tile_n = _tile_of(tl.program_id(0), m, n, TILE_M, TILE_N, GROUP)
    rm = tile_m * TILE_M + tl.arange(0, TILE_M)
    rn = tile_n * TILE_N + tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    a = a_ptr + (rm % m)[:, None] * lda + rk[None, :]
    b = b_ptr + (rn % n)[None, :] * ldb + rk[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, TILE_K)):
        if EVEN_K:
            acc = tl.dot(tl.load(a), tl.load(b), acc)
        else:
            left = k - step * TILE_K
            acc = tl.dot(tl.load(a, mask=rk[None, :] < left, other=0.0),
                         tl.load(b, mask=rk[:, None] < left, other=0.0), acc)
        a += TILE_K
        b += TILE_K
    tl.store(d_ptr + rm[:, None] * ldd + rn[None, :], acc.to(d_ptr.dtype.element_ty),
             mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def scaled_nt(a_ptr, b_ptr, sa_ptr, sb_ptr, d_ptr, m, n, k, lda, ldb, lds, ldd, TILE_M: tl.constexpr,
              TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr, A_FORMAT: tl.constexpr,
              B_FORMAT: tl.constexpr, A_PACKS: tl.constexpr, B_PACKS: tl.constexpr):
    tile_m, tile_n = _tile_of(tl.program_id(0), m, n, TILE_M, TILE_N, GROUP)
    rm = tile_m * TILE_M + tl.arange(0, TILE_M)
    rn = tile_n * TILE_N + tl.arange(0, TILE_N)
    ra = tl.arange(0, TILE_K // A_PACKS)
    rb = tl.arange(0, TILE_K // B_PACKS)
    rs = tl.arange(0, TILE_K // 32)
    a = a_ptr + (rm % m)[:, None] * lda + ra[None, :]
    b = b_ptr + (rn % n)[None, :] * ldb + rb[:, None]
    sa = sa_ptr + (rm % m)[:, None] * lds + rs[None, :]
    sb = sb_ptr + (rn % n)[:, None] * lds + rs[None, :]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(k, TILE_K)):
        acc = tl.dot_scaled(tl.load(a), tl.load(sa), A_FORMAT, tl.load(b), tl.load(sb), B_FORMAT, acc)
        a += TILE_K // A_PACKS
        b += TILE_K // B_PACKS
        sa += TILE_K // 32
        sb += TILE_K // 32
    tl.store(d_ptr + rm[:, None] * ldd + rn[None, :], acc.to(d_ptr.dtype.element_ty),
             mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def grouped(a_ptr, b_ptr, offs_ptr, d_ptr, groups, n, k, lda, ldb, ldd, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
            TILE_K: tl.constexpr, WORKGROUPS: tl.constexpr):
    tile = tl.program_id(0)
    done = 0
    start = 0
    tiles_n = tl.cdiv(n, TILE_N)
    rk = tl.arange(0, TILE_K)
    for g in range(groups):
        end = tl.load(offs_ptr + g)
        tiles = tl.cdiv(end - start, TILE_M) * tiles_n
        while tile < done + tiles:
            tile_m = (tile - done) // tiles_n
            tile_n = (tile - done) % tiles_n
            rm = start + tile_m * TILE_M + tl.arange(0, TILE_M)
            rn = tile_n * TILE_N + tl.arange(0, TILE_N)
            a = a_ptr + tl.minimum(rm, end - 1)[:, None] * lda + rk[None, :]
            b = b_ptr + g.to(tl.int64) * k * n + rk[:, None] * ldb + (rn % n)[None, :]
            acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(k, TILE_K)):
                acc = tl.dot(tl.load(a), tl.load(b), acc)
                a += TILE_K
                b += TILE_K * ldb
            tl.store(d_ptr + rm[:, None] * ldd + rn[None, :], acc.to(d_ptr.dtype.element_ty),
                     mask=(rm[:, None] < end) & (rn[None, :] < n))
            tile += WORKGROUPS
        done += tiles
        start = end


def source(kernel, pointers, integers, constants, **scalars):
    """`integers` are name to whether it is a multiple of 16, which the JIT finds."""
    facts = {}
    for i in range(len(pointers)):
        facts[(i,)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    for i, multiple in enumerate(integers.values(), len(pointers)):
        if multiple:
            facts[(i,)] = [["tt.divisibility", 16]]
    signature = {**pointers, **{name: "i32" for name in integers}, **scalars,
                 **{c: "constexpr" for c in constants}}
    return ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=facts)


def _rmsnorm(n):
    pointers = dict(x_ptr="*bf16", weight_ptr="*bf16", y_ptr="*bf16")
    integers = dict(n=True, x_stride=True, y_stride=True)
    return source(rmsnorm, pointers, integers, {"BLOCK": triton.next_power_of_2(n)}, eps="fp32"), \
        {"num_warps": 4 if n <= 4096 else 8}


def _gemm(tile_m, tile_n, warps):
    pointers = dict(a_ptr="*bf16", b_ptr="*bf16", d_ptr="*bf16")
    constants = {"TILE_M": tile_m, "TILE_N": tile_n, "TILE_K": 64, "GROUP": 8, "EVEN_K": True}
    return _matrix(gemm_nt, pointers, "m n k lda ldb ldd", constants, warps)


def _scaled(dtype, packs, tile, tile_k, warps):
    pointers = dict(a_ptr="*u8", b_ptr="*u8", sa_ptr="*u8", sb_ptr="*u8", d_ptr="*bf16")
    constants = {"TILE_M": tile, "TILE_N": tile, "TILE_K": tile_k, "GROUP": 8, "A_FORMAT": dtype, "B_FORMAT": dtype,
                 "A_PACKS": packs, "B_PACKS": packs}
    return _matrix(scaled_nt, pointers, "m n k lda ldb lds ldd", constants, warps)


def _grouped(tile, warps):
    pointers = dict(a_ptr="*bf16", b_ptr="*bf16", offs_ptr="*i32", d_ptr="*bf16")
    constants = {"TILE_M": tile, "TILE_N": tile, "TILE_K": 64, "WORKGROUPS": 256}
    return _matrix(grouped, pointers, "groups n k lda ldb ldd", constants, warps)


def _matrix(kernel, pointers, integers, constants, warps):
    facts = {name: name not in ("m", "groups") for name in integers.split()}
    return source(kernel, pointers, facts, constants), \
        {"num_warps": warps, "num_stages": 2, "matrix_instr_nonkdim": 16}


# By the names that the comparison uses; see compare.py.
PROBLEMS = {
    "rmsnorm bf16 n=4096": lambda: _rmsnorm(4096),
    "rmsnorm bf16 n=8192": lambda: _rmsnorm(8192),
    "gemm bf16 nt 128x128": lambda: _gemm(128, 128, 4),
    "gemm bf16 nt 256x256": lambda: _gemm(256, 256, 8),
    "scaled_gemm e4m3fn 128x128": lambda: _scaled("e4m3", 1, 128, 128, 4),
    "scaled_gemm e2m1 256x256": lambda: _scaled("e2m1", 2, 256, 256, 8),
    "grouped_gemm bf16 128x128": lambda: _grouped(128, 4),
}


def compile_problem(name):
    """Compiles from source to code object, nothing cached; returns its bytes."""
    source, options = PROBLEMS[name]()
    return triton.compile(source, target=TARGET, options=options).asm["hsaco"]
