"""Launches through the package on the emulated device, against sums in f64."""

import math
import threading
import unittest

import fixture
import ingot
from fixture import POISON, UNIT, Buffer, pack, random_floats, rmsnorm_spec, unpack


def size_of(dtype):
    return 4 if dtype == "f32" else 2


class LaunchTest(fixture.DaemonTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = ingot.Client(cls.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def expect_rmsnorm(self, got, x, weight, rows, n, eps, dtype):
        for r in range(rows):
            row = x[r * n:(r + 1) * n]
            scale = 1 / math.sqrt(math.fsum(v * v for v in row) / n + eps)
            for i in range(n):
                want = row[i] * scale * weight[i]
                self.assertLessEqual(abs(got[r * n + i] - want), (UNIT[dtype] + 2**-20) * abs(want) + 2**-25, (r, i))

    def rmsnorm(self, prepared, dtype, rows, n, eps=1e-5, seed=1, stream=0):
        x = unpack(dtype, pack(dtype, random_floats(rows * n, seed)))
        weight = unpack(dtype, pack(dtype, random_floats(n, seed + 1)))
        buffers = [Buffer(pack(dtype, x)), Buffer(pack(dtype, weight)), Buffer(POISON * rows * n * size_of(dtype))]
        prepared.launch({"rows": rows, "n": n}, [b.pointer for b in buffers], scalars={"eps": eps}, stream=stream)
        self.expect_rmsnorm(unpack(dtype, buffers[2].read()), x, weight, rows, n, eps, dtype)

    def test_rmsnorm_of_every_dtype_at_odd_sizes(self):
        for dtype in ("f32", "f16", "bf16"):
            for rows, n in ((1, 1), (3, 77), (5, 256), (2, 1000)):
                with self.subTest(dtype=dtype, rows=rows, n=n):
                    self.rmsnorm(self.client.prepare(rmsnorm_spec(n, dtype)), dtype, rows, n)

    def gemm(self, m, n, k, pad=0):
        """With rows of b that are `pad` elements longer than needed."""
        spec = ingot.Spec("gemm", dims={"m": ingot.ANY, "n": n, "k": k},
                          operands={"a": "bf16", "b": ingot.Operand("bf16", strides=ingot.DYNAMIC), "d": "f32"},
                          attrs={"layout": "nt"})
        prepared = self.client.prepare(spec)
        a = unpack("bf16", pack("bf16", random_floats(m * k, 3)))
        b = unpack("bf16", pack("bf16", random_floats(n * (k + pad), 4)))
        buffers = [Buffer(pack("bf16", a)), Buffer(pack("bf16", b)), Buffer(POISON * m * n * 4)]
        dims = {"m": m, "n": n, "k": k}
        workspace = Buffer(POISON * prepared.workspace_bytes(dims)) if prepared.workspace_bytes(dims) else None
        prepared.launch(dims, dict(zip("abd", (x.pointer for x in buffers))), strides={"b": [k + pad, 1]},
                        scalars={"alpha": 0.5}, workspace=(workspace.pointer, workspace.size) if workspace else (0, 0))
        got = unpack("f32", buffers[2].read())
        for i in range(m):
            for j in range(n):
                products = [a[i * k + t] * b[j * (k + pad) + t] for t in range(k)]
                bound = 2**-22 * math.sqrt(k) * math.fsum(map(abs, products)) + 2**-24
                self.assertLessEqual(abs(got[i * n + j] - 0.5 * math.fsum(products)), bound, (i, j))

    def test_gemm_with_strides_of_the_launch(self):
        self.gemm(5, 17, 40)
        self.gemm(33, 24, 72, pad=8)

    def test_arguments_can_be_used_again(self):
        prepared = self.client.prepare(rmsnorm_spec(64))
        arguments = prepared.arguments()
        x, weight = random_floats(4 * 64, 5), [1.0] * 64
        inputs = [Buffer(pack("f32", x)), Buffer(pack("f32", weight))]
        x = unpack("f32", pack("f32", x))
        for rows in (1, 4, 2):
            out = Buffer(POISON * rows * 64 * 4)
            arguments.dims[:] = [rows, 64]
            arguments.operands[:] = [inputs[0].pointer, inputs[1].pointer, out.pointer]
            arguments.set_scalars([1e-6])
            self.assertEqual(arguments.workspace_bytes(), 0)
            arguments()
            self.expect_rmsnorm(unpack("f32", out.read()), x, weight, rows, 64, 1e-6, "f32")

    def test_streams_and_threads(self):
        prepared = self.client.prepare(rmsnorm_spec(128))
        problems = []

        def work(seed):
            try:
                self.rmsnorm(prepared, "f32", 1 + seed % 3, 128, seed=seed)
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    def test_no_rows_is_no_launch(self):
        prepared = self.client.prepare(rmsnorm_spec(64))
        x = Buffer(POISON * 256)
        with self.assertRaises(ingot.InvalidArgument) as raised:
            prepared.launch([0, 64], [x.pointer] * 3)
        self.assertIn("rows: found 0", str(raised.exception))

    def test_bad_arguments_are_named(self):
        prepared = self.client.prepare(rmsnorm_spec(64))
        x = Buffer(POISON * 1024)
        good = [x.pointer] * 3
        cases = [
            (([1], good), {}, "dims: found 1, allowed 2: rows, n"),
            (([1, 65], good), {}, "n: found 65"),
            ((["one", 64], good), {}, "dims, rows: found 'one'"),
            (({"rows": 1}, good), {}, "dims: found rows, allowed rows, n"),
            (([1, 64], good[:2]), {}, "operands: found 2, allowed 3"),
            (([1, 64], [x.pointer, 0, x.pointer]), {}, "weight"),
            (([1, 64], [x.pointer, None, x.pointer]), {}, "weight"),
            (([1, 64], [x.pointer + 1, x.pointer, x.pointer]), {}, "x"),
            (([1, 64], good), {"strides": {"z": [64, 1]}}, "strides: found 'z'"),
            (([1, 64], good), {"scalars": {"epsilon": 1}}, "scalars: found epsilon, allowed eps"),
        ]
        for arguments, more, text in cases:
            with self.subTest(text):
                with self.assertRaises(ingot.InvalidArgument) as raised:
                    prepared.launch(*arguments, **more)
                self.assertIn(text, str(raised.exception))
        self.assertEqual(x.read(), POISON * 1024)


if __name__ == "__main__":
    unittest.main()
