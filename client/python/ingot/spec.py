"""What is to be computed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from . import _abi
from ._abi import lib
from .errors import InvalidArgument, check


@dataclass(frozen=True)
class Range:
    """A dim that may have any value between `min` and `max` (0: no bound) that
    is a multiple of `multiple_of`. Token-like dims (m, rows, total_m, ...) are
    never baked into a kernel, whether they are given as a range or a value."""

    min: int = 0
    max: int = 0
    multiple_of: int = 1


ANY = Range()
"""A dim of any value."""

DYNAMIC = "dynamic"
"""Strides that are given with each launch."""


@dataclass(frozen=True)
class Operand:
    """`strides`: elements, outermost first; None: packed rows; DYNAMIC.
    `alignment`: bytes that the base pointer is a multiple of; 0: 16."""

    dtype: str
    strides: Union[Sequence[int], str, None] = None
    alignment: int = 0


@dataclass(frozen=True)
class Spec:
    """An op and everything that decides which kernels compute it.

    >>> Spec("gemm", dims={"m": ANY, "n": 4096, "k": 4096},
    ...      operands={"a": "bf16", "b": "bf16", "d": "bf16"},
    ...      attrs={"layout": "nt"})

    The order of dims and operands is the order of a launch's sequences. The
    mappings are not to be changed afterwards."""

    op: str
    dims: Mapping[str, Union[int, Range]]
    operands: Mapping[str, Union[str, Operand]]
    attrs: Mapping[str, Union[bool, int, float, str]] = field(default_factory=dict)
    tuning: Mapping[str, int] = field(default_factory=dict)
    target: Union[str, None] = None  # None: the client's

    def digest(self) -> bytes:
        """The SHA-256 by which daemons and bundles know the spec; 32 bytes.
        InvalidArgument or Unimplemented naming the field."""
        out = (ctypes.c_uint8 * 32)()
        check(lib.ingot_spec_digest(self.c().struct, out))
        return bytes(out)

    def c(self) -> "CSpec":
        """As the library reads it; made once."""
        made = self.__dict__.get("_c")
        if made is None:
            made = CSpec(self)
            object.__setattr__(self, "_c", made)
        return made

    def __getstate__(self) -> dict:
        # Pointers are of this process.
        return {name: value for name, value in self.__dict__.items() if name != "_c"}


def encoded(text: str, what: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidArgument(f"{what}: found {text!r}, allowed a string")
    if "\0" in text:
        raise InvalidArgument(f"{what}: found a NUL in {text!r}, allowed none")
    return text.encode()


def _integer(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgument(f"{what}: found {value!r}, allowed an integer")
    if not -(2**63) <= value < 2**63:
        raise InvalidArgument(f"{what}: found {value}, allowed 64 bits")
    return value


def tunings_of(tuning: Mapping[str, int]) -> ctypes.Array:
    pairs = [_abi.Tuning(name=encoded(name, "name of a tuning"), value=_integer(value, f"tuning {name}"))
             for name, value in tuning.items()]
    return (_abi.Tuning * len(pairs))(*pairs)


def _dim(name: str, value: Union[int, Range]) -> _abi.Dim:
    out = _abi.Dim(name=encoded(name, "name of a dim"))
    what = f"dim {name}"
    if isinstance(value, Range):
        out.kind = 1
        out.min = _integer(value.min, what + ", min")
        out.max = _integer(value.max, what + ", max")
        out.multiple_of = _integer(value.multiple_of, what + ", multiple_of")
    else:
        out.value = _integer(value, what)
    return out


def _attr(name: str, value: Union[bool, int, float, str]) -> _abi.Attr:
    out = _abi.Attr(name=encoded(name, "name of an attribute"))
    if isinstance(value, bool):
        out.kind, out.int_value = 1, value
    elif isinstance(value, int):
        out.kind, out.int_value = 2, _integer(value, f"attribute {name}")
    elif isinstance(value, float):
        out.kind, out.float_value = 3, value
    else:
        out.kind, out.string_value = 4, encoded(value, f"attribute {name}")
    return out


class CSpec:
    """A spec as the library reads it, with the memory that it points to."""

    def __init__(self, spec: Spec):
        self._strides = []
        dims = [_dim(name, value) for name, value in spec.dims.items()]
        operands = [self._operand(name, value) for name, value in spec.operands.items()]
        attrs = [_attr(name, value) for name, value in spec.attrs.items()]
        tuning = tunings_of(spec.tuning)
        self.struct = _abi.Spec(
            op=encoded(spec.op, "op"), target=None if spec.target is None else encoded(spec.target, "target"),
            dims=(_abi.Dim * len(dims))(*dims), dim_count=len(dims),
            operands=(_abi.Operand * len(operands))(*operands), operand_count=len(operands),
            attrs=(_abi.Attr * len(attrs))(*attrs), attr_count=len(attrs),
            tuning=tuning, tuning_count=len(tuning))

    def _operand(self, name: str, value: Union[str, Operand]) -> _abi.Operand:
        if not isinstance(value, Operand):
            value = Operand(value)
        what = f"operand {name}"
        if not 0 <= _integer(value.alignment, what + ", alignment") < 2**32:
            raise InvalidArgument(f"{what}: found an alignment of {value.alignment}, allowed 32 bits")
        out = _abi.Operand(name=encoded(name, "name of an operand"), dtype=encoded(value.dtype, what + ", dtype"),
                           alignment=value.alignment)
        if value.strides is None:
            return out
        if value.strides == DYNAMIC:
            out.stride_mode = 2
            return out
        if isinstance(value.strides, str):
            raise InvalidArgument(f"{what}: found strides {value.strides!r}, allowed integers, None, DYNAMIC")
        strides = [_integer(stride, what + ", strides") for stride in value.strides]
        array = (ctypes.c_int64 * len(strides))(*strides)
        self._strides.append(array)
        out.stride_mode, out.strides, out.stride_count = 1, array, len(strides)
        return out
