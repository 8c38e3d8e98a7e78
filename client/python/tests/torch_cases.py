"""Cases of ingot.torch that any PyTorch must pass: CPU tensors on the emulated
device, against sums in f64. Run by torch_emulator_test.py with the
distribution's PyTorch and by current_torch_test.py with a newer one."""

import dataclasses
import importlib
import os
import unittest
from unittest import mock

import fixture

os.environ["INGOT_TORCH_EMULATOR"] = "1"

import ingot  # noqa: E402
import ingot.torch as it  # noqa: E402
import torch  # noqa: E402

UNIT = {torch.float32: 2**-24, torch.float16: 2**-11, torch.bfloat16: 2**-8}
# Of the activations, and what their f32 evaluation adds.
LIPSCHITZ = {"none": 1, "relu": 1, "gelu_erf": 1.13, "gelu_tanh": 1.13, "silu": 1.1}


def reference_act(act, x):
    return {"none": lambda: x, "relu": lambda: x.relu(), "silu": lambda: x * torch.sigmoid(x),
            "gelu_erf": lambda: 0.5 * x * (1 + torch.erf(x / 2**0.5)),
            "gelu_tanh": lambda: 0.5 * x * (1 + torch.tanh((2 / torch.pi)**0.5 * (x + 0.044715 * x**3)))}[act]()


def random(*shape, dtype=torch.bfloat16, seed=0):
    generator = torch.Generator().manual_seed(seed + 1000 * sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float32).to(dtype)


class OperatorTest(fixture.DaemonTest):
    """A daemon that ingot.torch asks, and what every test of operators needs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import ingot.torch.emulator  # noqa: F401

        it.configure(address=cls.address)

    @classmethod
    def tearDownClass(cls):
        it.configure(address="unix:/nowhere/s")
        super().tearDownClass()

    def setUp(self):
        it._runtime.launches.clear()
        it._runtime.fallbacks.clear()

    def expect_ours(self, op, count=1):
        self.assertEqual(it.stats(), {"launches": {op: count}, "fallbacks": {}})

    def expect_near(self, got, want, sums, k, act="none"):
        """`sums`: of the products' sizes, and of what is added to them."""
        self.assertEqual(got.shape, want.shape)
        wide = got.double()
        lipschitz = LIPSCHITZ[act]
        bound = (UNIT[got.dtype] * want.abs() + lipschitz * 4 * max(k, 1)**0.5 * 2**-24 * sums + 2**-20 * want.abs() +
                 2**-25)
        worst = ((wide - want).abs() - bound).max().item() if got.numel() else -1
        self.assertLessEqual(worst, 0)


class TorchCases(OperatorTest):
    def check_mm(self, a, b):
        got = torch.ops.ingot.mm(a, b)
        wa, wb = a.double(), b.double()
        self.expect_near(got, wa @ wb, wa.abs() @ wb.abs(), a.shape[1])

    def test_mm_of_every_layout_and_dtype(self):
        for dtype in (torch.bfloat16, torch.float16):
            for m, n, k in ((1, 1, 1), (3, 17, 33), (65, 40, 64), (16, 72, 200)):
                a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype, seed=1)
                for left in (a, a.t().contiguous().t()):
                    for right in (b, b.t().contiguous().t()):
                        with self.subTest(dtype=dtype, m=m, n=n, k=k):
                            self.check_mm(left, right)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_mm_of_views(self):
        wide = random(40, 100)
        self.check_mm(wide[3:20, 8:72], random(64, 24, seed=1))
        self.check_mm(wide[3:20, 5:70], random(100, 30, seed=1)[7:72, 2:27])  # rows start anywhere
        self.check_mm(wide[:, 1:65], random(48, 64, seed=1).t())
        self.check_mm(wide[4, :].unsqueeze(0), random(100, 8, seed=1))
        self.assertEqual(it.stats(), {"launches": {"mm": 4}, "fallbacks": {}})

    def test_empty_results(self):
        for m, n, k in ((0, 8, 8), (8, 0, 8), (0, 0, 4)):
            self.assertEqual(torch.ops.ingot.mm(random(m, k), random(k, n)).shape, (m, n))
        self.assertEqual(torch.ops.ingot.rms_norm(random(0, 8), None, 1e-6).shape, (0, 8))
        got = torch.ops.ingot.mm(random(3, 0), random(0, 5))
        self.assertEqual(got.tolist(), [[0.0] * 5] * 3)

    def test_addmm(self):
        a, b = random(9, 48), random(48, 24, seed=1)
        for c, alpha, beta in ((random(24), 1, 1), (random(24), 0.5, 1), (random(9, 24), 2, 0.25),
                               (random(24), 1, -3), (random(9, 48)[:, 8:32], 1, 1)):
            with self.subTest(c=c.shape, alpha=alpha, beta=beta):
                got = torch.ops.ingot.addmm(c, a, b, beta=beta, alpha=alpha)
                want = alpha * (a.double() @ b.double()) + beta * c.double()
                sums = abs(alpha) * (a.double().abs() @ b.double().abs()) + (beta * c.double()).abs()
                self.expect_near(got, want, sums, 48)
        # A row that is scaled and added to every row is neither a bias nor c.
        self.assertEqual(it.stats(), {"launches": {"addmm": 4}, "fallbacks": {("addmm", "strides"): 1}})

    def test_linear(self):
        weight, bias = random(40, 64, seed=2), random(40, seed=3)
        for shape in ((64,), (5, 64), (2, 3, 64), (0, 64)):
            for b in (None, bias):
                for act in LIPSCHITZ:
                    with self.subTest(shape=shape, bias=b is not None, act=act):
                        x = random(*shape)
                        got = torch.ops.ingot.linear(x, weight, b, act)
                        before = x.double() @ weight.double().t()
                        sums = x.double().abs() @ weight.double().abs().t()
                        if b is not None:
                            before, sums = before + b.double(), sums + b.double().abs()
                        self.expect_near(got, reference_act(act, before), sums, 64, act)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_rms_norm(self):
        for dtype in UNIT:
            for shape in ((1,), (3, 77), (2, 5, 256), (4, 1000)):
                for weight in (None, random(shape[-1], dtype=dtype, seed=4), random(shape[-1], dtype=torch.float32)):
                    with self.subTest(dtype=dtype, shape=shape, weight=weight is not None):
                        x = random(*shape, dtype=dtype)
                        got = torch.ops.ingot.rms_norm(x, weight, 1e-5)
                        wide = x.double()
                        want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
                        want = want if weight is None else want * weight.double()
                        self.expect_near(got, want, want.abs(), 1)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_rms_norm_of_views(self):
        x = random(12, 200)
        for view in (x[:, :64], x[2:9, 3:80], x[::2, :96]):
            got = torch.ops.ingot.rms_norm(view, None, 1e-6)
            wide = view.double()
            want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
            self.expect_near(got, want, want.abs(), 1)
        self.expect_ours("rms_norm", 3)

    def test_fused_add_rms_norm(self):
        for dtype in UNIT:
            for shape in ((1,), (3, 77), (2, 5, 256), (4, 1000), (0, 64)):
                for weight in (None, random(shape[-1], dtype=dtype, seed=4), random(shape[-1], dtype=torch.float32)):
                    with self.subTest(dtype=dtype, shape=shape, weight=weight is not None):
                        x, residual = random(*shape, dtype=dtype), random(*shape, dtype=dtype, seed=5)
                        total = (x.double() + residual.double()).to(dtype)  # exact before it is rounded
                        wide = total.double()
                        want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
                        want = want if weight is None else want * weight.double()
                        got, got_total = torch.ops.ingot.fused_add_rms_norm(x, residual, weight, 1e-5)
                        self.expect_near(got, want, want.abs(), 1)
                        self.assertTrue(torch.equal(got_total, total))
                        torch.ops.ingot.fused_add_rms_norm_(x, residual, weight, 1e-5)
                        self.assertTrue(torch.equal(x, got) and torch.equal(residual, total))
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_fused_add_rms_norm_of_views(self):
        wide, other = random(12, 200), random(12, 96, seed=1)
        before = wide.clone()
        x = wide[:, 8:104]
        got, total = torch.ops.ingot.fused_add_rms_norm(x, other, None, 1e-6)
        self.assertTrue(torch.equal(total, x + other) and got.is_contiguous())
        torch.ops.ingot.fused_add_rms_norm_(x, other, None, 1e-6)
        self.assertTrue(torch.equal(x, got) and torch.equal(other, total))
        # What lies between the rows of a view is not touched.
        self.assertTrue(torch.equal(wide[:, :8], before[:, :8]) and torch.equal(wide[:, 104:], before[:, 104:]))
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_fused_add_rms_norm_is_what_aten_does_where_it_falls_back(self):
        x, residual, weight = random(4, 64), random(4, 64, seed=1), random(64, seed=2)
        got, total = torch.ops.ingot.fused_add_rms_norm(x, residual, weight, 1e-6)
        it.configure(address="unix:/nowhere/s")
        try:
            theirs, their_total = torch.ops.ingot.fused_add_rms_norm(x, residual, weight, 1e-6)
            torch.ops.ingot.fused_add_rms_norm_(x, residual, weight, 1e-6)
        finally:
            it.configure(address=self.address)
        self.assertEqual(it.stats()["fallbacks"], {("fused_add_rms_norm", "unavailable"): 1,
                                                   ("fused_add_rms_norm_", "unavailable"): 1})
        self.assertTrue(torch.equal(total, their_total) and torch.equal(x, theirs) and torch.equal(residual, total))
        self.assertTrue(torch.allclose(got.float(), theirs.float(), rtol=2**-7, atol=1e-3))

    def test_silu_mul(self):
        for dtype in UNIT:
            for shape in ((2,), (3, 154), (2, 5, 256), (4, 3000), (0, 64)):
                for act in ("silu", "gelu_tanh", "gelu_erf"):
                    for interleaved in (False, True):
                        with self.subTest(dtype=dtype, shape=shape, act=act, interleaved=interleaved):
                            x = random(*shape, dtype=dtype)
                            got = torch.ops.ingot.silu_mul(x, act, interleaved)
                            wide = x.double()
                            n = shape[-1] // 2
                            gate, up = (wide[..., ::2], wide[..., 1::2]) if interleaved else (wide[..., :n], wide[..., n:])
                            self.expect_near(got, reference_act(act, gate) * up, gate.abs() * up.abs(), 1, act)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_silu_mul_of_views_and_of_what_is_not_for_us(self):
        wide = random(12, 300)
        x = wide[2:9, 16:208]
        got = torch.ops.ingot.silu_mul(x)
        self.expect_near(got, reference_act("silu", x[:, :96].double()) * x[:, 96:].double(),
                         (x[:, :96] * x[:, 96:]).abs().double(), 1, "silu")
        self.expect_ours("silu_mul")
        theirs = torch.ops.ingot.silu_mul(wide[:, ::2], "gelu_erf")
        self.assertEqual((theirs.shape, it.stats()["fallbacks"]), ((12, 75), {("silu_mul", "strides"): 1}))
        for arguments in ((random(3, 5),), (random(3, 6), "relu")):
            with self.assertRaises(ValueError):
                torch.ops.ingot.silu_mul(*arguments)

    def test_grouped_mm(self):
        for groups, ends, k, n in ((3, (5, 5, 17), 64, 40), (4, (0, 33, 34, 40), 72, 17), (1, (9,), 32, 8)):
            for transposed in (False, True):
                for bias in (None, random(groups, n, seed=8)):
                    with self.subTest(ends=ends, transposed=transposed, bias=bias is not None):
                        a = random(ends[-1] + 3, k)
                        b = random(groups, n, k, seed=1).transpose(1, 2) if transposed else random(groups, k, n, seed=1)
                        got = torch.ops.ingot.grouped_mm(a, b, torch.tensor(ends, dtype=torch.int32), bias)
                        want, sums = torch.zeros(2, *got.shape, dtype=torch.float64)
                        start = 0
                        for group, end in enumerate(ends):
                            rows, matrix = a[start:end].double(), b[group].double()
                            want[start:end], sums[start:end] = rows @ matrix, rows.abs() @ matrix.abs()
                            if bias is not None:
                                want[start:end] += bias[group].double()
                                sums[start:end] += bias[group].double().abs()
                            start = end
                        self.expect_near(got, want, sums, k)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_grouped_mm_of_nothing(self):
        offs = torch.zeros(3, dtype=torch.int32)
        self.assertEqual(torch.ops.ingot.grouped_mm(random(0, 16), random(3, 16, 8), offs).shape, (0, 8))
        got = torch.ops.ingot.grouped_mm(random(4, 16), random(3, 16, 8), offs)
        self.assertEqual(got.abs().sum().item(), 0)

    def test_grouped_mm_agrees_with_what_aten_does(self):
        a, b = random(20, 32), random(3, 32, 16, seed=1)
        offs = torch.tensor([4, 4, 20], dtype=torch.int32)
        ours = torch.ops.ingot.grouped_mm(a, b, offs, None, "silu")
        theirs = it._ops.aten_grouped_mm(a, b, offs, None, "silu")
        # Old ATen sums bf16 products in bf16.
        self.assertTrue(torch.allclose(ours.float(), theirs.float(), rtol=2**-5, atol=0.05))

    def test_nan_and_infinity_go_where_the_formula_sends_them(self):
        a = random(4, 32)
        a[1, 3], a[2, 5] = float("nan"), float("inf")
        b = random(32, 8, seed=1)
        got = torch.ops.ingot.mm(a, b)
        self.assertTrue(got[1].isnan().all())
        self.assertTrue(got[2].isinf().all())
        self.assertTrue(got[0].isfinite().all() and got[3].isfinite().all())

    def test_a_known_spec_asks_nobody(self):
        a, b = random(7, 64), random(64, 32, seed=1)
        torch.ops.ingot.mm(a, b)
        client = it._runtime.client()
        calls = client.stats()["calls"]
        for m in (1, 2, 50):
            torch.ops.ingot.mm(random(m, 64), b)
        self.assertEqual(client.stats()["calls"], calls)
        self.expect_ours("mm", 4)

    def test_what_is_not_for_us_is_left_to_aten_and_counted(self):
        with self.assertLogs("ingot.torch", "WARNING") as logs:
            it._runtime._logged.clear()
            got = torch.ops.ingot.mm(random(4, 8, dtype=torch.float32), random(8, 4, dtype=torch.float32))
            torch.ops.ingot.mm(random(4, 8, dtype=torch.float32), random(8, 4, dtype=torch.float32))
            strided = random(8, 16)[:, ::2]
            torch.ops.ingot.mm(strided, random(8, 4))
        self.assertEqual(got.shape, (4, 4))
        self.assertEqual(it.stats(), {"launches": {}, "fallbacks": {("mm", "dtype"): 2, ("mm", "strides"): 1}})
        self.assertEqual(len(logs.records), 2)

    def test_bad_input_is_atens_own_error(self):
        for call in (lambda: torch.ops.ingot.mm(random(4, 8), random(9, 4)),
                     lambda: torch.ops.ingot.mm(random(8), random(8, 4)),
                     lambda: torch.ops.ingot.addmm(random(3), random(4, 8), random(8, 4)),
                     lambda: torch.ops.ingot.linear(random(4, 8), random(4, 9)),
                     lambda: torch.ops.ingot.linear(random(4, 8), random(4, 8), random(5)),
                     lambda: torch.ops.ingot.grouped_mm(random(4, 8), random(2, 9, 4), torch.zeros(2).int()),
                     lambda: torch.ops.ingot.rms_norm(random(4, 8), random(9), 1e-6)):
            with self.assertRaises((RuntimeError, IndexError)):
                call()
        with self.assertRaises(ValueError) as raised:
            torch.ops.ingot.linear(random(4, 8), random(4, 8), None, "swish")
        self.assertIn("found 'swish', allowed none, relu", str(raised.exception))

    def test_tensors_of_another_device_are_not_for_us(self):
        # As a production process sees tensors of the CPU.
        runtime = importlib.import_module("ingot.torch._runtime")
        device = runtime.Device()
        with mock.patch.object(it._runtime, "device", device):
            got = torch.ops.ingot.mm(random(4, 8), random(8, 4))
        self.assertEqual(got.shape, (4, 4))
        self.assertEqual(it.stats(), {"launches": {}, "fallbacks": {("mm", "device"): 1}})

    def test_gradients_are_atens(self):
        x = random(4, 8, dtype=torch.float32).requires_grad_()
        weight = random(3, 8, dtype=torch.float32, seed=1)
        it.linear(x, weight).sum().backward()
        self.assertTrue(torch.allclose(x.grad, weight.sum(0).expand(4, 8)))
        self.assertEqual(it.stats()["fallbacks"], {("linear", "gradient"): 1})
        with torch.no_grad():
            it.linear(x.bfloat16(), weight.bfloat16())
        self.assertEqual(it.stats()["launches"], {"linear": 1})

    def test_enable_and_disable(self):
        functional = torch.nn.functional
        originals = functional.linear, torch.mm, torch.addmm
        model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.SiLU(), torch.nn.Linear(32, 8)).bfloat16()
        x = random(5, 64)
        with torch.no_grad():
            want = model(x)
            it.enable()
            it.enable()
            try:
                got = model(x)
                torch.mm(x, x.t())
                torch.addmm(random(5), x, x.t())
            finally:
                it.disable()
        self.assertEqual(it.stats(), {"launches": {"linear": 2, "mm": 1, "addmm": 1}, "fallbacks": {}})
        self.assertTrue(torch.allclose(got.float(), want.float(), atol=0.05, rtol=0.05))
        self.assertEqual((functional.linear, torch.mm, torch.addmm), originals)

    def test_launches_that_are_repeated(self):
        weight, bias = random(40, 64, seed=2), random(40, seed=3)
        for seed in range(3):
            x = random(2, 3, 64, seed=seed)
            got = torch.ops.ingot.linear(x, weight, bias, "relu")
            before = x.double() @ weight.double().t() + bias.double()
            sums = x.double().abs() @ weight.double().abs().t() + bias.double().abs()
            self.expect_near(got, before.relu(), sums, 64, "relu")
            self.check_mm(x[0], weight.t())
            # Rows in another order are copied first, elsewhere each time.
            swapped = random(3, 2, 64, seed=seed).transpose(0, 1)
            got = torch.ops.ingot.linear(swapped, weight)
            self.expect_near(got, swapped.double() @ weight.double().t(),
                             swapped.double().abs() @ weight.double().abs().t(), 64)
            self.check_mm(random(40, 64, seed=seed)[:, 1:], random(63, 16))  # no 16 bytes
            got = torch.ops.ingot.addmm(bias, x[0], weight.t(), alpha=0.5)
            self.expect_near(got, 0.5 * (x[0].double() @ weight.double().t()) + bias.double(), sums[0], 64)
            got = torch.ops.ingot.rms_norm(x, weight[seed], 1e-6)
            want = x.double() / (x.double().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * weight[seed].double()
            self.expect_near(got, want, want.abs(), 1)
        self.assertEqual(it.stats(), {"launches": {"linear": 6, "mm": 6, "addmm": 3, "rms_norm": 3}, "fallbacks": {}})
        with mock.patch.object(it._gemm, "gemm") as gemm:
            torch.ops.ingot.linear(random(2, 3, 64), weight, bias, "relu")
            gemm.assert_not_called()
        it.configure(address=self.address)
        with mock.patch.object(it._gemm, "gemm", side_effect=it._gemm.gemm) as gemm:
            torch.ops.ingot.linear(random(2, 3, 64), weight, bias, "relu")
            gemm.assert_called_once()

    def served_times(self, times):
        """Measures as ever, and reports these times, by the order of handles."""
        measure, times = ingot.Launch.measure, iter(times)
        return mock.patch.object(ingot.Launch, "measure", lambda launch, *more, **options: dataclasses.replace(
            measure(launch, *more, **options), median_us=next(times)))

    def test_autotune(self):
        a, b = random(33, 64), random(64, 48, seed=1)
        torch.ops.ingot.mm(a, b)
        before, = [p.epoch for p in it._runtime._prepared.values() if p.spec.dims["n"] == 48]
        # The plan in force first, then candidates as they come.
        with self.served_times([20.0, 9.0, 4.0, 8.0, 7.0]):
            tuned, = it.autotune(torch.ops.ingot.mm, a, b, limit=4, runs=2, warm_up=1, buffers=2)
        self.assertEqual([trial.problem for trial in tuned.trials], [""] * 4)
        self.assertIs(tuned.winner, tuned.trials[1])
        self.assertGreater(tuned.epoch, before)
        self.check_mm(a, b)
        after, = [p for p in it._runtime._prepared.values() if p.spec.dims["n"] == 48]
        self.assertEqual(after.epoch, tuned.epoch)
        # For 33 to 64 rows; others keep their kernels.
        wanted = it._runtime.client().prepare(dataclasses.replace(after.spec, tuning=tuned.winner.tuning))
        kernels = {kernel.key for kernel in after.kernels()}
        self.assertLess({kernel.key for kernel in wanted.kernels()}, kernels)
        self.assertEqual(it.stats()["fallbacks"], {})

    def test_autotune_leaves_tensors_and_wrong_results_alone(self):
        x, weight = random(5, 192), random(192, seed=1)
        run = it._autotune._Problem.run
        calls = []

        def wrong(problem, prepared):
            results, measured = run(problem, prepared)
            calls.append(prepared)
            if len(calls) == 2:
                results[0][3, 7] += 1
            return results, measured

        x_before = x.clone()
        with mock.patch.object(it._autotune._Problem, "run", wrong), self.served_times([20.0, 1.0, 5.0, 6.0, 7.0, 8.0]):
            tuned, = it.autotune(lambda: torch.ops.ingot.rms_norm(x, weight, 1e-6), runs=1)
        self.assertIn("output 0 at (3, 7): found", tuned.trials[0].problem)
        self.assertIs(tuned.winner, tuned.trials[1])
        self.assertTrue(torch.equal(x, x_before))
        self.assertEqual(it.stats()["launches"], {"rms_norm": 1})
        # The tuned operator is the plan's of 5 to 8 rows from now on.
        got = torch.ops.ingot.rms_norm(x, weight, 1e-6)
        wide = x.double()
        want = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double()
        self.expect_near(got, want, want.abs(), 1)

    def test_without_a_daemon_aten_does_it_until_one_is_back(self):
        a, b = random(4, 96), random(96, 8, seed=1)
        it.configure(address="unix:/nowhere/s")
        try:
            got = torch.ops.ingot.mm(a, b)
            torch.ops.ingot.mm(a, b)
        finally:
            it.configure(address=self.address)
        self.assertTrue(torch.equal(got, torch.mm(a, b)))
        self.assertEqual(it.stats()["fallbacks"], {("mm", "unavailable"): 2})
        torch.ops.ingot.mm(a, b)
        self.assertEqual(it.stats()["launches"], {"mm": 1})
