"""The connection to a daemon, or to a bundle where there is none."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _abi
from ._abi import lib
from .errors import IngotError, InvalidArgument, check, error_of
from .prepared import Prepared
from .spec import Spec, encoded, tunings_of

_FETCH = {"all": 0, "matching": 1, "plan": 2}
_POLICIES = {None: 0, "off": 1, "verify_if_present": 2, "require": 3}
_NO_LOAD, _NO_BYTES, _WARMUP = 1, 2, 4


def _text(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else value.encode()


def _choice(value, allowed: dict, what: str) -> int:
    if value not in allowed:
        raise InvalidArgument(f"{what}: found {value!r}, allowed {', '.join(map(str, allowed))}")
    return allowed[value]


@dataclass(frozen=True)
class Candidate:
    """A way to tune a spec: Spec(..., tuning=candidate.tuning) gets it."""

    tuning: Mapping[str, int]
    predicted_us: Optional[float]  # None: the op has no prediction
    refusal: str  # why the spec cannot have it; "": it can
    chosen: bool  # the plan has it without a tuning record
    kernel_count: int

    @classmethod
    def _at(cls, candidates: ctypes.c_void_p, index: int) -> "Candidate":
        found = _abi.Candidate()
        check(lib.ingot_candidates_get(candidates, index, found))
        tuning = {pair.name.decode(): pair.value for pair in found.tuning[:found.tuning_count]}
        return cls(tuning, found.predicted_us or None, found.refusal.decode(), bool(found.chosen), found.kernel_count)


class Client:
    """Prepares specs. Connects when first needed; may be used from any thread
    and after a fork. Close it, or use it as a context manager.

    `address`: "unix:/path", "host:port", "https://host:port"; None: the
    environment's INGOT_ADDRESS, else where an ingotd without options listens.
    `bundle`: what to use when no daemon answers (`ingotctl export`); None: the
    environment's INGOT_BUNDLE. TLS and trust as client/include/ingot/ingot.h
    says."""

    def __init__(self, address: Optional[str] = None, *, target: Optional[str] = None,
                 hip_library: Optional[str] = None, bundle: Optional[str] = None, connect_timeout: float = 0,
                 call_timeout: float = 0, signature_policy: Optional[str] = None, trusted_keys: Optional[str] = None,
                 tls_ca: Optional[str] = None, tls_certificate: Optional[str] = None,
                 tls_private_key: Optional[str] = None, tls_server_name: Optional[str] = None):
        options = _abi.ClientOptions(
            address=_text(address), target=_text(target), hip_library=_text(hip_library), bundle_dir=_text(bundle),
            connect_timeout_ms=round(connect_timeout * 1000), call_timeout_ms=round(call_timeout * 1000),
            signature_policy=_choice(signature_policy, _POLICIES, "signature_policy"),
            trusted_keys=_text(trusted_keys), tls_ca=_text(tls_ca), tls_certificate=_text(tls_certificate),
            tls_private_key=_text(tls_private_key), tls_server_name=_text(tls_server_name))
        handle = ctypes.c_void_p()
        check(lib.ingot_client_create(options, handle))
        self._handle = handle.value
        self._users = 0
        self._idle = threading.Condition()

    @contextlib.contextmanager
    def _use(self) -> Iterator[int]:
        """The handle, which `close` in another thread leaves until then."""
        with self._idle:
            if self._handle is None:
                raise InvalidArgument("client: found a closed one, allowed an open one")
            self._users += 1
            handle = self._handle
        try:
            yield handle
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()

    @property
    def address(self) -> str:
        with self._use() as handle:
            return lib.ingot_client_address(handle).decode()

    def close(self) -> None:
        """Waits for calls of other threads. What was prepared stays usable."""
        with self._idle:
            handle, self._handle = self._handle, None
            self._idle.wait_for(lambda: self._users == 0)
        if handle:
            check(lib.ingot_client_destroy(handle))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    @staticmethod
    def _options(fetch, load, fetch_bytes, warmup, timeout, pin_epoch, request_id) -> _abi.PrepareOptions:
        flags = _NO_LOAD * (not load) | _NO_BYTES * (not fetch_bytes) | _WARMUP * warmup
        return _abi.PrepareOptions(fetch=_choice(fetch, _FETCH, "fetch"), flags=flags,
                                   timeout_ms=round((timeout or 0) * 1000), pin_epoch=pin_epoch,
                                   request_id=_text(request_id))

    def prepare(self, spec: Spec, *, fetch: str = "all", load: bool = True, fetch_bytes: bool = True,
                warmup: bool = False, timeout: Optional[float] = None, pin_epoch: int = 0,
                request_id: Optional[str] = None) -> Prepared:
        """A handle that launches `spec`. Costs a call to the daemon once, and a
        compile when the daemon does not have it.

        `fetch`: "all" kernels, those of the "matching" variant, or the "plan"
        alone. `load`: on the current device, if there is one. `fetch_bytes`:
        False compiles and stores only. `timeout`: seconds."""
        options = self._options(fetch, load, fetch_bytes, warmup, timeout, pin_epoch, request_id)
        handle = ctypes.c_void_p()
        made = spec.c()
        with self._use() as client:
            check(lib.ingot_prepare(client, made.struct, options, handle))
        return Prepared(handle.value, spec)

    def prepare_many(self, specs: Sequence[Spec], *, fetch: str = "all", load: bool = True, fetch_bytes: bool = True,
                     warmup: bool = False, timeout: Optional[float] = None, pin_epoch: int = 0,
                     request_id: Optional[str] = None) -> list[Union[Prepared, IngotError]]:
        """What `prepare` would have returned or raised for each, with as few
        calls as possible."""
        options = self._options(fetch, load, fetch_bytes, warmup, timeout, pin_epoch, request_id)
        made = [spec.c() for spec in specs]
        count = len(made)
        pointers = (ctypes.POINTER(_abi.Spec) * count)(*(ctypes.pointer(spec.struct) for spec in made))
        handles = (ctypes.c_void_p * count)()
        statuses = (ctypes.c_int32 * count)()
        messages = (ctypes.c_void_p * count)()
        with self._use() as client:
            lib.ingot_prepare_many(client, pointers, count, options, handles, statuses, messages)
        out: list[Union[Prepared, IngotError]] = []
        for spec, handle, status, message in zip(specs, handles, statuses, messages):
            text = _abi.take_string(message) if message else ""
            out.append(error_of(status, text) if status else Prepared(handle, spec))
        return out

    def candidates(self, spec: Spec, limit: int = 0) -> list[Candidate]:
        """What `spec` could be tuned to, best first by the compiler's own
        prediction; tuning that it names stays as it is. `limit`: so many at
        most; 0: all. Compiles nothing."""
        made = spec.c()
        handle = ctypes.c_void_p()
        with self._use() as client:
            check(lib.ingot_list_candidates(client, made.struct, limit, handle))
        try:
            return [Candidate._at(handle, i) for i in range(lib.ingot_candidates_count(handle))]
        finally:
            lib.ingot_candidates_release(handle)

    def store_tuning(self, spec: Spec, tuning: Mapping[str, int], microseconds: float, *, device: str = "",
                     range: Optional[tuple[str, int, int]] = None) -> int:
        """Stores a measured winner: plans of `spec` follow it from now on, this
        client's included; other clients keep what they have prepared. `range`:
        ("m", 1, 64) for these values of a token-like dim alone (a maximum of 0:
        no end). Returns the record's epoch, which `prepare(pin_epoch=...)`
        takes. Needs the role tune."""
        made = spec.c()
        pairs = tunings_of(tuning)
        record = _abi.TuningRecord(tuning=pairs, tuning_count=len(pairs), microseconds=microseconds,
                                   device=encoded(device, "device"))
        if range is not None:
            record.range_dim, record.range_min, record.range_max = encoded(range[0], "range"), range[1], range[2]
        epoch = ctypes.c_uint64()
        with self._use() as client:
            check(lib.ingot_tuning_store(client, made.struct, record, epoch))
        return epoch.value

    def delete_tuning(self, epochs: Sequence[int]) -> int:
        """Ends records by their epochs; how many were in force. Needs the role
        tune."""
        names = (ctypes.c_uint64 * len(epochs))(*epochs)
        deleted = ctypes.c_uint64()
        with self._use() as client:
            check(lib.ingot_tuning_delete(client, names, len(names), deleted))
        return deleted.value

    def _json(self, function) -> dict[str, Any]:
        text = ctypes.c_void_p()
        with self._use() as client:
            check(function(client, text))
        import json  # not by whoever only launches: it costs as much as all else

        return json.loads(_abi.take_string(text))

    def capabilities(self) -> dict[str, Any]:
        """What the daemon can do: version, targets, ops and their dims."""
        return self._json(lib.ingot_capabilities)

    def daemon_stats(self) -> dict[str, Any]:
        """The daemon's figures."""
        return self._json(lib.ingot_daemon_stats)

    def stats(self) -> dict[str, int]:
        """This client's own figures since it was made."""
        stats = _abi.ClientStats()
        with self._use() as client:
            check(lib.ingot_stats(client, stats))
        return {name: getattr(stats, name) for name, _ in stats._fields_ if name not in ("size", "reserved")}
