"""Normalisation of rows: rms_norm, and with a residual added first."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def rms_norm(op: str, x: torch.Tensor, weight: Optional[torch.Tensor], eps: float) -> torch.Tensor:
    """x [..., n] over its last dim; Fallback where that is not for us."""
    likeness = _tensors.likeness(("rms_norm", eps), x, weight)
    repeat = runtime.repeat(likeness)
    if repeat is None:
        _check(x, weight)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if repeat is not None:
        runtime.run_again(op, repeat, (x, out) if weight is None else (x, out, weight))
    elif x.numel():
        _launch(op, {"x": x, "y": out}, weight, eps, remember=likeness)
    return out


def fused_add_rms_norm(op: str, x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor], eps: float,
                       in_place: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """rms_norm(x + residual) and the sum, of [..., n] each: in new tensors or, in
    place, in x and residual. Fallback where that is not for us."""
    _check(x, weight)
    if residual.shape != x.shape or residual.dtype != x.dtype or residual.device != x.device:
        raise Fallback("residual")
    out, total = (x, residual) if in_place else [torch.empty(x.shape, dtype=x.dtype, device=x.device)
                                                 for _ in range(2)]
    if x.numel():
        _launch(op, {"x": x, "y": out, "residual": residual, "residual_out": total}, weight, eps)
    return out, total


def _check(x, weight) -> None:
    runtime.device.check(x)
    if x.dtype not in _DTYPES:
        raise Fallback("dtype")
    n = x.shape[-1]
    if weight is not None and (weight.dtype not in (x.dtype, torch.float32) or weight.dim() != 1
                               or weight.shape[0] != n or (n > 1 and weight.stride(0) != 1)):
        raise Fallback("weight")


def _launch(op, named, weight, eps, remember=None) -> None:
    rows = {name: _tensors.Rows(tensor) for name, tensor in named.items()}
    tensors = [row.tensor for row in rows.values()]
    if weight is not None:
        tensors.append(weight)
    count, n = tensors[0].shape
    key = ("rmsnorm", n, tensors[0].dtype, weight is not None and weight.dtype, *rows,
           *[row.dense for row in rows.values()], *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, rows, weight))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (count, n)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    _tensors.set_strides(launch, rows.values())
    launch.set_scalars((eps,))
    runtime.run(op, launch, tensors)
    runtime.remember(remember, launch)


def _spec(n, rows, weight) -> ingot.Spec:
    operands = {name: row.operand() for name, row in rows.items()}
    if weight is not None:
        operands["weight"] = ingot.Operand(_tensors.dtype_of(weight), alignment=_tensors.alignment_of(weight))
    return ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": n}, operands=operands)
