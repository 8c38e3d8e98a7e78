"""A prepared spec: what it needs at launch, and launching it."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional, Union

from . import _abi
from ._abi import lib
from .errors import InvalidArgument, check
from .spec import Spec

_SOURCES = ("unknown", "memory", "store", "compiled", "coalesced", "remote", "bundle")


@dataclass(frozen=True)
class Kernel:
    """A kernel of a plan as it was fetched."""

    symbol: str
    target: str
    source: str  # memory, store, compiled, coalesced, remote, bundle
    key: bytes
    digest: bytes
    vgprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes: int
    code_object: Optional[bytes]  # None when it was not fetched


@dataclass(frozen=True)
class Measurement:
    """Microseconds of one launch, over `runs` of `launches` launches each."""

    median_us: float
    min_us: float
    max_us: float
    runs: int
    launches: int


class Launch:
    """The arguments of a launch, made once and used again: filling it and
    calling it allocates nothing in the library and little in Python.

    Not thread-safe: a thread makes its own (Prepared.arguments)."""

    __slots__ = ("dims", "operands", "scalars", "_args", "_reference", "_handle", "_strides", "_rows", "_owner",
                 "_call")

    def __init__(self, prepared: "Prepared"):
        self._owner = prepared
        self._handle = prepared._handle
        self.dims = (ctypes.c_int64 * len(prepared.dims))()
        self.operands = (ctypes.c_void_p * len(prepared.operands))()
        self.scalars = (_abi.Scalar * len(prepared.scalars))()
        self._args = _abi.LaunchArgs(
            dims=self.dims, dim_count=len(prepared.dims), operands=self.operands,
            operand_count=len(prepared.operands), scalar_count=0)
        self._reference = ctypes.byref(self._args)
        self._strides = None
        self._rows = {}
        self._call = lib.ingot_launch

    def set_strides(self, operand: int, strides: Sequence[int]) -> None:
        """Of an operand by its place: elements, outermost first."""
        if self._strides is None:
            self._strides = (ctypes.POINTER(ctypes.c_int64) * len(self.operands))()
            self._args.strides = self._strides
        row = self._rows.get(operand)
        if row is None or len(row) != len(strides):
            row = self._rows[operand] = (ctypes.c_int64 * len(strides))()
            self._strides[operand] = row
        row[:] = strides

    def set_scalars(self, values: Sequence[float]) -> None:
        """All of them, in the order of Prepared.scalars."""
        if len(values) != len(self.scalars):
            raise InvalidArgument(f"scalars: found {len(values)}, allowed {len(self.scalars)}")
        for place, (value, dtype) in enumerate(zip(values, self._owner._scalar_dtypes)):
            if dtype == "f32":
                self.scalars[place].f = value
            else:
                self.scalars[place].i = value
        self._args.scalars = self.scalars
        self._args.scalar_count = len(self.scalars)

    def take(self, other: "Launch") -> None:
        """Everything but the workspace of a launch of the same op with the same
        operands."""
        self.dims[:] = other.dims[:]
        self.operands[:] = other.operands[:]
        for operand, row in other._rows.items():
            self.set_strides(operand, row[:])
        if other._args.scalar_count:
            ctypes.memmove(self.scalars, other.scalars, ctypes.sizeof(other.scalars))
            self._args.scalars, self._args.scalar_count = self.scalars, len(self.scalars)

    def set_workspace(self, pointer: int, size: int) -> None:
        self._args.workspace = pointer
        self._args.workspace_bytes = size

    def workspace_bytes(self) -> int:
        """Bytes of device memory, aligned to 256, that this launch needs."""
        size = ctypes.c_uint64()
        check(lib.ingot_workspace_bytes(self._handle, self._reference, ctypes.byref(size), None))
        return size.value

    def measure(self, *more: "Launch", stream: int = 0, warm_up: int = 3, runs: int = 15,
                launches: int = 0) -> Measurement:
        """Launches, timed by the device's events; returns when all is done.
        With `more` arguments of the same handle they take turns, so that no
        buffer is in a cache when its turn comes. `launches` of a run: 0 for as
        many as take about 200 us."""
        sets = [self, *more]
        if any(other._owner is not self._owner for other in more):
            raise InvalidArgument("more: found arguments of another handle, allowed those of this one")
        pointers = (ctypes.POINTER(_abi.LaunchArgs) * len(sets))(*(ctypes.pointer(each._args) for each in sets))
        options = _abi.MeasureOptions(warm_up=warm_up, runs=runs, launches=launches)
        out = _abi.Measurement()
        check(lib.ingot_measure(self._handle, stream, pointers, len(sets), options, out))
        return Measurement(out.median_us, out.min_us, out.max_us, out.runs, out.launches)

    def read(self, operand: int) -> bytes:
        """What the device has of an operand by its place, from its base pointer
        to its last element. Waits for the default stream alone."""
        size = ctypes.c_uint64()
        check(lib.ingot_read_operand(self._handle, self._reference, operand, None, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        check(lib.ingot_read_operand(self._handle, self._reference, operand, buffer, ctypes.byref(size)))
        return buffer.raw

    def __call__(self, stream: int = 0) -> None:
        """Enqueues the work on a hipStream_t (0: the default stream) of the
        current device. Legal while the stream is captured."""
        code = self._call(self._handle, stream, self._reference)
        if code:
            check(code)


class Prepared:
    """Made by Client.prepare; lives as long as somebody holds it.

    `dims`, `operands`, `scalars`: names in the order of a launch's sequences;
    `writes`: names of the operands that a launch writes."""

    def __init__(self, handle: int, spec: Spec):
        self._handle = handle
        self.spec = spec
        info = _abi.PreparedInfo()
        check(lib.ingot_prepared_describe(handle, info))
        self.dims = self._names(lib.ingot_prepared_dim, info.dim_count)
        self.operands = self._names(lib.ingot_prepared_operand, info.operand_count)
        self.scalars = self._names(lib.ingot_prepared_scalar, info.scalar_count)
        self.writes = tuple(name for place, name in enumerate(self.operands) if lib.ingot_prepared_writes(handle, place))
        self._scalar_dtypes = self._names(lib.ingot_prepared_scalar_dtype, info.scalar_count)
        self.epoch: int = info.epoch
        self.compile_us: int = info.compile_us
        self.spec_digest = bytes(info.spec_digest)
        self.fingerprint = bytes(info.fingerprint)
        self.variant_count: int = info.variant_count
        self._kernel_count = info.kernel_count

    def _names(self, function, count: int) -> tuple[str, ...]:
        return tuple(function(self._handle, i).decode() for i in range(count))

    def __del__(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            lib.ingot_prepared_release(handle)

    def kernels(self) -> list[Kernel]:
        """Those that were fetched. NotFound for one that was not."""
        out = []
        for i in range(self._kernel_count):
            info = _abi.KernelInfo()
            check(lib.ingot_prepared_kernel(self._handle, i, info))
            code_object = ctypes.string_at(info.bytes, info.byte_count) if info.bytes else None
            out.append(Kernel(symbol=info.symbol.decode(), target=info.target.decode(), source=_SOURCES[info.source],
                              key=bytes(info.key), digest=bytes(info.digest), vgprs=info.vgprs, sgprs=info.sgprs,
                              lds_bytes=info.lds_bytes, scratch_bytes=info.scratch_bytes, code_object=code_object))
        return out

    def load(self) -> None:
        """Loads every kernel on the current device, so that no launch has to."""
        check(lib.ingot_prepared_load(self._handle))

    def arguments(self) -> Launch:
        """Arguments to fill and call, for who launches often."""
        return Launch(self)

    def _fill(self, launch: Launch, dims, operands, strides, scalars) -> None:
        _place(launch.dims, dims, self.dims, "dims")
        if operands is not None:
            _place(launch.operands, operands, self.operands, "operands")
        for name, values in (strides or {}).items():
            if name not in self.operands:
                raise InvalidArgument(f"strides: found {name!r}, allowed {', '.join(self.operands)}")
            launch.set_strides(self.operands.index(name), values)
        if scalars is not None:
            launch.set_scalars(_ordered(scalars, self.scalars, "scalars"))

    def workspace_bytes(self, dims: Union[Mapping[str, int], Sequence[int]]) -> int:
        """The most that a launch with these dims needs, for any pointers and
        strides."""
        launch = self.arguments()
        self._fill(launch, dims, None, None, None)
        launch._args.operands = None
        return launch.workspace_bytes()

    def launch(self, dims: Union[Mapping[str, int], Sequence[int]], operands: Union[Mapping[str, int], Sequence[int]],
               *, stream: int = 0, strides: Optional[Mapping[str, Sequence[int]]] = None,
               scalars: Union[Mapping[str, float], Sequence[float], None] = None,
               workspace: tuple[int, int] = (0, 0)) -> None:
        """Enqueues the work. `operands` are device pointers, by name or in
        order; `strides` those of operands that were prepared with DYNAMIC;
        `scalars` all of them, else the op's defaults; `workspace` a device
        pointer and its bytes. InvalidArgument for what no variant takes."""
        launch = self.arguments()
        self._fill(launch, dims, operands, strides, scalars)
        launch.set_workspace(*workspace)
        launch(stream)


def _ordered(values, names: tuple[str, ...], what: str) -> Sequence:
    if isinstance(values, Mapping):
        unknown = values.keys() - set(names)
        missing = set(names) - values.keys()
        if unknown or missing:
            raise InvalidArgument(f"{what}: found {', '.join(map(str, values))}, allowed {', '.join(names)}")
        return [values[name] for name in names]
    if len(values) != len(names):
        raise InvalidArgument(f"{what}: found {len(values)}, allowed {len(names)}: {', '.join(names)}")
    return values


def _place(array, values, names: tuple[str, ...], what: str) -> None:
    for place, value in enumerate(_ordered(values, names, what)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidArgument(f"{what}, {names[place]}: found {value!r}, allowed an integer")
        array[place] = value
