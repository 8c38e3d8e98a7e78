"""Products of groups of rows with a matrix each: grouped_mm, for experts."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _tensors
from ._gemm import GEMM_DTYPES
from ._runtime import Fallback, runtime


def _layout_of(b: torch.Tensor) -> str:
    """"gkn" or "gnk" of packed matrices [g, k, n]."""
    if b.is_contiguous():
        return "gkn"
    if b.transpose(1, 2).is_contiguous():
        return "gnk"
    raise Fallback("strides")


def grouped_mm(op: str, a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor, bias: Optional[torch.Tensor],
               act: str) -> torch.Tensor:
    """Rows offs[e - 1] to offs[e] of a [total_m, k] times b[e] [k, n]; Fallback
    where that is not for us. `offs` stays on the device."""
    if a.dim() != 2 or b.dim() != 3 or offs.dim() != 1 or a.shape[1] != b.shape[1] or offs.shape[0] != b.shape[0]:
        raise Fallback("shape")
    total, k = a.shape
    groups, _, n = b.shape
    runtime.device.check(a)
    if a.dtype not in GEMM_DTYPES or b.dtype != a.dtype or offs.dtype != torch.int32:
        raise Fallback("dtype")
    if bias is not None and (bias.shape != (groups, n) or not bias.is_contiguous()):
        raise Fallback("bias")
    if k == 0 or groups == 0 or not offs.is_contiguous():
        raise Fallback("shape")
    # Rows of no group are zero, as PyTorch's are.
    out = torch.zeros((total, n), dtype=a.dtype, device=a.device)
    if total == 0 or n == 0:
        return out
    stride = _tensors.row_stride(a)
    if stride is None or (total > 1 and stride < k):
        raise Fallback("strides")
    dense = stride == k or total == 1
    layout = _layout_of(b)
    tensors = [a, b, out, offs] if bias is None else [a, b, out, offs, bias]
    key = ("grouped_gemm", groups, n, k, layout, a.dtype, act, dense, bias is not None and bias.dtype,
           *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(groups, n, k, layout, act, dense, tensors))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (total, groups, n, k)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    if not dense:
        launch.set_strides(0, (stride, 1))
    runtime.run(op, launch, tensors)
    return out


def _spec(groups, n, k, layout, act, dense, tensors) -> ingot.Spec:
    operands = {name: ingot.Operand(_tensors.dtype_of(tensor), alignment=_tensors.alignment_of(tensor))
                for name, tensor in zip(("a", "b", "d", "offs", "bias"), tensors)}
    if not dense:
        operands["a"] = ingot.Operand(operands["a"].dtype, strides=ingot.DYNAMIC, alignment=operands["a"].alignment)
    attrs = {"b_layout": layout}
    if act != "none":
        attrs["act"] = act
    return ingot.Spec("grouped_gemm", dims={"total_m": ingot.ANY, "g": groups, "n": n, "k": k}, operands=operands,
                      attrs=attrs)
