"""enable() and disable(): PyTorch's own functions served by the operators.

What is replaced are the functions that models call (torch.nn.functional.linear,
torch.mm, ...), not ATen's kernels: those stay what a fallback calls."""

from __future__ import annotations

import threading

import torch

from . import _ops

_lock = threading.Lock()
_originals: dict = {}


def _eligible(*tensors) -> bool:
    from ._runtime import runtime

    kind = "cuda" if runtime.device.dispatch_key == "CUDA" else "cpu"
    return all(t is None or (type(t) in (torch.Tensor, torch.nn.Parameter) and t.device.type == kind)
               for t in tensors)


def _linear(input, weight, bias=None):
    if weight.dim() == 2 and _eligible(input, weight, bias):
        return _ops.linear(input, weight, bias)
    return _originals[torch.nn.functional, "linear"](input, weight, bias)


def _mm(input, mat2, *, out=None, **more):
    if out is None and not more and _eligible(input, mat2) and input.dim() == mat2.dim() == 2:
        return _ops.mm(input, mat2)
    if out is not None:
        more["out"] = out
    return _originals[torch, "mm"](input, mat2, **more)


def _addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None, **more):
    if out is None and not more and _eligible(input, mat1, mat2) and input.dim() in (1, 2):
        return _ops.addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    if out is not None:
        more["out"] = out
    return _originals[torch, "addmm"](input, mat1, mat2, beta=beta, alpha=alpha, **more)


def _rms_norm(input, normalized_shape, weight=None, eps=None):
    if len(normalized_shape) == 1 and _eligible(input, weight):
        return _ops.rms_norm(input, weight, torch.finfo(input.dtype).eps if eps is None else eps)
    return _originals[torch.nn.functional, "rms_norm"](input, normalized_shape, weight, eps)


def _scaled_mm(input, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False, *,
               out=None):
    ours = scale_result is None and out is None and out_dtype in (torch.bfloat16, torch.float16, torch.float32)
    if ours and _eligible(input, mat2, scale_a, scale_b, bias) and scale_a.dtype == torch.float32:
        return _ops.fp8_mm(input, mat2, scale_a, scale_b, bias, out_dtype)
    more = {} if out is None else {"out": out}
    return _originals[torch, "_scaled_mm"](input, mat2, scale_a, scale_b, bias, scale_result, out_dtype,
                                           use_fast_accum, **more)


_ROUTES = [(torch.nn.functional, "linear", _linear), (torch, "mm", _mm), (torch, "addmm", _addmm), (torch, "_scaled_mm", _scaled_mm),
           (torch.nn.functional, "rms_norm", _rms_norm)]


def enable() -> None:
    """From now on PyTorch's linear, mm, addmm, _scaled_mm and rms_norm are served by Ingot
    wherever it can. Twice is once."""
    with _lock:
        for module, name, route in _ROUTES:
            if (module, name) not in _originals and hasattr(module, name):
                _originals[module, name] = getattr(module, name)
                setattr(module, name, route)


def disable() -> None:
    """Restores what enable() replaced."""
    with _lock:
        for (module, name), original in list(_originals.items()):
            setattr(module, name, original)
        _originals.clear()
