"""Normalisation of rows: rms_norm, with a residual added first, and quantised."""

from __future__ import annotations

from typing import Optional

import torch

import ingot

from . import _narrow, _tensors
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
        _launch(op, _rows(x=x, y=out), _weight(weight), eps, remember=likeness)
    return out


def fused_add_rms_norm(op: str, x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor], eps: float,
                       in_place: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """rms_norm(x + residual) and the sum, of [..., n] each: in new tensors or, in
    place, in x and residual. Fallback where that is not for us."""
    _check(x, weight, residual)
    out, total = (x, residual) if in_place else [torch.empty(x.shape, dtype=x.dtype, device=x.device)
                                                 for _ in range(2)]
    if x.numel():
        _launch(op, _rows(x=x, y=out, residual=residual, residual_out=total), _weight(weight), eps)
    return out, total


def rms_norm_quant(op: str, x: torch.Tensor, weight: Optional[torch.Tensor], eps: float,
                   quant: str) -> tuple[torch.Tensor, torch.Tensor]:
    """rms_norm(x) as _narrow.FORMATS[quant], and its scales. Fallback where that is
    not for us; ValueError where it is no format, or not for such rows."""
    y, scale, _ = _quantised(op, x, None, weight, eps, quant)
    return y, scale


def fused_add_rms_norm_quant(op: str, x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor],
                             eps: float, quant: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """rms_norm_quant(x + residual), and the sum."""
    return _quantised(op, x, residual, weight, eps, quant)


def _quantised(op, x, residual, weight, eps, quant):
    y, scale = _narrow.empty(x, quant)
    form = _narrow.FORMATS[quant]
    _check(x, weight, residual)
    total = None if residual is None else torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y, scale, total
    rows, vectors = _rows(x=x), _weight(weight)
    rows["y"] = _tensors.Rows(y, form.element)
    if residual is not None:
        rows.update(_rows(residual=residual, residual_out=total))
    if form.in_blocks:
        rows["scale"] = _tensors.Rows(scale, "e8m0")
    else:
        vectors["scale"] = scale
    _launch(op, rows, vectors, eps, attrs={"quant": quant})
    return y, scale, total


def _check(x, weight, residual=None) -> None:
    runtime.device.check(x)
    if x.dtype not in _DTYPES:
        raise Fallback("dtype")
    n = x.shape[-1]
    if weight is not None and (weight.dtype not in (x.dtype, torch.float32) or weight.device != x.device
                               or weight.dim() != 1 or weight.shape[0] != n or (n > 1 and weight.stride(0) != 1)):
        raise Fallback("weight")
    if residual is not None and (residual.shape != x.shape or residual.dtype != x.dtype
                                 or residual.device != x.device):
        raise Fallback("residual")


def _rows(**tensors) -> dict:
    return {name: _tensors.Rows(tensor) for name, tensor in tensors.items()}


def _weight(weight) -> dict:
    return {} if weight is None else {"weight": weight}


def _launch(op, rows, vectors, eps, attrs=None, remember=None) -> None:
    """`vectors`: the operands that are not rows, which come after those."""
    tensors = [row.tensor for row in rows.values()] + [*vectors.values()]
    count, n = tensors[0].shape
    attrs = attrs or {}
    key = ("rmsnorm", n, tensors[0].dtype, *attrs.values(), *[(name, one.dtype) for name, one in vectors.items()],
           *rows, *[row.dense for row in rows.values()], *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, rows, vectors, attrs))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (count, n)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    _tensors.set_strides(launch, rows.values())
    launch.set_scalars((eps,))
    runtime.run(op, launch, tensors)
    runtime.remember(remember, launch)


def _spec(n, rows, vectors, attrs) -> ingot.Spec:
    operands = {name: row.operand() for name, row in rows.items()}
    for name, vector in vectors.items():
        operands[name] = ingot.Operand(_tensors.dtype_of(vector), alignment=_tensors.alignment_of(vector))
    return ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": n}, operands=operands, attrs=attrs)
