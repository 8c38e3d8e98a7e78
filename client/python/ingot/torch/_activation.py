"""The gated activation of MLPs: silu_mul."""

from __future__ import annotations

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def silu_mul(op: str, x: torch.Tensor, act: str = "silu", interleaved: bool = False) -> torch.Tensor:
    """act(gate) * up of x [..., 2 * n], gates first, or pairs of them where
    interleaved; Fallback where that is not for us."""
    runtime.device.check(x)
    if x.dtype not in _DTYPES:
        raise Fallback("dtype")
    if x.shape[-1] % 2:
        raise Fallback("shape")
    n = x.shape[-1] // 2
    out = torch.empty((*x.shape[:-1], n), dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return out
    rows = {"x": _tensors.Rows(x), "y": _tensors.Rows(out)}
    tensors = [row.tensor for row in rows.values()]
    key = ("silu_mul", n, x.dtype, act, interleaved, rows["x"].dense,
           *[_tensors.alignment_of(tensor) for tensor in tensors])
    prepared = runtime.prepared(key, lambda: _spec(n, act, interleaved, rows))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (tensors[0].shape[0], n)
    launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
    _tensors.set_strides(launch, rows.values())
    runtime.run(op, launch, tensors)
    return out


def _spec(n, act, interleaved, rows) -> ingot.Spec:
    attrs = {}
    if act != "silu":
        attrs["act"] = act
    if interleaved:
        attrs["pairing"] = "interleaved"
    return ingot.Spec("silu_mul", dims={"rows": ingot.ANY, "n": n},
                      operands={name: row.operand() for name, row in rows.items()}, attrs=attrs)
