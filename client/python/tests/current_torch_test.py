"""ingot.torch with a current PyTorch: what the distribution's does not have. Runs
itself again with the Python of torch-env beside BUILD_DIRECTORY, which `./dev
test --torch` makes; without that it is skipped."""

import os
import pathlib
import sys
import unittest

_python = pathlib.Path(sys.argv[1]).resolve().parent / "torch-env" / "bin" / "python"
if not _python.exists():
    print(f"skipped: there is no {_python}; ./dev test --torch makes it")
    sys.exit(0)
if pathlib.Path(sys.executable) != _python:
    os.execv(_python, [str(_python), "-B", *sys.argv])

import torch  # noqa: E402
from torch_cases import TorchCases, it, random  # noqa: E402
from torch_quant_cases import QUANTS, QuantCases, normalised, values_of  # noqa: E402


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
        fp8 = ops.fp8_mm(meta(3, 64), meta(64, 5), meta(()), meta(()), None, torch.float16)
        self.assertEqual((fp8.shape, fp8.dtype), ((3, 5), torch.float16))
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

    def floats8(self, rows, k, dtype, seed):
        return random(rows, k, dtype=torch.float32, seed=seed).to(dtype)

    def check_fp8(self, call, a, weight, scale_a, scale_b, bias, dtype):
        """`scale_a` and `scale_b` for a [m, k] and weight [n, k]."""
        wide_a, wide_b = a.double() * scale_a.double(), weight.double() * scale_b.double()
        want, sums = wide_a @ wide_b.t(), wide_a.abs() @ wide_b.abs().t()
        if bias is not None:
            want, sums = want + bias.double(), sums + bias.double().abs()
        got = call()
        self.assertEqual(got.dtype, dtype)
        self.expect_near(got, want, sums, a.shape[1])

    def test_fp8_mm(self):
        formats = (torch.float8_e4m3fn, torch.float8_e5m2)
        one = torch.tensor(0.37), torch.tensor([[1.9]])
        for m, n, k in ((1, 16, 64), (5, 33, 130), (40, 64, 256)):
            rows = torch.rand(m, 1) + 0.5, torch.rand(n, 1) + 0.5
            for kinds in ((x, y) for x in formats for y in formats):
                for scales, bias, dtype in ((one, None, torch.bfloat16), (rows, random(n, seed=3), torch.bfloat16),
                                            (rows, random(n, dtype=torch.float32), torch.float16),
                                            (one, None, torch.float32)):
                    with self.subTest(m=m, n=n, k=k, kinds=kinds, dtype=dtype):
                        a, weight = self.floats8(m, k, kinds[0], 1), self.floats8(n, k, kinds[1], 2)
                        for _ in range(2):  # the second is a repeat
                            self.check_fp8(lambda: torch.ops.ingot.fp8_mm(a, weight.t(), scales[0], scales[1].t()
                                           if scales is rows else scales[1], bias, dtype),
                                           a, weight, *scales, bias, dtype)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_fp8_of_views_and_of_nothing(self):
        one = torch.ones(())
        wide = self.floats8(40, 256, torch.float8_e4m3fn, 1)
        weight = self.floats8(48, 192, torch.float8_e4m3fn, 2)[:, :128]
        self.check_fp8(lambda: it.fp8_mm(wide[3:9, 16:144], weight.t(), one, one), wide[3:9, 16:144], weight, one, one,
                       None, torch.bfloat16)
        x, scales = wide[:, :128].reshape(4, 10, 128), (torch.rand(4, 10, 1) + 0.5, torch.rand(48, 1) + 0.5)
        got = it.fp8_linear(x, weight, *scales, dtype=torch.float32)
        self.assertEqual(got.shape, (4, 10, 48))
        self.check_fp8(lambda: got.view(40, 48), x.view(40, 128), weight, scales[0].view(40, 1), scales[1], None,
                       torch.float32)
        self.assertEqual(it.fp8_mm(wide[:0, :128], weight.t(), one, one).shape, (0, 48))
        self.assertEqual(it.stats(), {"launches": {"fp8_mm": 2}, "fallbacks": {}})

    def test_scaled_mm_of_pytorch_is_routed(self):
        a, weight = self.floats8(16, 64, torch.float8_e4m3fn, 1), self.floats8(32, 64, torch.float8_e4m3fn, 2)
        one, rows, columns = torch.tensor(0.5), torch.rand(16, 1) + 0.5, torch.rand(1, 32) + 0.5
        original = torch._scaled_mm
        wanted = [original(a, weight.t(), x, y, out_dtype=torch.bfloat16) for x, y in ((one, one), (rows, columns))]
        it.enable()
        try:
            got = [torch._scaled_mm(a, weight.t(), x, y, out_dtype=torch.bfloat16)
                   for x, y in ((one, one), (rows, columns))]
            torch._scaled_mm(a, weight.t(), one, one, None, None, torch.float8_e4m3fn)  # 8 bits are written by ATen
        finally:
            it.disable()
        self.assertIs(torch._scaled_mm, original)
        for ours, theirs in zip(got, wanted):
            self.assertTrue(torch.allclose(ours.float(), theirs.float(), rtol=2**-6, atol=0.05))
        self.assertEqual(it.stats(), {"launches": {"fp8_mm": 2}, "fallbacks": {}})

    def test_fp8_that_is_not_for_us_says_why(self):
        a, weight = self.floats8(16, 64, torch.float8_e4m3fn, 1), self.floats8(32, 64, torch.float8_e4m3fn, 2)
        one, rows = torch.ones(()), torch.ones(16, 1)
        calls = {
            "scales": (a, weight.t(), rows, one, None, torch.bfloat16),
            "dtype of scales": (a, weight.t(), one.double(), one, None, torch.bfloat16),
            "shape": (a, weight, one, one, None, torch.bfloat16),
            "strides": (a, self.floats8(64, 32, torch.float8_e4m3fn, 2), one, one, None, torch.bfloat16),
            "dtype": (a.float(), weight.t().float(), one, one, None, torch.bfloat16),
            "bias": (a, weight.t(), one, one, random(31), torch.bfloat16),
        }
        for reason, arguments in calls.items():
            with self.subTest(reason):
                it._runtime.fallbacks.clear()
                try:
                    torch.ops.ingot.fp8_mm(*arguments)
                except (RuntimeError, ValueError):
                    pass  # ATen's own error
                self.assertEqual(it.stats()["fallbacks"], {("fp8_mm", reason): 1})
        self.assertEqual(it.stats()["launches"], {})

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
            "rms_norm_quant": (random(4, 8), random(8), 1e-6, "fp8_row"),
            "fused_add_rms_norm_quant": (random(4, 64), random(4, 64, seed=1), None, 1e-6, "mxfp8"),
            "fp8_mm": (self.floats8(4, 32, torch.float8_e4m3fn, 1), self.floats8(6, 32, torch.float8_e4m3fn, 2).t(),
                       torch.ones(()), torch.ones(())),
            "grouped_mm": (random(6, 8), random(2, 8, 4), torch.tensor([2, 6], dtype=torch.int32)),
        }
        for name, arguments in cases.items():
            with self.subTest(name):
                # PyTorch cannot compare 8-bit floats, as its check of the schema does.
                torch.library.opcheck(getattr(torch.ops.ingot, name).default, arguments,
                                      test_utils=tests["fp8" in name or "quant" in name:])

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


class CurrentTorchQuantTest(QuantCases):
    def test_shapes_without_data(self):
        x = torch.empty(2, 3, 64, dtype=torch.bfloat16, device="meta")
        wanted = {"fp8_row": ((2, 3, 64), torch.float8_e4m3fn, (2, 3, 1), torch.float32),
                  "mxfp8": ((2, 3, 64), torch.float8_e4m3fn, (2, 3, 2), torch.float8_e8m0fnu),
                  "mxfp4": ((2, 3, 32), torch.float4_e2m1fn_x2, (2, 3, 2), torch.float8_e8m0fnu)}
        for quant, want in wanted.items():
            y, scale = torch.ops.ingot.rms_norm_quant(x, None, 1e-6, quant)
            self.assertEqual((y.shape, y.dtype, scale.shape, scale.dtype), want)
            y, scale, total = torch.ops.ingot.fused_add_rms_norm_quant(x, x, None, 1e-6, quant)
            self.assertEqual((y.shape, y.dtype, scale.shape, scale.dtype), want)
            self.assertEqual((total.shape, total.dtype), (x.shape, x.dtype))

    def test_elements_are_pytorchs(self):
        y, scale = it.rms_norm_quant(random(5, 224), None, 1e-5)
        self.assertTrue(torch.equal(y.double(), values_of(y, "fp8_row")))
        want = normalised(random(5, 224), None)
        self.assertTrue(torch.allclose(y.double() * scale, want, rtol=2**-4, atol=1e-3))

    def test_products_take_what_was_quantised(self):
        x, weight = random(6, 128), random(40, 128, seed=1)
        want = normalised(x, None) @ (normalised(weight, None)).t()
        for quant, error in (("fp8_row", 0.08), ("mxfp8", 0.08), ("mxfp4", 0.4)):
            (a, scale_a), (b, scale_b) = [it.rms_norm_quant(one, None, 1e-5, quant) for one in (x, weight)]
            if quant == "fp8_row":
                got = it.fp8_linear(a, b, scale_a, scale_b, dtype=torch.float32)
            else:
                got = it.scaled_mm(a, b.t(), scale_a, scale_b, dtype=torch.float32)
            self.assertLess((got - want).norm() / want.norm(), error)
        self.assertEqual(it.stats(), {"launches": {"rms_norm_quant": 6, "fp8_mm": 1, "scaled_mm": 2}, "fallbacks": {}})

    def test_compile_is_one_graph(self):
        weight = random(40, 64, seed=1).to(torch.float8_e4m3fn)

        def layer(x, residual):
            h, scale, residual = torch.ops.ingot.fused_add_rms_norm_quant(x, residual, None, 1e-6, "fp8_row")
            return it.fp8_linear(h, weight, scale, torch.ones(40, 1)), residual

        with torch.no_grad():
            compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
            for rows in (3, 5):
                x, residual = random(rows, 64), random(rows, 64, seed=2)
                for got, want in zip(compiled(x, residual), layer(x, residual)):
                    self.assertTrue(torch.equal(got, want))
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_autotune(self):
        x = random(9, 4096)
        for quant in QUANTS:
            with self.subTest(quant):
                tuned, = it.autotune(it.rms_norm_quant, x, None, 1e-5, quant, runs=1, warm_up=0, store=False)
                self.assertEqual([trial.problem for trial in tuned.trials], [""] * len(tuned.trials))
                self.assertGreater(len(tuned.trials), 1)

    def test_autotune_sees_a_wrong_element_and_a_wrong_scale(self):
        difference = it._autotune._difference
        for quant in QUANTS:
            with self.subTest(quant):
                y, scale = it.rms_norm_quant(random(3, 64), None, 1e-5, quant)
                # The top bit of an element's exponent; of e8m0 the lowest.
                wrong_y, wrong_scale = y.view(torch.uint8).clone(), scale.view(torch.uint8).clone()
                wrong_y[1, 7] ^= 64
                wrong_scale[2, -1] ^= 1 if quant != "fp8_row" else 64
                self.assertEqual(difference([y, scale], [y, scale], 64), "")
                self.assertRegex(difference([y, scale], [wrong_y.view(y.dtype), scale], 64), r"^output 0 at \(1, ")
                self.assertRegex(difference([y, scale], [y, wrong_scale.view(scale.dtype)], 64), r"^output 1 at \(2, ")


del QuantCases, TorchCases

if __name__ == "__main__":
    unittest.main()
