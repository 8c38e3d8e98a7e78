"""Kernels for AMD gfx950 by what they compute, compiled by an ingotd outside of
this process.

    import ingot

    with ingot.Client() as client:
        gemm = client.prepare(ingot.Spec(
            "gemm", dims={"m": ingot.ANY, "n": 4096, "k": 4096},
            operands={"a": "bf16", "b": "bf16", "d": "bf16"}, attrs={"layout": "nt"}))
        gemm.launch({"m": 8, "n": 4096, "k": 4096}, {"a": a, "b": b, "d": d}, stream=stream)

Pointers are device pointers, streams hipStream_t, both as integers. A call
releases the interpreter's lock; objects may be shared by threads but for Launch.
After a fork the child may go on using them, and launches if HIP was not yet in
use. `ingot.torch` has the same for PyTorch's tensors."""

from ._abi import lib as _lib
from .client import Candidate, Client
from .errors import (Cancelled, DataLoss, DeadlineExceeded, FailedPrecondition, IngotError, Internal, InvalidArgument,
                     NotFound, OutOfRange, PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable,
                     Unimplemented)
from .prepared import Kernel, Launch, Measurement, Prepared
from .spec import ANY, DYNAMIC, Operand, Range, Spec
from .tuning import Trial, Tuned, autotune

__version__ = _lib.ingot_version().decode()

__all__ = [
    "ANY", "Cancelled", "Candidate", "Client", "DYNAMIC", "DataLoss", "DeadlineExceeded", "FailedPrecondition",
    "IngotError", "Internal", "InvalidArgument", "Kernel", "Launch", "Measurement", "NotFound", "Operand", "OutOfRange",
    "PermissionDenied", "Prepared", "Range", "ResourceExhausted", "Spec", "Trial", "Tuned", "Unauthenticated",
    "Unavailable", "Unimplemented", "__version__", "autotune",
]
