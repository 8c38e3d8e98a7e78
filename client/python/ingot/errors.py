"""One exception class for each code, so that callers catch what they can handle.
Where Python has a class of that meaning, ours is one of it, too."""

from __future__ import annotations

from ._abi import lib


class IngotError(Exception):
    """What libingot or the daemon refused; the message names what was found and
    what is allowed. `code` is the number of google.rpc.Code, `status` its name."""

    code = 2

    @property
    def status(self) -> str:
        return lib.ingot_status_name(self.code).decode()


class Cancelled(IngotError):
    code = 1


class InvalidArgument(IngotError, ValueError):
    code = 3


class DeadlineExceeded(IngotError, TimeoutError):
    code = 4


class NotFound(IngotError, LookupError):
    code = 5


class PermissionDenied(IngotError):
    code = 7


class ResourceExhausted(IngotError):
    code = 8


class FailedPrecondition(IngotError):
    code = 9


class OutOfRange(IngotError, ValueError):
    code = 11


class Unimplemented(IngotError, NotImplementedError):
    code = 12


class Internal(IngotError):
    code = 13


class Unavailable(IngotError, ConnectionError):
    """No daemon answers: use something else, or try again later."""

    code = 14


class DataLoss(IngotError):
    code = 15


class Unauthenticated(IngotError):
    code = 16


_BY_CODE = {cls.code: cls for cls in IngotError.__subclasses__()}


def error_of(code: int, message: str) -> IngotError:
    cls = _BY_CODE.get(code, IngotError)
    error = cls(message)
    error.code = code
    return error


def check(code: int) -> None:
    """Raises what the calling thread's last call found."""
    if code:
        raise error_of(code, lib.ingot_last_error().decode(errors="replace"))
