"""How tensors lie in memory, in the words of specs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

import torch

import ingot

from ._runtime import Fallback

DTYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32", torch.int32: "i32"}
for _name, _dtype in (("float8_e4m3fn", "e4m3fn"), ("float8_e5m2", "e5m2"), ("float8_e8m0fnu", "e8m0"),
                      ("float4_e2m1fn_x2", "e2m1")):
    if hasattr(torch, _name):
        DTYPES[getattr(torch, _name)] = _dtype


def dtype_of(tensor: torch.Tensor) -> str:
    name = DTYPES.get(tensor.dtype)
    if name is None:
        raise Fallback("dtype")
    return name


def alignment_of(tensor: torch.Tensor) -> int:
    """16, or what is left of it: a spec promises it for every launch."""
    pointer = tensor.data_ptr() & 15
    return pointer & -pointer or 16


def likeness(what: tuple, *tensors: Optional[torch.Tensor]) -> Optional[tuple]:
    """Equal for calls that launch the same but for pointers. None for tensors
    that are not aligned to 16 bytes: they are rare."""
    key = [*what]
    pointers = 0
    for tensor in tensors:
        if tensor is None:
            key.append(None)
            continue
        pointers |= tensor.data_ptr()
        key += (tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device())
    return None if pointers & 15 else tuple(key)


def row_stride(tensor: torch.Tensor) -> Optional[int]:
    """Of a [rows, inner] whose rows are contiguous, else None. An extent of one
    has no stride to speak of."""
    rows, inner = tensor.shape
    if inner != 1 and tensor.stride(1) != 1:
        return None
    return tensor.stride(0) if rows > 1 else max(inner, 1)


class Rows:
    """A tensor [..., n] as the rows that kernels see; Fallback where they are not
    contiguous each, or have no one stride. `element`: the dtype in the words of
    specs, where it is not the one that PyTorch knows."""

    __slots__ = ("tensor", "element", "stride", "dense")

    def __init__(self, tensor: torch.Tensor, element: Optional[str] = None):
        n = tensor.shape[-1]
        try:
            self.tensor = tensor.view(-1, n)
        except RuntimeError as error:
            raise Fallback("strides") from error
        self.element = element or dtype_of(tensor)
        self.stride = row_stride(self.tensor)
        if self.stride is None or (self.tensor.shape[0] > 1 and self.stride < n):
            raise Fallback("strides")
        self.dense = self.stride == n

    def operand(self) -> ingot.Operand:
        return ingot.Operand(self.element, strides=None if self.dense else ingot.DYNAMIC,
                             alignment=alignment_of(self.tensor))


def set_strides(launch: ingot.Launch, operands: Iterable[Rows]) -> None:
    """Of a launch's first operands, those that its spec left open."""
    for place, rows in enumerate(operands):
        if not rows.dense:
            launch.set_strides(place, (rows.stride, 1))


def layout_of(tensor: torch.Tensor) -> tuple[str, int]:
    """"n" and its row stride for a matrix whose rows are contiguous, "t" and the
    stride of its columns for the other way round."""
    stride = row_stride(tensor)
    if stride is not None and stride >= tensor.shape[1]:
        return "n", stride
    stride = row_stride(tensor.t())
    if stride is not None and stride >= tensor.shape[0]:
        return "t", stride
    raise Fallback("strides")


def needs_grad(*tensors: Optional[torch.Tensor]) -> bool:
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
