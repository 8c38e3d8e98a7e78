"""The benches' problems in FlyDSL: the same arithmetic as triton_kernels.py,
with the shapes static and the layouts spelled out, as that language wants it.

Importing this needs torch, which FlyDSL takes its argument types from."""

import flydsl.compiler as flyc
import flydsl.expr as fx
import torch
from flydsl.expr import range_constexpr

ROWS = 8192  # m and rows: the extent of the tensors that stand for the arguments
THREADS = 256
WAVE = 64


def _rmsnorm(n):
    per_thread = 8  # bf16 of one 128-bit access
    steps = n // (THREADS * per_thread)

    @flyc.kernel
    def rmsnorm(x: fx.Tensor, weight: fx.Tensor, y: fx.Tensor, eps: fx.Float32):
        thread = fx.thread_idx.x
        lane = thread % WAVE
        wave = thread // WAVE
        load = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.BFloat16)
        vectors = fx.make_layout(per_thread, 1)
        row = fx.block_idx.x
        source = fx.logical_divide(fx.slice(fx.rocdl.make_buffer_tensor(x), (row, None)), vectors)
        scale = fx.logical_divide(fx.rocdl.make_buffer_tensor(weight), vectors)
        target = fx.logical_divide(fx.slice(fx.rocdl.make_buffer_tensor(y), (row, None)), vectors)

        def read(tensor, step):
            registers = fx.make_rmem_tensor(vectors, fx.BFloat16)
            fx.copy_atom_call(load, fx.slice(tensor, (None, thread + step * THREADS)), registers)
            return registers.load().to(fx.Float32)

        kept = []
        total = fx.Float32(0.0)
        for step in range_constexpr(steps):
            values = read(source, step)
            kept.append(values)
            total = total + (values * values).reduce(fx.ReductionOp.ADD)

        # Across the wave by shuffles, across waves through LDS.
        for bit in range_constexpr(6):
            total = total + total.shuffle_xor(1 << bit, WAVE)
        partial = fx.get_dyn_shared(fx.Float32)
        if lane == 0:
            fx.ptr_store(total, partial + wave)
        fx.gpu.barrier()
        total = fx.ptr_load(partial)
        for other in range_constexpr(1, THREADS // WAVE):
            total = total + fx.ptr_load(partial + other)
        factor = fx.rsqrt(total / float(n) + eps)

        for step in range_constexpr(steps):
            registers = fx.make_rmem_tensor(vectors, fx.BFloat16)
            registers.store((kept[step] * factor * read(scale, step)).to(fx.BFloat16))
            fx.copy_atom_call(load, registers, fx.slice(target, (None, thread + step * THREADS)))

    @flyc.jit
    def launch(x: fx.Tensor, weight: fx.Tensor, y: fx.Tensor, eps: fx.Float32, rows: fx.Int32,
               stream: fx.Stream = fx.Stream(None)):
        rmsnorm(x, weight, y, eps).launch(grid=(rows, 1, 1), block=(THREADS, 1, 1), smem=64, stream=stream)

    x = torch.empty(ROWS, n, dtype=torch.bfloat16)
    arguments = (x, torch.empty(n, dtype=torch.bfloat16), torch.empty_like(x), 1e-5, ROWS)
    return launch, arguments


def _gemm_nt(tile, waves, n=4096, k=4096):
    """`tile` x `tile` of d per workgroup of `waves` waves, K in steps of 64
    through two LDS buffers each for A and B."""
    step_k = 64
    threads = waves * WAVE
    steps = k // step_k
    waves_m = 2
    waves_n = waves // waves_m
    tile_bytes = tile * step_k * 2

    @flyc.kernel
    def gemm(a: fx.Tensor, b: fx.Tensor, d: fx.Tensor, alpha: fx.Float32,
             mma: fx.TiledMma, stage: fx.TiledCopy):
        thread = fx.thread_idx.x
        tile_m, tile_n, _ = fx.block_idx
        wide = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.BFloat16)
        local = fx.make_copy_atom(fx.UniversalCopy128b(), fx.BFloat16)
        narrow = fx.make_copy_atom(fx.rocdl.BufferCopy16b(), fx.BFloat16)

        a_tiles = fx.flat_divide(fx.rocdl.make_buffer_tensor(a), fx.make_tile(tile, step_k))[None, None, tile_m, None]
        b_tiles = fx.flat_divide(fx.rocdl.make_buffer_tensor(b), fx.make_tile(tile, step_k))[None, None, tile_n, None]
        d_tile = fx.flat_divide(fx.rocdl.make_buffer_tensor(d), fx.make_tile(tile, tile))[None, None, tile_m, tile_n]

        # Rows of 128 bytes, swizzled so that the lanes of a read meet all banks.
        pointer = fx.PointerType.get(fx.BFloat16.ir_type, fx.AddressSpace.Shared, 512)
        base = fx.recast_iter(pointer, fx.get_dyn_shared())
        layout = fx.make_composed_layout(
            fx.static(fx.SwizzleType.get(3, 3, 3)),
            fx.make_ordered_layout((tile, step_k, 2), (1, 0, 2)))
        a_lds = fx.make_view(base, layout)
        b_lds = fx.make_view(base + 2 * tile * step_k, layout)

        slice_mma = mma.thr_slice(thread)
        slice_stage = stage.get_slice(thread)
        a_from, a_to = slice_stage.partition_S(a_tiles), slice_stage.partition_D(a_lds)
        b_from, b_to = slice_stage.partition_S(b_tiles), slice_stage.partition_D(b_lds)
        a_held = fx.make_fragment_like(a_to[None, None, None, 0])
        b_held = fx.make_fragment_like(b_to[None, None, None, 0])

        read_a = fx.make_tiled_copy_A(wide, mma).get_slice(thread)
        read_b = fx.make_tiled_copy_B(wide, mma).get_slice(thread)
        write_d = fx.make_tiled_copy_C(narrow, mma).get_slice(thread)
        a_lds_part, b_lds_part = read_a.partition_S(a_lds), read_b.partition_S(b_lds)
        a_frag = slice_mma.make_fragment_A(a_lds[None, None, 0])
        b_frag = slice_mma.make_fragment_B(b_lds[None, None, 0])
        acc = slice_mma.make_fragment_C(d_tile)
        a_view, b_view = read_a.retile(a_frag), read_b.retile(b_frag)

        def fetch(step):
            fx.copy(wide, a_from[None, None, None, step], a_held)
            fx.copy(wide, b_from[None, None, None, step], b_held)

        def put(buffer):
            fx.copy(local, a_held, a_to[None, None, None, buffer])
            fx.copy(local, b_held, b_to[None, None, None, buffer])

        def multiply(buffer):
            for part in range_constexpr(step_k // 32):
                fx.copy(local, a_lds_part[None, None, part, buffer], a_view[None, None, part])
                fx.copy(local, b_lds_part[None, None, part, buffer], b_view[None, None, part])
                fx.gemm(mma, acc, a_frag[None, None, part], b_frag[None, None, part], acc)

        acc.fill(0.0)
        fetch(0)
        put(0)
        fx.gpu.barrier()
        for pair in range(0, steps // 2 - 1):
            for buffer in range_constexpr(2):
                fetch(fx.Int32(pair * 2 + buffer + 1))
                multiply(buffer)
                put(1 - buffer)
                fx.gpu.barrier()
        fetch(steps - 1)
        multiply(0)
        put(1)
        fx.gpu.barrier()
        multiply(1)

        rounded = fx.make_fragment_like(acc, fx.BFloat16.ir_type)
        rounded.store((acc.load() * alpha).to(fx.BFloat16))
        fx.copy(narrow, write_d.retile(rounded), write_d.partition_S(d_tile))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, d: fx.Tensor, alpha: fx.Float32, m: fx.Int32,
               stream: fx.Stream = fx.Stream(None)):
        columns = step_k // 8
        rows = threads // columns
        stage = fx.make_tiled_copy(
            fx.make_copy_atom(fx.UniversalCopy128b(), fx.BFloat16),
            fx.make_layout(((columns, rows), (1, 8)), ((rows * 8, 1), (1, rows))),
            fx.make_tile(rows, step_k))
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.BFloat16)),
            fx.make_layout((waves_m, waves_n, 1), (1, waves_m, 0)))
        gemm(a, b, d, alpha, mma, stage).launch(
            grid=(m // tile, n // tile, 1), block=(threads, 1, 1), smem=4 * tile_bytes, stream=stream)

    a = torch.empty(ROWS, k, dtype=torch.bfloat16)
    b = torch.empty(n, k, dtype=torch.bfloat16)
    d = torch.empty(ROWS, n, dtype=torch.bfloat16)
    return launch, (a, b, d, 1.0, ROWS)


# By the names that the comparison uses; see compare.py.
PROBLEMS = {
    "rmsnorm bf16 n=4096": lambda: _rmsnorm(4096),
    "rmsnorm bf16 n=8192": lambda: _rmsnorm(8192),
    "gemm bf16 nt 128x128": lambda: _gemm_nt(128, waves=4),
    "gemm bf16 nt 256x256": lambda: _gemm_nt(256, waves=8),
}
