"""Cases of rms_norm_quant and fused_add_rms_norm_quant that any PyTorch must pass.
What bits mean is worked out here, in f64: neither the kernels' way nor ATen's."""

import importlib

import torch_cases
from torch_cases import it, random

import torch

QUANTS = ("fp8_row", "mxfp8", "mxfp4")
LARGEST = {"fp8_row": 448, "mxfp8": 448, "mxfp4": 6}
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
F32_ERROR = 2**-19  # relative, of what f32 did before elements are rounded


def _e4m3(code):
    exponent, mantissa = code >> 3, code & 7
    if code == 127:
        return float("nan")
    return mantissa * 2.0**-9 if exponent == 0 else (8 + mantissa) * 2.0**(exponent - 10)


SIZES = {"mxfp4": torch.tensor(E2M1, dtype=torch.float64)}
SIZES["fp8_row"] = SIZES["mxfp8"] = torch.tensor([_e4m3(code) for code in range(128)], dtype=torch.float64)


def codes_of(y, quant):
    """Of every element, as integers."""
    bits = y.view(torch.uint8)
    if quant == "mxfp4":
        bits = torch.stack((bits & 15, bits >> 4), -1).flatten(-2)
    return bits.long()


def values_of(y, quant):
    """Of elements, before they are scaled."""
    codes, sizes = codes_of(y, quant), SIZES[quant]
    return torch.where(codes >= len(sizes), -1.0, 1.0).double() * sizes[codes % len(sizes)]


def factors_of(scale, quant, n):
    """What every element is to be multiplied by."""
    if quant == "fp8_row":
        return scale.double().expand(*scale.shape[:-1], n)
    return (2.0 ** (scale.view(torch.uint8).double() - 127)).repeat_interleave(32, -1)


def normalised(x, weight, eps=1e-5):
    wide = x.double()
    y = wide / (wide.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return y if weight is None else y * weight.double()


class QuantCases(torch_cases.OperatorTest):
    def expect_quantised(self, y, scale, want, quant):
        """`want`: f64."""
        form = importlib.import_module("ingot.torch._narrow").FORMATS[quant]
        n = want.shape[-1]
        scales_dtype = torch.float32 if quant == "fp8_row" else getattr(torch, "float8_e8m0fnu", torch.uint8)
        self.assertEqual((y.dtype, scale.dtype), (form.dtype, scales_dtype))
        self.assertEqual(y.shape, (*want.shape[:-1], n // 2 if quant == "mxfp4" else n))
        self.assertEqual(scale.shape, (*want.shape[:-1], 1 if quant == "fp8_row" else n // 32))
        if want.numel() == 0:
            return
        if quant == "fp8_row":
            wanted = want.abs().amax(-1, keepdim=True) / 448
            self.assertTrue(torch.allclose(scale.double(), wanted, rtol=F32_ERROR, atol=0))
        else:
            largest = want.abs().reshape(*want.shape[:-1], n // 32, 32).amax(-1)
            # Next to a power of two f32 may be on its other side.
            codes = scale.view(torch.uint8).double()
            least, most = [((largest * (1 + error)).log2().floor() - (2 if quant == "mxfp4" else 8) + 127).clamp(min=0)
                           for error in (-F32_ERROR, F32_ERROR)]
            self.assertTrue(((codes >= least) & (codes <= most)).all())
        # The element is one of the nearest, but for the error before it.
        wanted = (want / factors_of(scale, quant, n)).clamp(-LARGEST[quant], LARGEST[quant])
        distances = [(sign * SIZES[quant][:127] - wanted.unsqueeze(-1)).abs().amin(-1) for sign in (1, -1)]
        nearest = torch.minimum(*distances)
        found = (values_of(y, quant) - wanted).abs()
        self.assertLessEqual((found - nearest - 2 * F32_ERROR * wanted.abs()).max().item(), 0)

    def test_rms_norm_quant(self):
        for quant in QUANTS:
            for dtype in torch_cases.UNIT:
                for shape in ((32,), (3, 96), (2, 5, 256), (7, 1056), (0, 64)):
                    n = shape[-1]
                    for weight in (None, random(n, dtype=dtype, seed=4), random(n, dtype=torch.float32)):
                        with self.subTest(quant=quant, dtype=dtype, shape=shape, weight=weight is not None):
                            x = random(*shape, dtype=dtype)
                            y, scale = torch.ops.ingot.rms_norm_quant(x, weight, 1e-5, quant)
                            self.expect_quantised(y, scale, normalised(x, weight), quant)
        self.assertEqual(it.stats()["fallbacks"], {})
        self.assertEqual(it.stats()["launches"], {"rms_norm_quant": 3 * 3 * 4 * 3})

    def test_rows_of_any_length_share_a_scale(self):
        for n in (1, 3, 77, 1001):
            x, weight = random(5, n), random(n, seed=1)
            self.expect_quantised(*it.rms_norm_quant(x, weight, 1e-5), normalised(x, weight), "fp8_row")
        self.expect_ours("rms_norm_quant", 4)

    def test_fused_add_rms_norm_quant(self):
        for quant in QUANTS:
            for dtype in torch_cases.UNIT:
                for shape in ((32,), (2, 5, 256), (0, 64)):
                    with self.subTest(quant=quant, dtype=dtype, shape=shape):
                        x, residual = random(*shape, dtype=dtype), random(*shape, dtype=dtype, seed=5)
                        weight, before = random(shape[-1], dtype=dtype, seed=4), (x.clone(), residual.clone())
                        total = (x.double() + residual.double()).to(dtype)
                        y, scale, got = it.fused_add_rms_norm_quant(x, residual, weight, 1e-5, quant)
                        self.assertTrue(torch.equal(got, total))
                        self.expect_quantised(y, scale, normalised(total, weight), quant)
                        self.assertTrue(torch.equal(x, before[0]) and torch.equal(residual, before[1]))
        self.assertEqual(it.stats(), {"launches": {"fused_add_rms_norm_quant": 3 * 3 * 2}, "fallbacks": {}})

    def test_quantised_views(self):
        wide, other = random(12, 300), random(12, 96, seed=1)
        for quant in QUANTS:
            for view in (wide[:, :64], wide[2:9, 3:99], wide[::2, :96]):
                y, scale = it.rms_norm_quant(view, None, 1e-5, quant)
                self.expect_quantised(y, scale, normalised(view, None), quant)
            x = wide[:, 8:104]
            y, scale, total = it.fused_add_rms_norm_quant(x, other, None, 1e-5, quant)
            self.assertTrue(torch.equal(total, x + other))
            self.expect_quantised(y, scale, normalised(total, None), quant)
        self.assertEqual(it.stats(), {"launches": {"rms_norm_quant": 9, "fused_add_rms_norm_quant": 3},
                                      "fallbacks": {}})

    def both(self, call):
        """What the kernel makes, and what ATen."""
        ours = call()
        it.configure(address="unix:/nowhere/s")
        try:
            return ours, call()
        finally:
            it.configure(address=self.address)

    def test_aten_computes_the_same_contract(self):
        for quant in QUANTS:
            for dtype in torch_cases.UNIT:
                x, residual = random(4, 96, dtype=dtype), random(4, 96, dtype=dtype, seed=1)
                weight = random(96, dtype=torch.float32, seed=2)
                ours, theirs = self.both(lambda: it.fused_add_rms_norm_quant(x, residual, weight, 1e-5, quant))
                self.assertTrue(torch.equal(ours[2], theirs[2]))
                self.expect_quantised(*theirs[:2], normalised(theirs[2], weight), quant)
                wide = random(4, 192, dtype=dtype)
                y, scale = it.rms_norm_quant(wide[:, ::2], weight, 1e-5, quant)
                self.expect_quantised(y, scale, normalised(wide[:, ::2], weight), quant)
        self.assertEqual(it.stats(), {"launches": {"fused_add_rms_norm_quant": 9},
                                      "fallbacks": {("fused_add_rms_norm_quant", "unavailable"): 9,
                                                    ("rms_norm_quant", "strides"): 9}})

    def test_ties_go_to_even_and_zeros_have_a_scale(self):
        # Rows of ones are divided by one: y is the weight. Of zeros: zero.
        for quant in QUANTS:
            sizes = SIZES[quant][:8 if quant == "mxfp4" else 127]
            middles = ((sizes[1:] + sizes[:-1]) / 2).float()
            n = 32 * -(-(len(middles) + 5) // 31)
            weight = torch.zeros(n)
            weight[::32] = LARGEST[quant]  # a scale of one
            places = [i for i in range(n) if i % 32][:len(middles)]
            weight[places] = middles
            x = torch.ones(2, n)
            x[1] = 0
            x[0, 1::2] = -1
            even = torch.tensor([low + low % 2 for low in range(len(middles))])
            sign = torch.tensor([place % 2 for place in places]) * len(SIZES[quant])
            for y, scale in self.both(lambda: it.rms_norm_quant(x, weight, 1e-30, quant)):
                self.assertEqual(factors_of(scale, quant, n)[0, 0].item(), 1)
                codes = codes_of(y, quant)
                self.assertEqual(codes[0, places].tolist(), (even + sign).tolist())
                self.assertEqual(codes[1].tolist(), [0] * n)
                if quant == "fp8_row":
                    self.assertTrue(0 < scale[1].item() < 1e-10)
                else:
                    self.assertEqual(scale.view(torch.uint8)[1].tolist(), [0] * (n // 32))

    def test_nan_reaches_what_shares_its_scale(self):
        for quant in QUANTS:
            for special in (float("nan"), float("inf"), -float("inf")):
                weight = torch.ones(96)
                weight[40] = special  # it does not reach the row by its sum
                for _, scale in self.both(lambda: it.rms_norm_quant(random(2, 96), weight, 1e-5, quant)):
                    if quant == "fp8_row":
                        self.assertFalse(scale.isfinite().any())
                    else:
                        self.assertEqual((scale.view(torch.uint8) == 255).tolist(), [[False, True, False]] * 2)

    def test_what_is_no_quantisation(self):
        for arguments in ((random(3, 64), None, 1e-6, "int8"), (random(3, 80), None, 1e-6, "mxfp8"),
                          (random(3, 16), None, 1e-6, "mxfp4"), (random(3, 0), None, 1e-6, "fp8_row")):
            with self.assertRaises(ValueError):
                torch.ops.ingot.rms_norm_quant(*arguments)
        with self.assertRaises(RuntimeError):
            torch.ops.ingot.rms_norm_quant(random(3, 64), random(65), 1e-6, "mxfp8")
        self.assertEqual(it.stats(), {"launches": {}, "fallbacks": {("rms_norm_quant", "weight"): 1}})

    def test_a_fallback_is_logged_once(self):
        with self.assertLogs("ingot.torch", "WARNING") as logs:
            it._runtime._logged.clear()
            for _ in range(2):
                it.rms_norm_quant(random(3, 64).double(), None, 1e-6, "mxfp4")
        self.assertEqual(len(logs.records), 1)
        self.assertEqual(it.stats(), {"launches": {}, "fallbacks": {("rms_norm_quant", "dtype"): 2}})
