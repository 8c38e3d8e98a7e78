"""What stands between tensors and libingot: one client, prepared specs, launches,
and why something fell back."""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import torch

import ingot

log = logging.getLogger("ingot.torch")

# Seconds that a spec rests after the daemon could not be asked.
RETRY_AFTER = 30.0

# Repeats that a thread keeps; a model has hundreds of shapes.
_MOST_REPEATS = 4096

# errors that another call would meet again
_LASTING = (ingot.InvalidArgument, ingot.Unimplemented, ingot.FailedPrecondition, ingot.OutOfRange)


class Fallback(Exception):
    """Raised where somebody else has to do it, ATen for one; `args[0]` is the
    reason, short and without the numbers of the call: reasons are counted."""


class Device:
    """Where kernels run: production's GPUs. ingot.torch.emulator has another."""

    dispatch_key = "CUDA"  # ROCm's tensors have this key

    def __init__(self):
        self._gfx950: dict[int, bool] = {}

    def check(self, tensor: torch.Tensor) -> None:
        index = tensor.device.index
        fits = self._gfx950.get(index)
        if fits is None:
            fits = self._gfx950[index] = self._is_gfx950(tensor)
        if not fits:
            raise Fallback("device")

    @staticmethod
    def _is_gfx950(tensor: torch.Tensor) -> bool:
        if not tensor.is_cuda or torch.version.hip is None:
            return False
        name = getattr(torch.cuda.get_device_properties(tensor.device), "gcnArchName", "")
        return name.split(":")[0] == "gfx950"

    def launch(self, launch: ingot.Launch, tensors: Sequence[torch.Tensor]) -> None:
        device = tensors[0].device
        if device.index == torch.cuda.current_device():
            launch(torch.cuda.current_stream(device).cuda_stream)
            return
        with torch.cuda.device(device):
            launch(torch.cuda.current_stream(device).cuda_stream)

    def name(self, tensor: torch.Tensor) -> str:
        return torch.cuda.get_device_name(tensor.device)

    def capturing(self) -> bool:
        return torch.cuda.is_current_stream_capturing()


class Repeat:
    """A launch that went well, to be made again with other pointers."""

    __slots__ = ("launch", "workspace", "generation")

    def __init__(self, launch: ingot.Launch, generation: int):
        self.launch = launch._owner.arguments()
        self.launch.take(launch)
        self.workspace = launch.workspace_bytes()
        self.generation = generation


class Runtime:
    """Thread-safe. The client is made when first needed, again after a fork."""

    def __init__(self):
        self.device = Device()
        self._lock = threading.Lock()
        self._options: dict = {}
        self._client: Optional[ingot.Client] = None
        self._prepared: dict = {}
        self._rest: dict = {}  # by key: why, and until when
        self._local = threading.local()
        self._pid = os.getpid()
        self.launches: collections.Counter = collections.Counter()
        self.fallbacks: collections.Counter = collections.Counter()
        self._logged: set = set()
        self._tuner = None
        self._generation = 0  # of repeats: older ones are of handles that were let go

    @contextlib.contextmanager
    def tuning(self, tuner) -> Iterator[None]:
        """Launches of `tuner.thread` are shown to it first."""
        with self._lock:
            if self._tuner is not None:
                raise ingot.FailedPrecondition("autotune: another one is under way in this process")
            self._tuner = tuner
        try:
            yield
        finally:
            self._tuner = None

    def forget(self, spec: ingot.Spec) -> None:
        """The next launch of `spec` prepares it anew."""
        for key, prepared in list(self._prepared.items()):
            if prepared.spec is spec:
                del self._prepared[key]
        self._generation += 1

    def configure(self, **options) -> None:
        with self._lock:
            self._options = options
            self._client = None
            self._prepared = {}
            self._rest = {}
            self._local = threading.local()
            self._generation += 1

    def client(self) -> ingot.Client:
        with self._lock:
            if self._client is None:
                self._client = ingot.Client(**self._options)
            return self._client

    def prepared(self, key: tuple, spec: Callable[[], ingot.Spec]) -> ingot.Prepared:
        """Of the spec that `key` stands for; asks the daemon once."""
        prepared = self._prepared.get(key)
        if prepared is not None:
            return prepared
        rest = self._rest.get(key)
        if rest is not None and time.monotonic() < rest[1]:
            raise Fallback(rest[0])
        if self.device.capturing():
            # Preparing loads modules, which is no part of a graph.
            raise Fallback("not prepared before a capture")
        try:
            prepared = self.client().prepare(spec())
        except ingot.IngotError as error:
            reason = error.status.lower()
            lasting = isinstance(error, _LASTING)
            self._rest[key] = (reason, time.monotonic() + (float("inf") if lasting else RETRY_AFTER))
            self._log((key, reason), "%s: %s; it falls back", key[0], error)
            raise Fallback(reason) from error
        self._prepared[key] = prepared
        return prepared

    def arguments(self, key: tuple, prepared: ingot.Prepared) -> ingot.Launch:
        """This thread's, so that nothing is allocated for a launch."""
        known = self._local.__dict__
        launch = known.get(key)
        if launch is None or launch._owner is not prepared:
            launch = known[key] = prepared.arguments()
        return launch

    def run(self, op: str, launch: ingot.Launch, tensors: Sequence[torch.Tensor]) -> None:
        """With everything but the workspace filled in; `tensors` in the order of
        its operands."""
        if self._tuner is not None and self._tuner.thread == threading.get_ident():
            self._tuner(launch, tensors)
        self._start(op, launch, launch.workspace_bytes(), tensors)

    def repeat(self, key: Optional[tuple]) -> Optional[Repeat]:
        """What this thread remembers under `key`."""
        generation = self._local.__dict__["generation"] = self._generation
        found = self._local.__dict__.get("repeats", {}).get(key)
        if found is None or found.generation != generation or self._tuner is not None:
            return None
        return found

    def remember(self, key: Optional[tuple], launch: ingot.Launch) -> None:
        """For the `repeat` that found nothing: the key decides all of the launch
        but its pointers, which are multiples of 16. None: nothing."""
        if key is None:
            return
        repeats = self._local.__dict__.setdefault("repeats", {})
        if len(repeats) >= _MOST_REPEATS:
            repeats.clear()
        # What was let go since then is not remembered as new.
        repeats[key] = Repeat(launch, self._local.generation)

    def run_again(self, op: str, repeat: Repeat, tensors: Sequence[torch.Tensor]) -> None:
        repeat.launch.operands[:] = [tensor.data_ptr() for tensor in tensors]
        self._start(op, repeat.launch, repeat.workspace, tensors)

    def _start(self, op: str, launch: ingot.Launch, size: int, tensors: Sequence[torch.Tensor]) -> None:
        if size:
            workspace = torch.empty(size, dtype=torch.uint8, device=tensors[0].device)
            launch.set_workspace(workspace.data_ptr(), size)
            tensors = [*tensors, workspace]
        else:
            launch.set_workspace(None, 0)
        self.device.launch(launch, tensors)
        self.launches[op] += 1

    def fell_back(self, op: str, reason: str) -> None:
        self.fallbacks[op, reason] += 1
        self._log((op, reason), "%s falls back: %s", op, reason)

    def _log(self, what, text: str, *arguments) -> None:
        if what not in self._logged:
            self._logged.add(what)
            log.warning(text, *arguments)


runtime = Runtime()


def attempt(op: str, ours: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """`ours()`, or with the reason counted under `op` what it falls back to."""
    try:
        return ours()
    except Fallback as fallback:
        runtime.fell_back(op, fallback.args[0])
        return otherwise()


def _forget_after_fork() -> None:
    # Locks may have been held by threads that the child does not have; the
    # client itself opens its own connections.
    runtime._lock = threading.Lock()
    runtime._local = threading.local()


os.register_at_fork(after_in_child=_forget_after_fork)
