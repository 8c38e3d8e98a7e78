"""PyTorch operators whose kernels come from an ingotd.

    import ingot.torch

    y = ingot.torch.linear(x, weight, bias, act="silu")   # or torch.ops.ingot.*
    ingot.torch.enable()                                  # or: PyTorch's own
    print(*ingot.torch.autotune(model, x), sep="\n")      # measure, store, use

A spec is prepared when it is first met (a call to the daemon, once; warm it up
beforehand with `ingotctl warm`). From then on a launch asks nobody, allocates
only its result and workspace through torch's allocator, runs on the current
stream and may be captured into a graph. What is refused, not for this device, or
asked while no daemon answers is left to ATen: counted in `stats()`, logged once a
reason. Operators have no derivatives: with gradients wanted ATen does it."""

from __future__ import annotations

from typing import Any

from ._autotune import autotune
from ._ops import (addmm, fp8_linear, fp8_mm, fused_add_rms_norm, fused_add_rms_norm_, fused_add_rms_norm_quant,
                   grouped_mm, linear, mm, rms_norm, rms_norm_quant, scaled_mm, silu_mul)
from ._route import disable, enable
from ._runtime import runtime as _runtime

__all__ = ["addmm", "autotune", "configure", "disable", "enable", "fp8_linear", "fp8_mm", "fused_add_rms_norm",
           "fused_add_rms_norm_", "fused_add_rms_norm_quant", "grouped_mm", "linear", "mm", "rms_norm",
           "rms_norm_quant", "scaled_mm", "silu_mul", "stats"]


def configure(**options: Any) -> None:
    """Options of the ingot.Client in use; forgets what was prepared."""
    _runtime.configure(**options)


def stats() -> dict[str, dict]:
    """`launches` by operator, `fallbacks` by (operator, reason)."""
    return {"launches": dict(_runtime.launches), "fallbacks": dict(_runtime.fallbacks)}
