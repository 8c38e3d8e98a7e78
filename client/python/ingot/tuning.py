"""Finding the best tuning of a spec by measuring every candidate on the device."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional, Union

from .client import Candidate, Client
from .errors import IngotError
from .prepared import Launch, Measurement, Prepared
from .spec import Spec


@dataclass(frozen=True)
class Trial:
    """What became of a candidate. `problem`: why it was not run, or why its
    numbers do not count; "" for one that could win."""

    tuning: Mapping[str, int]
    predicted_us: Optional[float]
    measured: Optional[Measurement]
    problem: str


@dataclass(frozen=True)
class Tuned:
    """Every candidate of a spec in the compiler's order, and what was stored.
    As text it is a table."""

    spec: Spec
    before: Measurement  # the plan that was in force
    trials: Sequence[Trial]
    winner: Optional[Trial]
    epoch: Optional[int]  # of the record; None: none was stored
    not_stored: str  # why

    def __str__(self) -> str:
        rows = [("", "TUNING", "PREDICTED", "MEASURED", "")]
        rows.append(("", "(in force before)", "-", _time(self.before.median_us), ""))
        for trial in self.trials:
            rows.append(("*" if trial is self.winner else "",
                         " ".join(f"{name}={value}" for name, value in sorted(trial.tuning.items())),
                         _time(trial.predicted_us), _time(trial.measured and trial.measured.median_us), trial.problem))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip() for row in rows]
        return "\n".join([*lines, f"not stored: {self.not_stored}" if self.epoch is None else f"epoch {self.epoch}"])


def _time(microseconds: Optional[float]) -> str:
    return "-" if microseconds is None else f"{microseconds:.4g} us"


def search(client: Client, spec: Spec, run: Callable[[Prepared], tuple[Any, Measurement]],
           difference: Callable[[Any, Any], str], *, range: Optional[tuple[str, int, int]], device: str, limit: int,
           store: bool) -> Tuned:
    """`run` launches a handle from unchanged inputs: its result, and times;
    `difference` says in what a result is wrong, "" when it is not. The first
    result is that of the plan in force."""
    expected, before = run(client.prepare(spec))
    trials = [_try(client, spec, candidate, expected, run, difference) for candidate in client.candidates(spec, limit)]
    good = [trial for trial in trials if not trial.problem]
    winner = min(good, key=lambda trial: trial.measured.median_us, default=None)
    epoch, not_stored = None, ""
    if winner is None:
        not_stored = "no candidate could be measured"
    elif winner.measured.median_us > before.median_us:
        not_stored = "the plan in force is faster"
    elif not store:
        not_stored = "not wanted"
    else:
        try:
            epoch = client.store_tuning(replace(spec, tuning={}), winner.tuning, winner.measured.median_us,
                                        device=device, range=range)
        except IngotError as error:
            # What took minutes to measure is worth more than the exception.
            not_stored = f"{error.status}: {error}"
    return Tuned(spec, before, trials, winner, epoch, not_stored)


def _try(client: Client, spec: Spec, candidate: Candidate, expected, run, difference) -> Trial:
    measured, problem = None, candidate.refusal
    if not problem:
        try:
            result, measured = run(client.prepare(replace(spec, tuning=candidate.tuning)))
            problem = difference(expected, result)
        except IngotError as error:
            problem = f"{error.status}: {error}"
    return Trial(candidate.tuning, candidate.predicted_us, measured, problem)


def autotune(client: Client, spec: Spec, dims: Union[Mapping[str, int], Sequence[int]],
             *operands: Union[Mapping[str, int], Sequence[int]], stream: int = 0,
             strides: Optional[Mapping[str, Sequence[int]]] = None,
             scalars: Union[Mapping[str, float], Sequence[float], None] = None, workspace: tuple[int, int] = (0, 0),
             range: Optional[tuple[str, int, int]] = None, device: str = "", limit: int = 0, store: bool = True,
             warm_up: int = 3, runs: int = 15, reset: Optional[Callable[[], None]] = None,
             tolerance: Optional[float] = None) -> Tuned:
    """Launches every candidate of `spec` with these arguments (those of
    Prepared.launch), checks and times it, stores the fastest, and tells what
    became of each. `client.prepare(spec)` has the winner afterwards.

    With several sets of `operands` timed launches take them in turn, so that no
    buffer is in a cache; results are read from the first set. What a candidate
    writes must be what the plan in force writes, up to rounding: `tolerance`
    times the root mean square of the result, else what the order of sums can
    make of the operand's dtype. `reset` is called before each checked launch,
    for ops that change what they read. `range`: what values of a token-like dim
    the winner is stored for, as in Client.store_tuning; None: for all.
    `device`: its name, for people. `limit`: of candidates; 0: all.

    A candidate that needs more workspace than there is, is refused or fails is
    in the table with the reason. Errors of the plan in force are raised."""

    def filled(prepared: Prepared, pointers) -> Launch:
        launch = prepared.arguments()
        prepared._fill(launch, dims, pointers, strides, scalars)
        launch.set_workspace(*workspace)
        return launch

    def run(prepared: Prepared) -> tuple[dict, Measurement]:
        first, *others = [filled(prepared, pointers) for pointers in operands]
        if reset is not None:
            reset()
        first.measure(stream=stream, warm_up=0, runs=1, launches=1)
        result = {name: first.read(prepared.operands.index(name)) for name in prepared.writes}
        return result, first.measure(*others, stream=stream, warm_up=warm_up, runs=runs)

    def difference(expected: dict, result: dict) -> str:
        for name, data in expected.items():
            operand = spec.operands[name]
            dtype = operand if isinstance(operand, str) else operand.dtype
            problem = _difference(dtype, data, result[name], depth_of(spec, dims), tolerance)
            if problem:
                return f"{name}: {problem}"
        return ""

    return search(client, spec, run, difference, range=range, device=device, limit=limit, store=store)


def depth_of(spec: Spec, dims) -> int:
    """How many numbers a sum of the op has."""
    values = dims if isinstance(dims, Mapping) else dict(zip(spec.dims, dims))
    return values.get("k", values.get("n", 1))


def rounding(unit: float, depth: int) -> tuple[float, float]:
    """What two right results may differ by: a part of the element for the
    output's own rounding (of unit `unit`), and a part of the result's root mean
    square for the order of its f32 sums of `depth` numbers."""
    return 2 * unit, 4 * depth * 2.0**-24


# --- results in host memory ---------------------------------------------------

_UNITS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}


def _decoded(dtype: str, data: bytes) -> Sequence[float]:
    if dtype == "f32":
        return struct.unpack(f"{len(data) // 4}f", data)
    if dtype == "f16":
        return struct.unpack(f"{len(data) // 2}e", data)
    halves = struct.unpack(f"{len(data) // 2}H", data)
    return struct.unpack(f"{len(halves)}f", struct.pack(f"{len(halves)}I", *(half << 16 for half in halves)))


def _difference(dtype: str, expected: bytes, got: bytes, depth: int, tolerance: Optional[float]) -> str:
    if expected == got:
        return ""
    if dtype not in _UNITS:
        return f"differs, and {dtype} is compared by its bits"
    pairs = list(zip(_decoded(dtype, expected), _decoded(dtype, got)))
    finite = [a for a, _ in pairs if abs(a) < float("inf")]
    square = sum(a * a for a in finite) / max(len(finite), 1)
    relative, part = rounding(_UNITS[dtype], depth) if tolerance is None else (0.0, tolerance)
    floor = part * square**0.5
    for place, (a, b) in enumerate(pairs):
        if a == b or (a != a and b != b):
            continue
        if a - a != 0 or not abs(a - b) <= relative * abs(a) + floor:  # a - a: 0 for what is finite
            return f"element {place}: found {b:.6g}, expected {a:.6g}"
    return ""
