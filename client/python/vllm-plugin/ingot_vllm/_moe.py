"""Experts: tokens sorted by expert, two grouped products with SwiGLU between
them, and the experts' answers weighed and added. No number is read back to the
host, so all of it may be captured into a graph."""

from __future__ import annotations

from typing import Optional

import torch
from ingot.torch import kernels
from ingot.torch.kernels import Fallback

OP = "vllm.moe"


def experts(x: torch.Tensor, w13: torch.Tensor, w2: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor,
            expert_map: Optional[torch.Tensor], w13_bias: Optional[torch.Tensor],
            w2_bias: Optional[torch.Tensor]) -> torch.Tensor:
    """For tokens x [t, hidden], each with k experts ids [t, k] and what they count
    weights [t, k]: the weighed sum of down(silu(gate) * up), in x's dtype. w13
    [g, 2 * width, hidden] (gates first), w2 [g, hidden, width]. Experts below 0, or
    that expert_map sends there, are another rank's and add nothing. Fallback where
    that is not for us."""
    groups, tokens, k = w13.shape[0], *ids.shape
    local = ids.long().flatten()
    if expert_map is not None:
        # -1, which marks a token that is padding, indexes the last entry.
        local = torch.where(local < 0, local, expert_map.long()[local])
    local = torch.where(local < 0, groups, local)  # behind all groups
    order = torch.argsort(local, stable=True)
    # The end of group g: how many rows belong to groups up to it.
    ends = torch.searchsorted(local[order], torch.arange(groups, device=x.device), right=True).int()
    rows = kernels.grouped_mm(OP, x[order // k], w13.transpose(1, 2), ends, w13_bias, "none")
    rows = kernels.silu_mul(OP, rows)
    rows = kernels.grouped_mm(OP, rows, w2.transpose(1, 2), ends, w2_bias, "none")
    answers = torch.empty_like(rows)
    answers[order] = rows
    answers = answers.view(tokens, k, -1)
    out = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    for place in range(k):
        out.addcmul_(answers[:, place], weights[:, place:place + 1])
    return out.to(x.dtype)


def check(method, layer) -> None:
    """Raises Fallback where `experts` would not compute what the layer does."""
    from vllm import envs
    from vllm.model_executor.layers.fused_moe.activation import MoEActivation
    from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

    parallel = method.moe.moe_parallel_config
    reasons = {
        "batch invariance": envs.VLLM_BATCH_INVARIANT,
        # The others want the weights shuffled.
        "layout of experts": method.unquantized_backend != UnquantizedMoeBackend.TRITON,
        "tokens of other ranks": parallel.dp_size * parallel.pcp_size * parallel.sp_size > 1,
        "LoRA": method.moe.is_lora_enabled,
        "activation": layer.activation != MoEActivation.SILU or getattr(layer, "swiglu_limit", None) is not None,
        "router weight on input": layer.apply_router_weight_on_input,
    }
    for reason, found in reasons.items():
        if found:
            raise Fallback(reason)
