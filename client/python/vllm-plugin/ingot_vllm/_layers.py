"""vLLM's layers with Ingot behind them, by its out-of-tree registration: who
builds a class of vLLM's gets the class registered under its name."""

from __future__ import annotations

from vllm import envs
from vllm.config import get_cached_compilation_config
from vllm.model_executor.custom_op import CustomOp, PluggableLayer
from vllm.model_executor.layers import linear as vllm_linear
from vllm.model_executor.layers.activation import SiluAndMul
from vllm.model_executor.layers.fused_moe.runner.shared_experts import SharedExpertsOrder
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import UnquantizedFusedMoEMethod
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, UnquantizedEmbeddingMethod
from vllm.platforms import current_platform

from ingot.torch import kernels
from ingot.torch.kernels import attempt

from . import _moe, _ops

# --- linear -------------------------------------------------------------------


class LinearMethod(vllm_linear.UnquantizedLinearMethod):
    def apply(self, layer, x, bias=None):
        if envs.VLLM_BATCH_INVARIANT:
            return super().apply(layer, x, bias)
        return _ops.linear(x, layer.weight, bias)


class EmbeddingMethod(UnquantizedEmbeddingMethod):
    def apply(self, layer, x, bias=None):
        if envs.VLLM_BATCH_INVARIANT:
            return super().apply(layer, x, bias)
        return _ops.linear(x, layer.weight, bias)


_METHODS = {vllm_linear.UnquantizedLinearMethod: LinearMethod, UnquantizedEmbeddingMethod: EmbeddingMethod}


def _with_method(base):
    """`base` whose weights, where they are not quantized, Ingot multiplies with."""

    class Layer(base):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            # A subclass of vLLM's knows something of its own.
            ours = _METHODS.get(type(self.quant_method))
            if ours is not None:
                self.quant_method = ours()

    Layer.__name__ = Layer.__qualname__ = "Ingot" + base.__name__
    return Layer


_LINEAR = (vllm_linear.ReplicatedLinear, vllm_linear.ColumnParallelLinear, vllm_linear.MergedColumnParallelLinear,
           vllm_linear.QKVParallelLinear, vllm_linear.RowParallelLinear, ParallelLMHead)


def _register_linear() -> None:
    for base in _LINEAR:
        PluggableLayer.register_oot(_with_method(base), name=base.__name__)


# --- norm, activation, experts ------------------------------------------------


class _Served(CustomOp):
    """A custom op of vLLM's that is ours unless its configuration turns it off by
    name (custom_ops: -rms_norm). Its "none", the default when it compiles, means
    that Inductor writes the kernel: who installed the plugin wants another."""

    _name = ""

    def dispatch_forward(self, compile_native):
        theirs = super().dispatch_forward(compile_native)
        off = f"-{self._name}" in get_cached_compilation_config().custom_ops
        return theirs if off or envs.VLLM_BATCH_INVARIANT else self._forward_ingot


class IngotRMSNorm(_Served, RMSNorm):
    _name = RMSNorm.name

    def _forward_ingot(self, x, residual=None):
        if self.variance_size_override is not None:
            return self.forward_native(x, residual)
        if residual is None:
            return _ops.rms_norm(x, self.weight.data if self.pass_weight else None, self.variance_epsilon)
        return _ops.fused_add_rms_norm(x, residual, self.weight.data if self.pass_weight_add else None,
                                       self.variance_epsilon)


class IngotSiluAndMul(_Served, SiluAndMul):
    _name = SiluAndMul.name

    def _forward_ingot(self, x):
        return _ops.silu_and_mul(x)


class IngotFusedMoEMethod(_Served, UnquantizedFusedMoEMethod):
    _name = UnquantizedFusedMoEMethod.name

    def _forward_ingot(self, layer, x, topk_weights, topk_ids, shared_experts, shared_experts_input):
        def ours():
            _moe.check(self, layer)
            out = _moe.experts(x, layer.w13_weight, layer.w2_weight, topk_weights, topk_ids, layer.expert_map,
                               getattr(layer, "w13_bias", None), getattr(layer, "w2_bias", None))
            if shared_experts is not None:
                shared_experts(shared_experts_input, SharedExpertsOrder.MK_INTERNAL_OVERLAPPED)
            return out

        return attempt(_moe.OP, ours, lambda: self.forward_native(layer, x, topk_weights, topk_ids, shared_experts,
                                                                  shared_experts_input))


def _register_norm() -> None:
    CustomOp.register_oot(IngotRMSNorm, name="RMSNorm")


def _register_activation() -> None:
    CustomOp.register_oot(IngotSiluAndMul, name="SiluAndMul")


def _register_moe() -> None:
    CustomOp.register_oot(IngotFusedMoEMethod, name="UnquantizedFusedMoEMethod")


_REGISTER = {"linear": _register_linear, "norm": _register_norm, "activation": _register_activation,
             "moe": _register_moe}


# --- where --------------------------------------------------------------------


def device_problem() -> str:
    """"" or why the layers would only fall back here."""
    if kernels.dispatch_key() == "CPU":
        return ""  # the emulator's
    if not current_platform.is_rocm():
        return "not ROCm"
    from vllm.platforms.rocm import on_gfx950

    return "" if on_gfx950() else "not gfx950"


def register(groups) -> None:
    def ours():
        reason = device_problem()
        if reason:
            raise kernels.Fallback(reason)
        for group in groups:
            _REGISTER[group]()

    attempt("vllm", ours, lambda: None)
