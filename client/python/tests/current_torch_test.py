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
        self.assertEqual(ops.mm(meta(3, 4, dtype=torch.float16), meta(4, 5, dtype=torch.float16)).dtype, torch.float16)

    def test_compile_of_a_module_is_one_graph(self):
        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.up = torch.nn.Parameter(random(96, 64, seed=5))
                self.down = torch.nn.Parameter(random(64, 96, seed=6))
                self.norm = torch.nn.Parameter(random(64, seed=7))

            def forward(self, x):
                h = torch.ops.ingot.rms_norm(x, self.norm, 1e-6)
                h = torch.ops.ingot.linear(h, self.up, None, "silu")
                return x + torch.ops.ingot.linear(h, self.down)

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
