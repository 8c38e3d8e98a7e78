"""Narrow floats with scales, as kernels that quantise write them: which dtypes
and shapes they are to PyTorch, and the same numbers computed by ATen."""

from __future__ import annotations

import dataclasses
import math

import torch

BLOCK = 32  # elements of an MX scale


def _dtype(name: str) -> torch.dtype:
    """uint8, of the same bits, where this PyTorch is older than the format."""
    return getattr(torch, name, torch.uint8)


@dataclasses.dataclass(frozen=True)
class Format:
    element: str  # in the words of specs
    dtype: torch.dtype
    in_blocks: bool  # e8m0 scales of BLOCK elements; else one in f32 for the row
    mantissa_bits: int
    least: int  # exponent of the least normal number
    largest: float
    in_a_byte: int = 1

    @property
    def exponent(self) -> int:
        """Of the largest number."""
        return math.frexp(self.largest)[1] - 1


_E4M3 = ("e4m3fn", _dtype("float8_e4m3fn"))
FORMATS = {
    "fp8_row": Format(*_E4M3, in_blocks=False, mantissa_bits=3, least=-6, largest=448),
    "mxfp8": Format(*_E4M3, in_blocks=True, mantissa_bits=3, least=-6, largest=448),
    "mxfp4": Format("e2m1", _dtype("float4_e2m1fn_x2"), in_blocks=True, mantissa_bits=1, least=0, largest=6,
                    in_a_byte=2),
}
E8M0 = _dtype("float8_e8m0fnu")


def empty(x: torch.Tensor, quant: str) -> tuple[torch.Tensor, torch.Tensor]:
    """For the elements and the scales of what has the shape of x; ValueError
    where there is no such format, or it does not divide the rows."""
    if quant not in FORMATS:
        raise ValueError(f"quant: found {quant!r}, allowed {', '.join(FORMATS)}")
    form, n = FORMATS[quant], x.shape[-1]
    if n == 0 or (form.in_blocks and n % BLOCK):
        allowed = f"multiples of {BLOCK}" if form.in_blocks else "1 or more"
        raise ValueError(f"x: found a last dim of {n}, allowed {allowed} with quant {quant}")
    y = torch.empty((*x.shape[:-1], n // form.in_a_byte), dtype=form.dtype, device=x.device)
    if form.in_blocks:
        return y, torch.empty((*x.shape[:-1], n // BLOCK), dtype=E8M0, device=x.device)
    return y, torch.empty((*x.shape[:-1], 1), dtype=torch.float32, device=x.device)


def aten_quantised(values: torch.Tensor, quant: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Elements and scales of `values`, f32 [..., n]."""
    form = FORMATS[quant]
    if not form.in_blocks:
        scale = values.abs().amax(-1, keepdim=True).clamp(min=2.0**-100) / form.largest
        return _elements(values / scale, form), scale
    blocks = values.reshape(*values.shape[:-1], values.shape[-1] // BLOCK, BLOCK)
    exponent = _exponent_bits(blocks.abs().amax(-1))
    scale = torch.where(exponent == 255, exponent, (exponent - form.exponent).clamp(min=0))
    # A scale of 255 is NaN, and so is its block.
    factor = _power_of_two(127 - scale.clamp(max=253)).masked_fill(scale == 255, math.nan).unsqueeze(-1)
    return _elements((blocks * factor).flatten(-2), form), scale.to(torch.uint8).view(E8M0)


def is_float4(x: torch.Tensor) -> bool:
    return x.dtype == getattr(torch, "float4_e2m1fn_x2", None)


def widened(x: torch.Tensor) -> torch.Tensor:
    """In f32; of 4-bit elements, which PyTorch cannot convert, two in one of x."""
    if not is_float4(x):
        return x.float()
    bits = x.view(torch.uint8)
    bits = torch.stack((bits & 15, bits >> 4), -1).flatten(-2)
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device=x.device)
    return torch.where(bits > 7, -1.0, 1.0) * values[(bits & 7).long()]


def _exponent_bits(x: torch.Tensor) -> torch.Tensor:
    """Of f32 that are not negative."""
    return x.contiguous().view(torch.int32) >> 23


def _power_of_two(exponent: torch.Tensor) -> torch.Tensor:
    """Exact, which exp2 need not be. In the range of normal f32."""
    return ((exponent + 127) << 23).view(torch.float32)


def _elements(x: torch.Tensor, form: Format) -> torch.Tensor:
    """Nearest, ties to even; the largest number for what is above it."""
    size = x.abs().clamp(max=form.largest)
    nan = size.isnan()
    size = size.masked_fill(nan, 0)
    exponent = (_exponent_bits(size) - 127).clamp(min=form.least)
    steps = torch.round(size * _power_of_two(form.mantissa_bits - exponent)).int()
    # The leading bit of a normal number, among its steps, is one more to its exponent.
    code = ((exponent - form.least) << form.mantissa_bits) + steps
    bits = 8 // form.in_a_byte
    code = code.masked_fill(nan, (1 << (bits - 1)) - 1) | (torch.signbit(x).int() << (bits - 1))
    if form.in_a_byte == 2:
        code = code[..., ::2] | code[..., 1::2] << 4
    return code.to(torch.uint8).view(form.dtype)
