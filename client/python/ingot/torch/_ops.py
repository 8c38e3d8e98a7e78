"""The operators as torch.library knows them, with their shapes for
torch.compile, and what ATen does where they are not for us."""

from __future__ import annotations

from typing import Optional

import torch
from torch.library import Library

from . import _activation, _fp8, _gemm, _grouped, _narrow, _norm, _scaled, _tensors
from ._runtime import attempt, runtime

# Not torch.mm and torch.nn.functional.linear, which enable() replaces.
aten = torch.ops.aten

library = Library("ingot", "DEF")
library.define("mm(Tensor a, Tensor b) -> Tensor")
library.define("addmm(Tensor c, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
library.define("linear(Tensor x, Tensor weight, Tensor? bias=None, str act='none') -> Tensor")
library.define("rms_norm(Tensor x, Tensor? weight, float eps) -> Tensor")
library.define("fused_add_rms_norm(Tensor x, Tensor residual, Tensor? weight, float eps) -> (Tensor, Tensor)")
library.define("fused_add_rms_norm_(Tensor(a!) x, Tensor(b!) residual, Tensor? weight, float eps) -> ()")
library.define("rms_norm_quant(Tensor x, Tensor? weight, float eps, str quant) -> (Tensor, Tensor)")
library.define("fused_add_rms_norm_quant(Tensor x, Tensor residual, Tensor? weight, float eps, str quant) -> "
               "(Tensor, Tensor, Tensor)")
library.define("silu_mul(Tensor x, str act='silu', bool interleaved=False) -> Tensor")
library.define("grouped_mm(Tensor a, Tensor b, Tensor offs, Tensor? bias=None, str act='none') -> Tensor")
library.define("fp8_mm(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
               "ScalarType? dtype=None) -> Tensor")
library.define("scaled_mm(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
               "ScalarType? dtype=None) -> Tensor")

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu_erf": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


# --- ours or ATen's -----------------------------------------------------------


def _mm(a, b):
    return attempt("mm", lambda: _gemm.mm("mm", a, b), lambda: aten.mm(a, b))


def _addmm(c, a, b, *, beta=1, alpha=1):
    return attempt("addmm", lambda: _gemm.addmm("addmm", c, a, b, beta, alpha),
                   lambda: aten.addmm(c, a, b, beta=beta, alpha=alpha))


def _check_act(act):
    if act not in ACTIVATIONS:
        raise ValueError(f"act: found {act!r}, allowed {', '.join(ACTIVATIONS)}")


def _linear(x, weight, bias=None, act="none"):
    _check_act(act)
    return attempt("linear", lambda: _gemm.linear("linear", x, weight, bias, act),
                   lambda: ACTIVATIONS[act](aten.linear(x, weight, bias)))


def _normalised(x, weight, eps):
    """In f32."""
    wide = x.float()
    out = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return out if weight is None else out * weight


def aten_rms_norm(x, weight, eps):
    """Rounded once, as ATen's fused one. Older PyTorch has none."""
    return _normalised(x, weight, eps).to(x.dtype)


def _rms_norm(x, weight, eps):
    return attempt("rms_norm", lambda: _norm.rms_norm("rms_norm", x, weight, eps),
                   lambda: aten_rms_norm(x, weight, eps))


def _sum(x, residual):
    return (x.float() + residual.float()).to(x.dtype)


def aten_fused_add_rms_norm(x, residual, weight, eps):
    total = _sum(x, residual)
    return aten_rms_norm(total, weight, eps), total


def _fused_add_rms_norm(x, residual, weight, eps):
    name = "fused_add_rms_norm"
    return attempt(name, lambda: _norm.fused_add_rms_norm(name, x, residual, weight, eps, False),
                   lambda: aten_fused_add_rms_norm(x, residual, weight, eps))


def _fused_add_rms_norm_in_place(x, residual, weight, eps):
    def otherwise():
        out, total = aten_fused_add_rms_norm(x, residual, weight, eps)
        x.copy_(out)
        residual.copy_(total)

    name = "fused_add_rms_norm_"
    attempt(name, lambda: _norm.fused_add_rms_norm(name, x, residual, weight, eps, True), otherwise)


def aten_rms_norm_quant(x, weight, eps, quant):
    return _narrow.aten_quantised(_normalised(x, weight, eps), quant)


def _rms_norm_quant(x, weight, eps, quant):
    name = "rms_norm_quant"
    return attempt(name, lambda: _norm.rms_norm_quant(name, x, weight, eps, quant),
                   lambda: aten_rms_norm_quant(x, weight, eps, quant))


def _fused_add_rms_norm_quant(x, residual, weight, eps, quant):
    def otherwise():
        total = _sum(x, residual)
        return (*aten_rms_norm_quant(total, weight, eps, quant), total)

    name = "fused_add_rms_norm_quant"
    return attempt(name, lambda: _norm.fused_add_rms_norm_quant(name, x, residual, weight, eps, quant), otherwise)


GATES = ("silu", "gelu_tanh", "gelu_erf")


def aten_silu_mul(x, act, interleaved):
    gate, up = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    return (ACTIVATIONS[act](gate.float()) * up.float()).to(x.dtype)


def _silu_mul(x, act="silu", interleaved=False):
    if act not in GATES:
        raise ValueError(f"act: found {act!r}, allowed {', '.join(GATES)}")
    if x.shape[-1] % 2:
        raise ValueError(f"x: found a last dim of {x.shape[-1]}, allowed an even one")
    return attempt("silu_mul", lambda: _activation.silu_mul("silu_mul", x, act, interleaved),
                   lambda: aten_silu_mul(x, act, interleaved))


def aten_grouped_mm(a, b, offs, bias, act):
    """Reads offs on the host."""
    if a.dim() != 2 or b.dim() != 3 or offs.shape != b.shape[:1] or a.shape[1] != b.shape[1]:
        raise RuntimeError(f"grouped_mm: found a {tuple(a.shape)}, b {tuple(b.shape)}, offs {tuple(offs.shape)}, "
                           "allowed [total_m, k], [g, k, n], [g]")
    out = a.new_zeros((a.shape[0], b.shape[2]))
    start = 0
    for group, end in enumerate(offs.tolist()):
        end = min(max(end, start), a.shape[0])
        product = aten.mm(a[start:end], b[group])
        out[start:end] = ACTIVATIONS[act](product if bias is None else product + bias[group])
        start = end
    return out


def _grouped_mm(a, b, offs, bias=None, act="none"):
    _check_act(act)
    return attempt("grouped_mm", lambda: _grouped.grouped_mm("grouped_mm", a, b, offs, bias, act),
                   lambda: aten_grouped_mm(a, b, offs, bias, act))


def _dequantized(x, scale):
    """[rows, k] in f32; of 4-bit elements two in one of x."""
    return _narrow.widened(x) * scale.float().repeat_interleave(32, -1)


def aten_scaled_mm(a, b, scale_a, scale_b, bias, dtype):
    out = aten.mm(_dequantized(a, scale_a), _dequantized(b.t(), scale_b).t())
    return (out if bias is None else out + bias).to(dtype)


def _scaled_mm(a, b, scale_a, scale_b, bias=None, dtype=None):
    dtype = dtype or torch.bfloat16
    return attempt("scaled_mm", lambda: _scaled.scaled_mm("scaled_mm", a, b, scale_a, scale_b, bias, dtype),
                   lambda: aten_scaled_mm(a, b, scale_a, scale_b, bias, dtype))


def _fp8_mm(a, b, scale_a, scale_b, bias=None, dtype=None):
    dtype = dtype or torch.bfloat16
    return attempt("fp8_mm", lambda: _fp8.fp8_mm("fp8_mm", a, b, scale_a, scale_b, bias, dtype),
                   lambda: aten._scaled_mm(a, b, scale_a, scale_b, bias, None, dtype))


_KERNELS = {"mm": _mm, "addmm": _addmm, "linear": _linear, "rms_norm": _rms_norm,
            "fused_add_rms_norm": _fused_add_rms_norm, "fused_add_rms_norm_": _fused_add_rms_norm_in_place,
            "rms_norm_quant": _rms_norm_quant, "fused_add_rms_norm_quant": _fused_add_rms_norm_quant,
            "silu_mul": _silu_mul, "grouped_mm": _grouped_mm, "scaled_mm": _scaled_mm, "fp8_mm": _fp8_mm}


def serve(dispatch_key: str) -> None:
    for name, kernel in _KERNELS.items():
        library.impl(name, kernel, dispatch_key)
    for name in ("mm", "addmm", "linear"):
        library.impl(name, _autocast(name, dispatch_key), "Autocast" + dispatch_key)


def _autocast(name: str, dispatch_key: str):
    """Casts as autocast does for ATen's matrix products. rms_norm takes what it
    is given."""
    device = dispatch_key.lower()
    # Older PyTorch has a function a device.
    dtype_of = getattr(torch, "get_autocast_dtype", None) or (
        lambda kind: torch.get_autocast_gpu_dtype() if kind == "cuda" else torch.get_autocast_cpu_dtype())

    def cast(value, dtype):
        fits = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64
        return value.to(dtype) if fits else value

    def call(*arguments, **more):
        dtype = dtype_of(device)
        with torch.autocast(device, enabled=False):
            return getattr(torch.ops.ingot, name)(*[cast(a, dtype) for a in arguments],
                                                  **{k: cast(v, dtype) for k, v in more.items()})

    return call


serve("CUDA")


# --- shapes -------------------------------------------------------------------


def _mm_shape(a, b):
    return a.new_empty((a.shape[0], b.shape[1]))


def _addmm_shape(c, a, b, *, beta=1, alpha=1):
    return a.new_empty((a.shape[0], b.shape[1]))


def _linear_shape(x, weight, bias=None, act="none"):
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def _rms_norm_shape(x, weight, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _fused_add_rms_norm_shape(x, residual, weight, eps):
    return _rms_norm_shape(x, weight, eps), _rms_norm_shape(x, weight, eps)


def _fused_add_rms_norm_in_place_shape(x, residual, weight, eps):
    return None


def _rms_norm_quant_shape(x, weight, eps, quant):
    return _narrow.empty(x, quant)


def _fused_add_rms_norm_quant_shape(x, residual, weight, eps, quant):
    return (*_narrow.empty(x, quant), _rms_norm_shape(x, weight, eps))


def _silu_mul_shape(x, act="silu", interleaved=False):
    return x.new_empty((*x.shape[:-1], x.shape[-1] // 2))


def _grouped_mm_shape(a, b, offs, bias=None, act="none"):
    return a.new_empty((a.shape[0], b.shape[2]))


def _scaled_mm_shape(a, b, scale_a, scale_b, bias=None, dtype=None):
    return a.new_empty((a.shape[0], b.shape[1]), dtype=dtype or torch.bfloat16)


for _name, _shape in (("mm", _mm_shape), ("grouped_mm", _grouped_mm_shape), ("scaled_mm", _scaled_mm_shape),
                      ("fp8_mm", _scaled_mm_shape),
                      ("addmm", _addmm_shape), ("linear", _linear_shape),
                      ("rms_norm", _rms_norm_shape), ("fused_add_rms_norm", _fused_add_rms_norm_shape),
                      ("fused_add_rms_norm_", _fused_add_rms_norm_in_place_shape),
                      ("rms_norm_quant", _rms_norm_quant_shape),
                      ("fused_add_rms_norm_quant", _fused_add_rms_norm_quant_shape), ("silu_mul", _silu_mul_shape)):
    library.impl(_name, _shape, "Meta")


# --- what users call ----------------------------------------------------------
#
# The operators have no derivatives: with gradients wanted ATen does it, counted.


def _differentiable(op, tensors, ours, aten):
    if _tensors.needs_grad(*tensors):
        runtime.fell_back(op, "gradient")
        return aten()
    return ours()


def mm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [m, k] @ b [k, n], of either memory layout each."""
    return _differentiable("mm", (a, b), lambda: torch.ops.ingot.mm(a, b), lambda: aten.mm(a, b))


def addmm(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, *, beta: float = 1, alpha: float = 1) -> torch.Tensor:
    """beta * c + alpha * a @ b; c [n] or [m, n]."""
    return _differentiable("addmm", (c, a, b), lambda: torch.ops.ingot.addmm(c, a, b, beta=beta, alpha=alpha),
                           lambda: aten.addmm(c, a, b, beta=beta, alpha=alpha))


def linear(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None,
           act: str = "none") -> torch.Tensor:
    """act(x [..., k] @ weight [n, k]^T + bias [n]); act: none, relu, gelu_erf,
    gelu_tanh, silu."""
    return _differentiable("linear", (x, weight, bias), lambda: torch.ops.ingot.linear(x, weight, bias, act),
                           lambda: ACTIVATIONS[act](aten.linear(x, weight, bias)))


def rms_norm(x: torch.Tensor, weight: Optional[torch.Tensor] = None, eps: float = 1e-6) -> torch.Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dim."""
    return _differentiable("rms_norm", (x, weight), lambda: torch.ops.ingot.rms_norm(x, weight, eps),
                           lambda: aten_rms_norm(x, weight, eps))


def fused_add_rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor] = None,
                       eps: float = 1e-6) -> tuple[torch.Tensor, torch.Tensor]:
    """rms_norm(x + residual, weight, eps), and the sum, which is rounded to their
    dtype before it is normalised."""
    return _differentiable("fused_add_rms_norm", (x, residual, weight),
                           lambda: torch.ops.ingot.fused_add_rms_norm(x, residual, weight, eps),
                           lambda: aten_fused_add_rms_norm(x, residual, weight, eps))


def fused_add_rms_norm_(x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor] = None,
                        eps: float = 1e-6) -> None:
    """fused_add_rms_norm whose results replace x and residual. Not for tensors
    that want gradients."""
    torch.ops.ingot.fused_add_rms_norm_(x, residual, weight, eps)


def rms_norm_quant(x: torch.Tensor, weight: Optional[torch.Tensor] = None, eps: float = 1e-6,
                   quant: str = "fp8_row") -> tuple[torch.Tensor, torch.Tensor]:
    """rms_norm(x [..., n], weight, eps), not rounded to the dtype of x, as narrow
    floats, and their scales, which are as fp8_linear and scaled_mm take them:

        fp8_row  float8_e4m3fn [..., n]          float32 [..., 1]
        mxfp8    float8_e4m3fn [..., n]          float8_e8m0fnu [..., n / 32]
        mxfp4    float4_e2m1fn_x2 [..., n / 2]   float8_e8m0fnu [..., n / 32]

    A scale of fp8_row is the row's largest magnitude / 448. uint8 of the same bits
    where PyTorch does not have a dtype. No gradient passes through."""
    return torch.ops.ingot.rms_norm_quant(x, weight, eps, quant)


def fused_add_rms_norm_quant(x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor] = None,
                             eps: float = 1e-6,
                             quant: str = "fp8_row") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """rms_norm_quant(x + residual, weight, eps, quant), and the sum, which is
    rounded to their dtype before it is normalised."""
    return torch.ops.ingot.fused_add_rms_norm_quant(x, residual, weight, eps, quant)


def silu_mul(x: torch.Tensor, act: str = "silu", interleaved: bool = False) -> torch.Tensor:
    """act(gate) * up of x [..., 2 * n]: gates in its first half, up in its second,
    or a pair of them after the other where interleaved. act: silu, gelu_tanh,
    gelu_erf."""
    return _differentiable("silu_mul", (x,), lambda: torch.ops.ingot.silu_mul(x, act, interleaved),
                           lambda: aten_silu_mul(x, act, interleaved))


def grouped_mm(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor, bias: Optional[torch.Tensor] = None,
               act: str = "none") -> torch.Tensor:
    """For each group e: act(a[offs[e - 1]:offs[e]] @ b[e] + bias[e]); a
    [total_m, k], b [g, k, n] of either layout, offs i32 [g] ends on the device,
    bias [g, n]. Rows of no group are zero."""
    return _differentiable("grouped_mm", (a, b, bias), lambda: torch.ops.ingot.grouped_mm(a, b, offs, bias, act),
                           lambda: aten_grouped_mm(a, b, offs, bias, act))


def scaled_mm(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor,
              bias: Optional[torch.Tensor] = None, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """a [m, k] @ b [k, n] of float8_e4m3fn, float8_e5m2 or float4_e2m1fn_x2, in
    any pair; b lies as [n, k]. Scales float8_e8m0fnu, one for 32 k: [m, k / 32]
    and [n, k / 32], in rows (not swizzled)."""
    return torch.ops.ingot.scaled_mm(a, b, scale_a, scale_b, bias, dtype)


def fp8_mm(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor,
           bias: Optional[torch.Tensor] = None, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """(a * scale_a) [m, k] @ (b * scale_b) [k, n] + bias [n] of float8_e4m3fn and
    float8_e5m2, in any pair; b lies as [n, k]. Scales float32: one element each,
    or [m, 1] and [1, n]. What enable() makes of torch._scaled_mm."""
    return torch.ops.ingot.fp8_mm(a, b, scale_a, scale_b, bias, dtype)


def fp8_linear(x: torch.Tensor, weight: torch.Tensor, scale_x: torch.Tensor, scale_weight: torch.Tensor,
               bias: Optional[torch.Tensor] = None, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """fp8_mm of x [..., k] and weight [n, k]. Scales float32: one element each,
    or [..., 1] and [n, 1]."""
    scales = [scale if scale.numel() == 1 else scale.reshape(-1, 1) for scale in (scale_x, scale_weight)]
    out = fp8_mm(x.reshape(-1, x.shape[-1]), weight.t(), scales[0], scales[1].t() if scales[1].dim() == 2 else scales[1],
                 bias, dtype)
    return out.view(*x.shape[:-1], weight.shape[0])
