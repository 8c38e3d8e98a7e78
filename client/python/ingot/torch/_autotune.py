"""Tuning what a function launches, with the tensors that it launches it on."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, Union

import torch

import ingot
from ingot.tuning import depth_of, rounding, search

from . import _narrow
from ._runtime import runtime


def autotune(function: Callable[..., Any], *arguments: Any, tokens: Union[str, tuple[int, int]] = "bucket",
             buffers: int = 1, warm_up: int = 3, runs: int = 15, limit: int = 0, store: bool = True,
             **more: Any) -> list[ingot.Tuned]:
    """Calls `function(*arguments, **more)`, an operator of this package or a
    model; every spec that it launches in this thread is tuned on the way, once
    for each shape: all candidates are launched on its tensors, checked against
    the plan in force, timed on the current stream, and the fastest is stored
    for every daemon's later answers and used from then on. Returns what became
    of them; `print` each for a table. Not under graph capture.

    `tokens`: which token counts the winner is for: "bucket", those up to the
    next power of two and above the one before; "all"; or (min, max), 0 for no
    end. `buffers`: so many copies of all tensors are used in turn, so that none
    is in a cache. `limit`: of candidates, best predicted first; 0: all. `store`:
    False only measures. Storing needs the role tune: without it the reason is
    in the result."""
    tuner = _Tuner(tokens, buffers, limit, store, warm_up, runs)
    with runtime.tuning(tuner):
        function(*arguments, **more)
    return list(tuner.tuned.values())


@dataclasses.dataclass
class _Tuner:
    tokens: Union[str, tuple[int, int]]
    buffers: int
    limit: int
    store: bool
    warm_up: int
    runs: int
    tuned: dict = dataclasses.field(default_factory=dict)
    thread: int = dataclasses.field(default_factory=threading.get_ident)

    def __call__(self, launch: ingot.Launch, tensors: Sequence[torch.Tensor]) -> None:
        spec = launch._owner.spec
        what = (spec.digest(), tuple(launch.dims))
        if what not in self.tuned:
            self.tuned[what] = _Problem(launch, tensors, self).search()
            runtime.forget(spec)

    def range_of(self, spec: ingot.Spec, dims: Sequence[int]):
        if self.tokens == "all":
            return None
        name, value = next((name, value) for (name, extent), value in zip(spec.dims.items(), dims)
                           if isinstance(extent, ingot.Range))
        if self.tokens == "bucket":
            last = 1 << max(value - 1, 0).bit_length()
            return name, last // 2 + 1, last
        return (name, *self.tokens)


class _Problem:
    """One launch with its tensors, which are as they were when it is over."""

    def __init__(self, launch: ingot.Launch, tensors: Sequence[torch.Tensor], options: _Tuner):
        self.launch = launch
        self.options = options
        self.sets = [list(tensors)] + [[_copy(tensor) for tensor in tensors] for _ in range(options.buffers - 1)]
        prepared = launch._owner
        self.written = [prepared.operands.index(name) for name in prepared.writes]
        self.before = [_copy(tensors[place]) for place in self.written]

    def search(self) -> ingot.Tuned:
        spec, dims = self.launch._owner.spec, list(self.launch.dims)
        relative_depth = depth_of(spec, dims)
        try:
            return search(runtime.client(), spec, self.run,
                          lambda expected, got: _difference(expected, got, relative_depth),
                          range=self.options.range_of(spec, dims), device=runtime.device.name(self.sets[0][0]),
                          limit=self.options.limit, store=self.options.store)
        finally:
            self.restore()

    def restore(self) -> None:
        for place, before in zip(self.written, self.before):
            self.sets[0][place].copy_(before)

    def run(self, prepared: ingot.Prepared):
        launches = [prepared.arguments() for _ in self.sets]
        for launch, tensors in zip(launches, self.sets):
            launch.take(self.launch)
            launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
        size = max(launch.workspace_bytes() for launch in launches)
        workspace = torch.empty(size, dtype=torch.uint8, device=self.sets[0][0].device)
        for launch in launches:
            launch.set_workspace(workspace.data_ptr() if size else None, size)
        memory = [tensor for tensors in self.sets for tensor in tensors] + [workspace]
        first, *others = launches
        self.restore()
        runtime.device.launch(first, memory)
        results = [self.sets[0][place].clone() for place in self.written]
        measured = []
        runtime.device.launch(lambda stream: measured.append(
            first.measure(*others, stream=stream, warm_up=self.options.warm_up, runs=self.options.runs)), memory)
        return results, measured[0]


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    if any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride())):
        return tensor  # elements share memory: it is read, and small
    return tensor.new_empty_strided(tensor.shape, tensor.stride()).copy_(tensor)


def _steps_of(x: torch.Tensor) -> tuple[float, float]:
    """The steps of the dtype: from one to the next number, and from zero."""
    if _narrow.is_float4(x):
        return 0.5, 0.5
    info = torch.finfo(x.dtype)
    return info.eps, info.tiny * info.eps


def _difference(expected: Sequence[torch.Tensor], got: Sequence[torch.Tensor], depth: int) -> str:
    for number, (a, b) in enumerate(zip(expected, got)):
        if a.dtype == _narrow.E8M0:
            a, b = a.view(torch.uint8), b.view(torch.uint8)  # a wrong exponent is no matter of rounding
        if not a.is_floating_point():
            wrong = a != b
        else:
            step, least = _steps_of(a)
            relative, part = rounding(step / 2, depth)
            a, b = _narrow.widened(a).double(), _narrow.widened(b).double()
            finite = a[a.isfinite()]
            floor = least + (part * math.sqrt(finite.pow(2).mean().item()) if finite.numel() else 0.0)
            near = a.isfinite() & ((a - b).abs() <= relative * a.abs() + floor)
            wrong = ~(near | (a == b) | (a.isnan() & b.isnan()))
        if wrong.any():
            place = tuple(wrong.nonzero()[0].tolist())
            return f"output {number} at {place}: found {b[place].item():.6g}, expected {a[place].item():.6g}"
    return ""
