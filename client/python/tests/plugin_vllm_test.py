"""ingot-vllm in the real vLLM: found, loaded and registered by vLLM's own means;
its layers built as models build them and run on the emulated device."""

import vllm_env  # noqa: F401  (first: chooses the interpreter)

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import fixture
import torch
from vllm_env import PluginTest

LAYERS = {"ReplicatedLinear", "ColumnParallelLinear", "MergedColumnParallelLinear", "QKVParallelLinear",
          "RowParallelLinear", "ParallelLMHead", "RMSNorm", "SiluAndMul", "UnquantizedFusedMoEMethod"}


class VllmTest(PluginTest):
    # --- registration ---------------------------------------------------------

    def test_the_wheel_has_the_entry_point(self):
        found = importlib.metadata.entry_points(group="vllm.general_plugins")["ingot"]
        self.assertEqual((found.value, found.dist.name), ("ingot_vllm:register", "ingot-vllm"))

    def test_vllm_builds_our_classes(self):
        import ingot_vllm
        from vllm.model_executor.custom_op import op_registry_oot

        self.assertEqual({name for name, cls in op_registry_oot.items() if cls.__module__ == "ingot_vllm._layers"},
                         LAYERS)
        ingot_vllm.register()  # vLLM may load plugins more than once

    def registered_elsewhere(self, emulator=True, **environment):
        """What another process of vLLM's finds registered, and what it logs."""
        code = ("import vllm.plugins; vllm.plugins.load_general_plugins();"
                "from vllm.model_executor.custom_op import op_registry_oot; print(*sorted(op_registry_oot))")
        if emulator:
            code = "import ingot.torch.emulator;" + code
        done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment})
        return set(done.stdout.split()), done.stderr

    def test_a_device_that_is_not_gfx950_keeps_vllms_layers(self):
        found, log = self.registered_elsewhere(emulator=False)
        self.assertEqual(found, set())
        self.assertIn("vllm falls back: not ROCm", log)

    def test_another_gpu_of_rocm_keeps_vllms_layers(self):
        from ingot_vllm import _layers

        rocm = mock.Mock(on_gfx950=lambda: False)
        with mock.patch.object(_layers, "current_platform", mock.Mock(is_rocm=lambda: True)), \
                mock.patch.object(_layers.kernels, "dispatch_key", lambda: "CUDA"), \
                mock.patch.dict(sys.modules, {"vllm.platforms.rocm": rocm}):
            self.assertEqual(_layers.device_problem(), "not gfx950")
            rocm.on_gfx950 = lambda: True
            self.assertEqual(_layers.device_problem(), "")

    def test_opting_out(self):
        found, log = self.registered_elsewhere(INGOT_VLLM="0")
        self.assertEqual((found, "falls back" in log), (set(), False))
        found, log = self.registered_elsewhere(INGOT_VLLM_WITHOUT="linear, moe, activation, rope")
        self.assertEqual(found, {"RMSNorm"})
        self.assertIn("INGOT_VLLM_WITHOUT: found rope, allowed linear, norm", log)

    # --- layers ---------------------------------------------------------------

    def linear(self, cls_name, *arguments, **more):
        from vllm.model_executor.layers import linear

        layer = self.fill(getattr(linear, cls_name)(*arguments, **more))
        layer._cpu_skip_gemm_dispatch = True  # a GPU's weights are not packed for a CPU
        layer.quant_method.process_weights_after_loading(layer)
        return layer

    def test_linear_layers(self):
        for layer in (self.linear("ReplicatedLinear", 64, 40, bias=True),
                      self.linear("ColumnParallelLinear", 64, 40, bias=True),
                      self.linear("MergedColumnParallelLinear", 64, [48, 48], bias=False),
                      self.linear("QKVParallelLinear", 64, 16, 4, 2, bias=True),
                      self.linear("RowParallelLinear", 64, 40, bias=False)):
            for tokens in (1, 7):
                with self.subTest(type(layer).__name__, tokens=tokens):
                    x = self.random(tokens, 64)
                    got, _ = layer(x)
                    want = x.double() @ layer.weight.double().t()
                    self.expect_near(got, want if layer.bias is None else want + layer.bias.double())
        self.expect({"vllm.linear": 10})

    def test_lm_head(self):
        from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead

        head = self.fill(ParallelLMHead(100, 64))
        x = self.random(3, 64)
        got = head.quant_method.apply(head, x)
        self.assertEqual(got.shape, (3, 128))  # padded
        self.expect_near(got, x.double() @ head.weight.double().t())
        self.expect({"vllm.linear": 1})

    def test_norms(self):
        from vllm.model_executor.layers.layernorm import RMSNorm

        for layer in (self.fill(RMSNorm(96, eps=1e-5)), RMSNorm(96, eps=1e-5, has_weight=False)):
            x = self.random(5, 96)
            wide = x.double()
            want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
            self.expect_near(layer(x), want * layer.weight.double())
            residual = self.random(5, 96, seed=2)
            got, total = layer(x.clone(), residual.clone())
            self.assertTrue(torch.equal(total, x + residual))
            wide = total.double()
            want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
            self.expect_near(got, want * layer.weight.double())
        self.expect({"vllm.rms_norm": 2, "vllm.fused_add_rms_norm": 2})

    def test_activation(self):
        from vllm.model_executor.layers.activation import SiluAndMul

        x = self.random(5, 128)
        gate, up = x.double().chunk(2, -1)
        self.expect_near(SiluAndMul()(x), gate * torch.sigmoid(gate) * up)
        self.expect({"vllm.silu_and_mul": 1})

    @staticmethod
    def experts_of_rocm():
        """While it lasts, vLLM chooses for experts what it does on ROCm; for a CPU it
        has kernels of its own."""
        from vllm.model_executor.layers.fused_moe import unquantized_fused_moe_method as module
        from vllm.model_executor.layers.fused_moe.experts.triton_moe import TritonExperts
        from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

        return mock.patch.object(module, "select_unquantized_moe_backend",
                                 lambda moe_config: (UnquantizedMoeBackend.TRITON, TritonExperts))

    def moe(self, **more):
        from vllm.model_executor.layers.fused_moe.layer import FusedMoEFactory

        self.moes = getattr(self, "moes", 0) + 1
        with self.experts_of_rocm():
            return self.fill(FusedMoEFactory(num_experts=6, top_k=2, hidden_size=64, intermediate_size=48,
                                             params_dtype=torch.bfloat16, prefix=f"moe.{self.id()}.{self.moes}",
                                             **more))

    def run_moe(self, moe, x, logits):
        from vllm.config import get_current_vllm_config
        from vllm.forward_context import set_forward_context

        with set_forward_context(None, get_current_vllm_config()):
            return moe(x, logits)

    @staticmethod
    def experts_in_f64(layer, x, weights, ids):
        w13, w2 = layer.w13_weight.double(), layer.w2_weight.double()
        out = torch.zeros(x.shape, dtype=torch.float64)
        for token, row in enumerate(x.double()):
            for weight, expert in zip(weights[token].tolist(), ids[token].tolist()):
                gate, up = (w13[expert] @ row).chunk(2)
                out[token] += weight * (w2[expert] @ (gate * torch.sigmoid(gate) * up))
        return out

    def test_experts(self):
        moe = self.moe()
        for tokens in (1, 9):
            x, logits = self.random(tokens, 64), self.random(tokens, 6, dtype=torch.float32, seed=2)
            got = self.run_moe(moe, x, logits)
            weights, ids = torch.softmax(logits.double(), -1).topk(2)
            weights = weights / weights.sum(-1, keepdim=True)
            self.expect_near(got, self.experts_in_f64(moe.routed_experts, x, weights, ids), 0.03)
        self.expect({"vllm.moe": 6})

    def test_experts_of_other_ranks_add_nothing(self):
        from ingot_vllm import _moe

        layer = self.moe().routed_experts
        x, ids = self.random(5, 64), torch.tensor([[0, 7], [8, 9], [1, 5], [4, 4], [-1, 3]])
        weights = self.random(5, 2, dtype=torch.float32, seed=3).abs()
        # Of 10 experts 6 are here, in another order.
        expert_map = torch.tensor([3, 1, 2, 0, 5, 4, -1, -1, -1, -1], dtype=torch.int32)
        got = _moe.experts(x, layer.w13_weight, layer.w2_weight, weights, ids, expert_map, None, None)
        here = torch.where(ids < 0, -1, expert_map[ids])
        want = self.experts_in_f64(layer, x, torch.where(here < 0, 0.0, weights), here.clamp(min=0))
        self.expect_near(got, want, 0.03)

    def test_experts_that_are_not_for_us_are_vllms(self):
        from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

        moe = self.moe(activation="gelu")
        method = moe.routed_experts.quant_method
        x, logits = self.random(3, 64), self.random(3, 6, dtype=torch.float32)
        with mock.patch.object(type(method), "forward_native", lambda self, layer, x, *more: x + 1):
            self.assertTrue(torch.equal(self.run_moe(moe, x, logits), x + 1))
            method.unquantized_backend = UnquantizedMoeBackend.AITER
            self.run_moe(moe, x, logits)
        self.expect({}, {("vllm.moe", "activation"): 1, ("vllm.moe", "layout of experts"): 1})

    def test_what_is_not_for_us_is_vllms_and_counted(self):
        layer = self.linear("ReplicatedLinear", 64, 40, bias=False, params_dtype=torch.float32)
        x = self.random(3, 64, dtype=torch.float32)
        with self.assertLogs("ingot.torch", "WARNING") as logs:
            self.it._runtime._logged.clear()
            for _ in range(2):
                self.assertTrue(torch.equal(layer(x)[0], torch.nn.functional.linear(x, layer.weight)))
        self.assertEqual(len(logs.records), 1)
        self.expect({}, {("vllm.linear", "dtype"): 2})

    def test_without_a_daemon_vllm_does_it(self):
        from vllm.model_executor.layers.layernorm import RMSNorm

        from vllm.model_executor.layers.activation import SiluAndMul

        layer, norm = self.linear("RowParallelLinear", 64, 24, bias=False), self.fill(RMSNorm(64))
        x = self.random(4, 64)
        self.it.configure(address="unix:/nowhere/s")
        try:
            got, normed, both, gated = layer(x)[0], norm(x), norm(x, x), SiluAndMul()(x)
        finally:
            self.it.configure(address=self.address)
        self.expect({}, {("vllm.linear", "unavailable"): 1, ("vllm.rms_norm", "unavailable"): 1,
                         ("vllm.fused_add_rms_norm", "unavailable"): 1, ("vllm.silu_and_mul", "unavailable"): 1})
        self.assertTrue(torch.equal(got, torch.nn.functional.linear(x, layer.weight)))
        self.assertTrue(torch.equal(normed, norm.forward_native(x)))
        self.assertTrue(all(map(torch.equal, both, norm.forward_native(x, x.clone()))))
        self.assertTrue(torch.equal(gated, SiluAndMul.forward_native(x)))

    def test_turned_off_by_name(self):
        from vllm.config import CompilationConfig, VllmConfig, set_current_vllm_config
        from vllm.model_executor.layers.layernorm import RMSNorm

        with set_current_vllm_config(VllmConfig(compilation_config=CompilationConfig(custom_ops=["all", "-rms_norm"]))):
            norm = self.fill(RMSNorm(64))
        norm(self.random(2, 64))
        self.expect({})

    def test_compiled_layers_are_one_graph(self):
        from vllm.model_executor.layers.layernorm import RMSNorm

        norm, up = self.fill(RMSNorm(64)), self.linear("ColumnParallelLinear", 64, 48, bias=True)

        def block(x):
            return up(norm(x))[0]

        compiled = torch.compile(block, fullgraph=True, backend="aot_eager", dynamic=True)
        for tokens in (3, 8):
            x = self.random(tokens, 64)
            self.assertTrue(torch.equal(compiled(x), block(x)))
        self.expect({"vllm.rms_norm": 4, "vllm.linear": 4})

    # --- whole models ---------------------------------------------------------

    def model(self, config):
        """vLLM's model of a config.json, and what runs it from tokens to logits.
        Attention answers its queries, and positions are rotated by PyTorch: their
        CPU kernels are not in vLLM's wheel."""
        from vllm.config import ModelConfig, VllmConfig, set_current_vllm_config
        from vllm.forward_context import set_forward_context
        from vllm.model_executor.layers.attention import Attention
        from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding
        from vllm.model_executor.model_loader.utils import get_model_architecture

        folder = tempfile.mkdtemp(dir=self.folder)
        pathlib.Path(folder, "config.json").write_text(json.dumps(config))
        vllm_config = VllmConfig(model_config=ModelConfig(model=folder, skip_tokenizer_init=True, dtype="bfloat16",
                                                          enforce_eager=True))
        with set_current_vllm_config(vllm_config), self.experts_of_rocm(), \
                mock.patch.object(RotaryEmbedding, "forward_cpu", RotaryEmbedding.forward_native):
            model = self.fill(get_model_architecture(vllm_config.model_config)[0](vllm_config=vllm_config))
        for module in model.modules():
            module.cpu_linear = torch.nn.functional.linear  # of routers, which stay vLLM's

        def run(tokens):
            ids = torch.arange(tokens)
            with set_current_vllm_config(vllm_config), set_forward_context(None, vllm_config), \
                    mock.patch.object(Attention, "forward", lambda self, q, k, v, *more, **named: q.clone()):
                return model.compute_logits(model(ids, ids, None))

        return run

    LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
             "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 200,
             "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": False}
    MIXTRAL = {**LLAMA, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": 4,
               "num_experts_per_tok": 2}

    def test_what_models_ask_for_is_what_warm_up_derives(self):
        for config, ops in ((self.LLAMA, ["gemm"] * 5 + ["rmsnorm"] * 2 + ["silu_mul"]),
                            (self.MIXTRAL, ["gemm"] * 3 + ["grouped_gemm"] * 2 + ["rmsnorm"] * 2 + ["silu_mul"])):
            with self.subTest(config["model_type"]):
                self.it.configure(address=self.address)  # forgets what was prepared
                warmed = fixture.specs_of_model(config)
                run = self.model(config)
                with fixture.recorded_specs() as asked:
                    for tokens in (1, 5):
                        self.assertTrue(run(tokens).isfinite().all())
                self.assertEqual([spec for digest, spec in asked.items() if digest not in warmed], [])
                self.assertEqual(sorted(spec.op for spec in asked.values()), ops)
        self.assertEqual(self.it.stats()["fallbacks"], {})

    def test_a_model_answers_as_vllms_own_does(self):
        run = self.model(self.LLAMA)
        ours = run(6)
        # Of two layers: 4 products, 2 norms and an activation each, but the first
        # norm has nothing to add; then the last norm, and the logits.
        self.expect({"vllm.linear": 9, "vllm.rms_norm": 1, "vllm.fused_add_rms_norm": 4, "vllm.silu_and_mul": 2})
        self.it.configure(address="unix:/nowhere/s")
        try:
            theirs = run(6)
        finally:
            self.it.configure(address=self.address)
        self.expect_near(ours, theirs.double(), 0.05)


del PluginTest

if __name__ == "__main__":
    unittest.main()
