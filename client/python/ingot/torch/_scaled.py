"""Block-scaled products (OCP MX): scaled_mm."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

# Elements of 4 bits come two in one of PyTorch's.
_PACKED = {"e4m3fn": 1, "e5m2": 1, "e2m1": 2}
_OUTPUTS = (torch.bfloat16, torch.float16, torch.float32)


def scaled_mm(op: str, a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor,
              bias: Optional[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """a [m, k] times b [k, n], which lies as [n, k]; scales e8m0, one for 32 k:
    scale_a [m, k / 32], scale_b [n, k / 32]. Of float4_e2m1fn_x2 k counts pairs.
    Fallback where that is not for us."""
    if a.dim() != 2 or b.dim() != 2:
        raise Fallback("shape")
    runtime.device.check(a)
    kinds = [_tensors.dtype_of(tensor) for tensor in (a, b, scale_a, scale_b)]
    if kinds[0] not in _PACKED or kinds[1] not in _PACKED or kinds[2:] != ["e8m0", "e8m0"] or dtype not in _OUTPUTS:
        raise Fallback("dtype")
    m, n = a.shape[0], b.shape[1]
    k = a.shape[1] * _PACKED[kinds[0]]
    if k != b.shape[0] * _PACKED[kinds[1]] or k == 0 or k % 32:
        raise Fallback("shape")
    if tuple(scale_a.shape) != (m, k // 32) or tuple(scale_b.shape) != (n, k // 32):
        raise Fallback("scales")
    weights = b.t()
    if not (a.is_contiguous() and weights.is_contiguous() and scale_a.is_contiguous() and scale_b.is_contiguous()):
        raise Fallback("strides")
    if bias is not None and (bias.shape != (n,) or bias.dtype not in (dtype, torch.float32)
                             or not bias.is_contiguous()):
        raise Fallback("bias")
    out = torch.empty((m, n), dtype=dtype, device=a.device)
    if m == 0 or n == 0:
        return out
    tensors = [a, weights, scale_a, scale_b, out] + ([] if bias is None else [bias])
    key = ("scaled_gemm", n, k, *kinds[:2], dtype, bias is not None and bias.dtype,
           *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, k, tensors))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (m, n, k)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    runtime.run(op, launch, tensors)
    return out


def _spec(n, k, tensors) -> ingot.Spec:
    operands = {name: ingot.Operand(_tensors.dtype_of(tensor), alignment=_tensors.alignment_of(tensor))
                for name, tensor in zip(("a", "b", "scale_a", "scale_b", "d", "bias"), tensors)}
    return ingot.Spec("scaled_gemm", dims={"m": ingot.ANY, "n": n, "k": k}, operands=operands)
