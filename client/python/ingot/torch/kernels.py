"""Ingot's kernels for who has a way out of its own, as frameworks have:

    y = attempt("my.linear", lambda: linear("my.linear", x, weight), lambda: mine(x))

Each takes what the operator of its name takes, after the name that launches are
counted under, and raises Fallback, with the reason, where it is not for us."""

from ._activation import silu_mul
from ._gemm import linear
from ._grouped import grouped_mm
from ._norm import fused_add_rms_norm, fused_add_rms_norm_quant, rms_norm, rms_norm_quant
from ._runtime import Fallback, attempt
from ._runtime import runtime as _runtime

__all__ = ["Fallback", "attempt", "dispatch_key", "fused_add_rms_norm", "fused_add_rms_norm_quant", "grouped_mm",
           "linear", "rms_norm", "rms_norm_quant", "silu_mul"]


def dispatch_key() -> str:
    """Of the tensors that are served: CUDA, which ROCm's have; CPU on the
    emulator."""
    return _runtime.device.dispatch_key
