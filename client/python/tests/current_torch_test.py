"""ingot.torch with a current PyTorch: what the distribution's does not have. Runs
itself again with the Python of BUILD_DIRECTORY/torch-env, which `./dev test
--torch` makes; without that it is skipped."""

import os
import pathlib
import sys
import unittest

_python = pathlib.Path(sys.argv[1]).resolve() / "torch-env" / "bin" / "python"
if not _python.exists():
    print(f"skipped: there is no {_python}; ./dev test --torch makes it")
    sys.exit(0)
if pathlib.Path(sys.executable) != _python:
    os.execv(_python, [str(_python), "-B", *sys.argv])

import torch  # noqa: E402
from torch_cases import TorchCases, it, random  # noqa: E402


class CurrentTorchTest(TorchCases):
    def test_shapes_without_data(self):
        def meta(*shape, dtype=torch.bfloat16):
            return torch.empty(*shape, dtype=dtype, device="meta")

        ops = torch.ops.ingot
        self.assertEqual(ops.mm(meta(3, 4), meta(4, 5)).shape, (3, 5))
        self.assertEqual(ops.addmm(meta(5), meta(3, 4), meta(4, 5)).shape, (3, 5))
        self.assertEqual(ops.linear(meta(2, 3, 4), meta(7, 4)).shape, (2, 3, 7))
        self.assertEqual(ops.rms_norm(meta(3, 4), None, 1e-6).shape, (3, 4))
        self.assertEqual([one.shape for one in ops.fused_add_rms_norm(meta(3, 4), meta(3, 4), None, 1e-6)],
                         [(3, 4), (3, 4)])
        self.assertEqual(ops.silu_mul(meta(2, 3, 8)).shape, (2, 3, 4))
        self.assertEqual(ops.grouped_mm(meta(9, 4), meta(3, 4, 5), meta(3, dtype=torch.int32)).shape, (9, 5))
        scaled = ops.scaled_mm(meta(3, 64), meta(64, 5), meta(3, 2), meta(5, 2), None, torch.float32)
        self.assertEqual((scaled.shape, scaled.dtype), ((3, 5), torch.float32))
        self.assertEqual(ops.mm(meta(3, 4, dtype=torch.float16), meta(4, 5, dtype=torch.float16)).dtype, torch.float16)

    # Values of e2m1 by their bits, and of the other formats by PyTorch.
    E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]

    def quantized(self, rows, k, dtype, seed):
        """Random elements and scales, and what they mean in f64."""
        generator = torch.Generator().manual_seed(seed)
        scale = torch.randint(120, 134, (rows, k // 32), generator=generator, dtype=torch.uint8)
        factor = (2.0 ** (scale.double() - 127)).repeat_interleave(32, -1)
        if dtype == torch.float4_e2m1fn_x2:
            bits = torch.randint(0, 256, (rows, k // 2), generator=generator, dtype=torch.uint8)
            nibbles = torch.stack((bits & 15, bits >> 4), -1).flatten(-2).long()
            return bits.view(dtype), scale.view(torch.float8_e8m0fnu), torch.tensor(self.E2M1).double()[nibbles] * factor
        values = torch.randn(rows, k, generator=generator).to(dtype)
        return values, scale.view(torch.float8_e8m0fnu), values.double() * factor

    def test_scaled_mm(self):
        formats = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float4_e2m1fn_x2)
        for a_dtype in formats:
            for b_dtype in formats:
                for m, n, k in ((5, 33, 128), (17, 64, 224)):
                    with self.subTest(a=a_dtype, b=b_dtype, m=m, n=n, k=k):
                        a, scale_a, wide_a = self.quantized(m, k, a_dtype, 1)
                        b, scale_b, wide_b = self.quantized(n, k, b_dtype, 2)
                        bias = random(n, seed=3)
                        got = torch.ops.ingot.scaled_mm(a, b.t(), scale_a, scale_b, bias)
                        want = wide_a @ wide_b.t() + bias.double()
                        sums = wide_a.abs() @ wide_b.abs().t() + bias.double().abs()
                        self.expect_near(got, want, sums, k)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_scaled_mm_agrees_with_what_aten_does(self):
        a, scale_a, _ = self.quantized(6, 64, torch.float4_e2m1fn_x2, 1)
        b, scale_b, _ = self.quantized(9, 64, torch.float8_e4m3fn, 2)
        ours = torch.ops.ingot.scaled_mm(a, b.t(), scale_a, scale_b, None, torch.float32)
        theirs = it._ops.aten_scaled_mm(a, b.t(), scale_a, scale_b, None, torch.float32)
        self.assertTrue(torch.allclose(ours, theirs, rtol=1e-4, atol=1e-3))

    def test_compile_of_a_module_is_one_graph(self):
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.up = torch.nn.Parameter(random(192, 64, seed=5))
                self.down = torch.nn.Parameter(random(64, 96, seed=6))
                self.norm = torch.nn.Parameter(random(64, seed=7))

            def forward(self, x):
                h, x = torch.ops.ingot.fused_add_rms_norm(x, x, self.norm, 1e-6)
                h = torch.ops.ingot.silu_mul(torch.ops.ingot.linear(h, self.up))
                h = torch.ops.ingot.linear(h, self.down, None, "silu")
                torch.ops.ingot.fused_add_rms_norm_(h, x, self.norm, 1e-6)
                return torch.ops.ingot.rms_norm(h + x, self.norm, 1e-6)

        block = Block()
        with torch.no_grad():
            compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
            for rows in (3, 5, 9):
                x = random(rows, 64)
                self.assertTrue(torch.equal(compiled(x), block(x)))
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_opcheck(self):
        tests = ("test_schema", "test_faketensor", "test_autograd_registration")
        cases = {
            "mm": (random(4, 8), random(8, 6)),
            "addmm": (random(6), random(4, 8), random(8, 6)),
            "linear": (random(2, 3, 8), random(6, 8), random(6), "relu"),
            "rms_norm": (random(4, 8), random(8), 1e-6),
            "fused_add_rms_norm": (random(4, 8), random(4, 8, seed=1), random(8), 1e-6),
            "fused_add_rms_norm_": (random(4, 8), random(4, 8, seed=1), random(8), 1e-6),
            "silu_mul": (random(4, 8), "gelu_tanh", True),
            "grouped_mm": (random(6, 8), random(2, 8, 4), torch.tensor([2, 6], dtype=torch.int32)),
        }
        for name, arguments in cases.items():
            with self.subTest(name):
                torch.library.opcheck(getattr(torch.ops.ingot, name).default, arguments, test_utils=tests)

    def test_autocast(self):
        x, weight = random(4, 64, dtype=torch.float32), random(32, 64, dtype=torch.float32, seed=1)
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            it.enable()
            try:
                got = torch.nn.functional.linear(x, weight)
            finally:
                it.disable()
        self.assertEqual(got.dtype, torch.bfloat16)
        self.assertEqual(it.stats(), {"launches": {"linear": 1}, "fallbacks": {}})

    def test_rms_norm_is_routed(self):
        x, weight = random(4, 64), random(64, seed=1)
        want = torch.nn.functional.rms_norm(x, (64,), weight, 1e-6)
        with torch.no_grad():
            it.enable()
            try:
                got = torch.nn.functional.rms_norm(x, (64,), weight, 1e-6)
            finally:
                it.disable()
        self.expect_ours("rms_norm")
        self.assertTrue(torch.allclose(got.float(), want.float(), rtol=2**-7, atol=1e-3))


del TorchCases

if __name__ == "__main__":
    unittest.main()
