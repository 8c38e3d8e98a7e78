"""A linear layer with bias and SiLU on device memory, from Python alone: no
PyTorch. With PyTorch, `import ingot.torch` has all of this as operators."""

import ctypes
import math
import os
import struct

import ingot

hip = ctypes.CDLL(os.environ.get("INGOT_HIP_LIBRARY", "libamdhip64.so"))


def to_device(values):
    data = struct.pack(f"{len(values)}e", *values)  # f16
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(len(data))) == 0
    assert hip.hipMemcpy(pointer, data, ctypes.c_size_t(len(data)), 1) == 0
    return pointer.value


def to_host(pointer, count):
    data = ctypes.create_string_buffer(2 * count)
    assert hip.hipMemcpy(data, ctypes.c_void_p(pointer), ctypes.c_size_t(len(data)), 2) == 0
    return struct.unpack(f"{count}e", data.raw)


m, n, k = 7, 24, 32
x = [((i * 5) % 13 - 6) / 8 for i in range(m * k)]
weight = [((i * 3) % 11 - 5) / 16 for i in range(n * k)]
bias = [i / 32 for i in range(n)]

with ingot.Client() as client:
    layer = client.prepare(ingot.Spec(
        "gemm", dims={"m": ingot.ANY, "n": n, "k": k},
        operands={"a": "f16", "b": "f16", "d": "f16", "bias": "f16"}, attrs={"layout": "nt", "act": "silu"}))

y = to_device([0.0] * (m * n))
dims = {"m": m, "n": n, "k": k}
workspace = layer.workspace_bytes(dims)
layer.launch(dims, {"a": to_device(x), "b": to_device(weight), "d": y, "bias": to_device(bias)},
             workspace=(to_device([0.0] * (workspace // 2 + 1)), workspace))

worst = 0
for i, got in enumerate(to_host(y, m * n)):
    row, column = divmod(i, n)
    before = bias[column] + math.fsum(x[row * k + t] * weight[column * k + t] for t in range(k))
    want = before / (1 + math.exp(-before))
    worst = max(worst, abs(got - want) / max(1, abs(want)))
print(f"silu(x W^T + bias) of {m} x {n} x {k}: largest error {worst:.1e}")
assert worst < 2**-10
