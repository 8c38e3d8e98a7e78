"""The operators of the layers: Ingot's kernel, or with a counted reason what
vLLM would have called. Operators, so that torch.compile sees one node and its
shape, and what is decided is decided when it runs."""

from __future__ import annotations

from typing import Optional

import torch
from ingot.torch import kernels
from ingot.torch.kernels import attempt
from torch.library import Library
from vllm import ir
from vllm.model_executor.layers.activation import SiluAndMul
from vllm.platforms import current_platform

library = Library("ingot_vllm", "DEF")
library.define("linear(Tensor x, Tensor weight, Tensor? bias) -> Tensor")
library.define("rms_norm(Tensor x, Tensor? weight, float eps) -> Tensor")
library.define("fused_add_rms_norm(Tensor x, Tensor residual, Tensor? weight, float eps) -> (Tensor, Tensor)")
library.define("silu_and_mul(Tensor x) -> Tensor")


def _vllm_linear(x, weight, bias):
    if current_platform.is_rocm():
        return torch.ops.vllm.rocm_unquantized_gemm(x, weight, bias)
    return torch.nn.functional.linear(x, weight, bias)


def _linear(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
    return attempt("vllm.linear", lambda: kernels.linear("vllm.linear", x, weight, bias),
                   lambda: _vllm_linear(x, weight, bias))


def _linear_shape(x, weight, bias):
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def _rms_norm(x: torch.Tensor, weight: Optional[torch.Tensor], eps: float) -> torch.Tensor:
    return attempt("vllm.rms_norm", lambda: kernels.rms_norm("vllm.rms_norm", x, weight, eps),
                   lambda: ir.ops.rms_norm(x, weight, eps))


def _rms_norm_shape(x, weight, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _fused_add_rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: Optional[torch.Tensor],
                        eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    name = "vllm.fused_add_rms_norm"
    return attempt(name, lambda: kernels.fused_add_rms_norm(name, x, residual, weight, eps, False),
                   lambda: ir.ops.fused_add_rms_norm(x, residual, weight, eps))


def _fused_add_rms_norm_shape(x, residual, weight, eps):
    return _rms_norm_shape(x, weight, eps), _rms_norm_shape(x, weight, eps)


def _vllm_silu_and_mul(x):
    if not current_platform.is_rocm():
        return SiluAndMul.forward_native(x)
    out = _silu_and_mul_shape(x)
    torch.ops._C.silu_and_mul(out, x)
    return out


def _silu_and_mul(x: torch.Tensor) -> torch.Tensor:
    return attempt("vllm.silu_and_mul", lambda: kernels.silu_mul("vllm.silu_and_mul", x),
                   lambda: _vllm_silu_and_mul(x))


def _silu_and_mul_shape(x):
    return x.new_empty((*x.shape[:-1], x.shape[-1] // 2))


for _name, _kernel, _shape in (("linear", _linear, _linear_shape), ("rms_norm", _rms_norm, _rms_norm_shape),
                               ("fused_add_rms_norm", _fused_add_rms_norm, _fused_add_rms_norm_shape),
                               ("silu_and_mul", _silu_and_mul, _silu_and_mul_shape)):
    library.impl(_name, _kernel, kernels.dispatch_key())
    library.impl(_name, _shape, "Meta")

linear = torch.ops.ingot_vllm.linear
rms_norm = torch.ops.ingot_vllm.rms_norm
fused_add_rms_norm = torch.ops.ingot_vllm.fused_add_rms_norm
silu_and_mul = torch.ops.ingot_vllm.silu_and_mul
