"""Warm-up and serving meet: what ingot.torch asks for when a model's layers run
is what `ingotctl warm` derived from its config.json."""

import os
import unittest

import fixture

os.environ["INGOT_TORCH_EMULATOR"] = "1"

import ingot.torch as it  # noqa: E402
import torch  # noqa: E402

LLAMA = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 200}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_local_experts": 4}


def random(*shape):
    return torch.randn(*shape).bfloat16()


class WarmTest(fixture.DaemonTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import ingot.torch.emulator  # noqa: F401

    @classmethod
    def tearDownClass(cls):
        it.configure(address="unix:/nowhere/s")
        super().tearDownClass()

    def expect_warmed(self, config, run):
        it.configure(address=self.address)  # forgets what was prepared
        warmed = fixture.specs_of_model(config)
        with fixture.recorded_specs() as asked:
            for tokens in (1, 5):
                run(tokens)
        self.assertEqual([spec for digest, spec in asked.items() if digest not in warmed], [])
        return [warmed[digest] for digest in asked]

    def attention(self, tokens):
        h, residual = random(tokens, 64), random(tokens, 64)
        h = it.rms_norm(h, random(64), 1e-5)
        h, residual = it.fused_add_rms_norm(h, residual, random(64), 1e-5)
        q, _, _ = it.linear(h, random(64 + 2 * 32, 64)).split([64, 32, 32], dim=-1)
        it.linear(q.contiguous(), random(64, 64))
        it.linear(h, random(256, 64))  # lm_head, padded to 64s
        return h

    def test_a_dense_model(self):
        def run(tokens):
            h = it.linear(self.attention(tokens), random(2 * 96, 64))
            it.linear(it.silu_mul(h), random(64, 96))

        asked = self.expect_warmed(LLAMA, run)
        # norm, its residual form, qkv, o, gate_up, activation, down, lm_head
        self.assertEqual(sorted(spec.op for spec in asked), ["gemm"] * 5 + ["rmsnorm"] * 2 + ["silu_mul"])

    def test_experts(self):
        def run(tokens):
            h = self.attention(tokens)
            it.linear(h, random(4, 64))  # the router
            ends = torch.tensor([0, 1, tokens, tokens], dtype=torch.int32)
            h = it.grouped_mm(h, random(4, 2 * 96, 64).transpose(1, 2), ends)
            it.grouped_mm(it.silu_mul(h), random(4, 64, 96).transpose(1, 2), ends)

        asked = self.expect_warmed(MIXTRAL, run)
        self.assertEqual(sorted(spec.op for spec in asked),
                         ["gemm"] * 4 + ["grouped_gemm"] * 2 + ["rmsnorm"] * 2 + ["silu_mul"])


if __name__ == "__main__":
    unittest.main()
