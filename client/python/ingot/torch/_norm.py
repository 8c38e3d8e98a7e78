"""Normalisation of rows: rms_norm."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def rms_norm(op: str, x: torch.Tensor, weight: Optional[torch.Tensor], eps: float) -> torch.Tensor:
    """x [..., n] over its last dim; Fallback where that is not for us."""
    n = x.shape[-1]
    runtime.device.check(x)
    if x.dtype not in _DTYPES:
        raise Fallback("dtype")
    if weight is not None and (weight.dtype not in (x.dtype, torch.float32) or weight.dim() != 1
                               or weight.shape[0] != n or (n > 1 and weight.stride(0) != 1)):
        raise Fallback("weight")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return out
    try:
        rows = x.view(-1, n)
    except RuntimeError as error:
        raise Fallback("strides") from error
    stride = _tensors.row_stride(rows)
    if stride is None or (rows.shape[0] > 1 and stride < n):
        raise Fallback("strides")
    dense = stride == n
    tensors = [rows, out] if weight is None else [rows, out, weight]
    key = ("rmsnorm", n, x.dtype, dense, weight is not None and weight.dtype,
           *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, dense, tensors))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (rows.shape[0], n)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    if not dense:
        launch.set_strides(0, (stride, 1))
    launch.set_scalars((eps,))
    runtime.run(op, launch, tensors)
    return out


def _spec(n, dense, tensors) -> ingot.Spec:
    operands = {name: ingot.Operand(_tensors.dtype_of(tensor), alignment=_tensors.alignment_of(tensor))
                for name, tensor in zip(("x", "y", "weight"), tensors)}
    if not dense:
        operands["x"] = ingot.Operand(operands["x"].dtype, strides=ingot.DYNAMIC, alignment=operands["x"].alignment)
    return ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": n}, operands=operands)
