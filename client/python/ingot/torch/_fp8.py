"""Products of 8-bit floats with f32 scales, one for all or one a row and a
column: fp8_mm, which is torch._scaled_mm where that scales so."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

_ELEMENTS = ("e4m3fn", "e5m2")
_OUTPUTS = (torch.bfloat16, torch.float16, torch.float32)


def _scaling(scale_a: torch.Tensor, scale_b: torch.Tensor, m: int, n: int) -> str:
    if scale_a.dtype != torch.float32 or scale_b.dtype != torch.float32:
        raise Fallback("dtype of scales")
    if scale_a.numel() == 1 and scale_b.numel() == 1:
        return "tensor"
    if scale_a.shape == (m, 1) and scale_b.shape == (1, n) and scale_a.is_contiguous() and scale_b.is_contiguous():
        return "row"
    raise Fallback("scales")


def fp8_mm(op: str, a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor,
           bias: Optional[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """(a * scale_a) [m, k] @ (b * scale_b) [k, n] + bias [n]; b lies as [n, k].
    Scales f32: one element each, or [m, 1] and [1, n]. Fallback where that is
    not for us."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise Fallback("shape")
    m, k = a.shape
    n = b.shape[1]
    likeness = _tensors.likeness(("fp8_mm", dtype), a, b, scale_a, scale_b, bias)
    repeat = runtime.repeat(likeness)
    out = torch.empty((m, n), dtype=dtype, device=a.device)
    weights = b.t()
    tensors = [a, weights, out, scale_a, scale_b] + ([] if bias is None else [bias])
    if repeat is not None:
        runtime.run_again(op, repeat, tensors)
        return out
    runtime.device.check(a)
    if any(tensor.device != a.device for tensor in tensors):
        raise Fallback("devices")
    kinds = [_tensors.dtype_of(tensor) for tensor in (a, b)]
    if kinds[0] not in _ELEMENTS or kinds[1] not in _ELEMENTS or dtype not in _OUTPUTS:
        raise Fallback("dtype")
    if k == 0:
        raise Fallback("empty sum")
    scaling = _scaling(scale_a, scale_b, m, n)
    if bias is not None and (bias.shape != (n,) or bias.dtype not in (dtype, torch.float32)
                             or not bias.is_contiguous()):
        raise Fallback("bias")
    if m == 0 or n == 0:
        return out
    strides = [_row_stride(tensor) for tensor in (a, weights)]
    dense = [stride == k for stride in strides]
    key = ("gemm", "fp8", n, k, *kinds, dtype, scaling, *dense, bias is not None and bias.dtype,
           *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, k, scaling, dense, tensors))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (m, n, k)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    for place, stride in enumerate(strides):
        if not dense[place]:
            launch.set_strides(place, (stride, 1))
    runtime.run(op, launch, tensors)
    runtime.remember(likeness, launch)
    return out


def _row_stride(matrix: torch.Tensor) -> int:
    stride = _tensors.row_stride(matrix)
    if stride is None or stride < matrix.shape[1]:
        raise Fallback("strides")
    return stride


def _spec(n, k, scaling, dense, tensors) -> ingot.Spec:
    operands = {}
    for place, (name, tensor) in enumerate(zip(("a", "b", "d", "scale_a", "scale_b", "bias"), tensors)):
        strides = ingot.DYNAMIC if place < 2 and not dense[place] else None
        operands[name] = ingot.Operand(_tensors.dtype_of(tensor), strides=strides,
                                       alignment=_tensors.alignment_of(tensor))
    return ingot.Spec("gemm", dims={"m": ingot.ANY, "n": n, "k": k}, operands=operands,
                      attrs={"layout": "nt", "scaling": scaling})
