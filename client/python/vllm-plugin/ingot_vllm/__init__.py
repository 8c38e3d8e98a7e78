"""vLLM's plugin: layers built after it was loaded get their kernels from an
ingotd, and do as vLLM does where it has none for them.

vLLM calls `register` itself, in each of its processes, through the entry point
of its general plugins. Environment:

    INGOT_VLLM=0                     leaves vLLM as it is
    INGOT_VLLM_WITHOUT=moe,norm      leaves these to it: linear, norm, activation, moe

`ingot.torch.stats()` counts launches and fall-backs under vllm.linear,
vllm.rms_norm, vllm.fused_add_rms_norm, vllm.silu_and_mul and vllm.moe."""

from __future__ import annotations

import logging
import os

__all__ = ["register"]

log = logging.getLogger("ingot.vllm")

GROUPS = ("linear", "norm", "activation", "moe")

_done = False


def _wanted() -> list[str]:
    without = {name.strip() for name in os.environ.get("INGOT_VLLM_WITHOUT", "").split(",")} - {""}
    unknown = without.difference(GROUPS)
    if unknown:
        log.warning("INGOT_VLLM_WITHOUT: found %s, allowed %s", ", ".join(sorted(unknown)), ", ".join(GROUPS))
    return [group for group in GROUPS if group not in without]


def register() -> None:
    """Registers the layers; twice is once. Never raises: whatever is not as
    expected is logged, and vLLM serves without it."""
    global _done
    if _done:
        return
    _done = True
    if os.environ.get("INGOT_VLLM") == "0":
        return
    wanted = _wanted()
    try:
        from . import _layers

        _layers.register(wanted)
    except Exception as error:
        log.warning("vLLM serves without Ingot: %s: %s", type(error).__name__, error)
