"""The client against a daemon, without one, and while either goes away."""

import dataclasses
import multiprocessing
import os
import threading
import time
import unittest

import fixture
import ingot
from fixture import rmsnorm_spec

os.environ["INGOT_HIP_LIBRARY"] = "/nowhere/libhip.so"


class NoDaemonTest(unittest.TestCase):
    def test_preparing_fails_soon_and_by_its_class(self):
        with ingot.Client("unix:/nowhere/s") as client:
            with self.assertRaises(ingot.Unavailable) as raised:
                client.prepare(rmsnorm_spec(64))
            self.assertIn("/nowhere/s", str(raised.exception))
            self.assertIsInstance(raised.exception, ConnectionError)
            self.assertEqual(client.stats()["prepare_calls"], 1)

    def test_bad_options_are_refused(self):
        for options, text in [(dict(address="what is this"), "what is this"), (dict(target="gfx942"), "gfx942"),
                              (dict(signature_policy="maybe"), "found 'maybe', allowed None, off"),
                              (dict(trusted_keys="/nowhere/keys"), "/nowhere/keys")]:
            with self.subTest(text):
                with self.assertRaises(ingot.IngotError) as raised:
                    ingot.Client(**options)
                self.assertIn(text, str(raised.exception))


class ClientTest(fixture.DaemonTest):
    def setUp(self):
        self.client = ingot.Client(self.address)
        self.addCleanup(self.client.close)

    def test_prepares_and_describes(self):
        prepared = self.client.prepare(rmsnorm_spec(96))
        self.assertEqual(prepared.dims, ("rows", "n"))
        self.assertEqual(prepared.operands, ("x", "weight", "y"))
        self.assertIn("eps", prepared.scalars)
        self.assertEqual(prepared.spec_digest, rmsnorm_spec(96).digest())
        kernel = prepared.kernels()[0]
        self.assertIn("rmsnorm", kernel.symbol)
        self.assertEqual(kernel.target, "gfx950")
        self.assertEqual(kernel.code_object[:4], b"\x7fELF")
        self.assertEqual(kernel.scratch_bytes, 0)
        calls = self.client.stats()["calls"]
        self.client.prepare(rmsnorm_spec(96))
        self.assertEqual(self.client.stats()["calls"], calls)

    def test_what_is_fetched_can_be_chosen(self):
        plan = self.client.prepare(rmsnorm_spec(160), fetch="plan")
        with self.assertRaises(ingot.NotFound):
            plan.kernels()
        with self.assertRaises(ingot.InvalidArgument):
            self.client.prepare(rmsnorm_spec(160), fetch="some")

    def test_the_daemons_refusals_are_exceptions(self):
        with self.assertRaises(ingot.InvalidArgument):
            self.client.prepare(rmsnorm_spec(0))
        with self.assertRaises(ingot.Unimplemented) as raised:
            self.client.prepare(ingot.Spec("fft", dims={}, operands={}))
        self.assertIn("fft", str(raised.exception))

    def test_bad_specs_are_named(self):
        def changed(**fields):
            return dataclasses.replace(rmsnorm_spec(64), **fields)

        operands = {"x": "f32", "weight": "f32", "y": "f32"}
        cases = [
            (changed(operands={**operands, "x": "f33"}), "f33"),
            (changed(operands={**operands, "x": ingot.Operand("f32", strides=[1, 2, 3])}), "1, 2, 3"),
            (changed(operands={**operands, "y": ingot.Operand("f32", alignment=3)}), "alignment"),
            (changed(operands={"x": "f32"}), "operand y"),
            (changed(attrs={"newer": True}), "newer"),
            (changed(dims={"rows": ingot.ANY, "n": 64, "newer": 1}), "newer"),
            (changed(dims={"rows": ingot.Range(8, 4), "n": 64}), "rows"),
            (changed(target="gfx942"), "gfx942"),
            (changed(target="gfx950:newer+"), "newer"),
            (changed(tuning={"threads": 65}), "65"),
            (changed(op=None), "op: found None"),
            (changed(dims={"rows": 1.5, "n": 64}), "dim rows: found 1.5"),
        ]
        for spec, text in cases:
            for call in (self.client.prepare, self.client.candidates):
                with self.subTest(text, call=call.__name__):
                    with self.assertRaises((ingot.InvalidArgument, ingot.Unimplemented)) as raised:
                        call(spec)
                    self.assertIn(text, str(raised.exception))

    def test_many_at_once(self):
        specs = [rmsnorm_spec(32), rmsnorm_spec(0), rmsnorm_spec(48)]
        good, bad, other = self.client.prepare_many(specs)
        self.assertIsInstance(good, ingot.Prepared)
        self.assertIsInstance(bad, ingot.InvalidArgument)
        self.assertIn("n", str(bad))
        self.assertIsInstance(other, ingot.Prepared)
        self.assertEqual(self.client.prepare_many([]), [])

    def test_without_a_gpu_a_launch_says_so(self):
        prepared = self.client.prepare(rmsnorm_spec(64))
        with self.assertRaises(ingot.FailedPrecondition):
            prepared.launch([1, 64], [256, 256, 256])

    def test_a_closed_client_is_named_and_what_it_prepared_lives(self):
        client = ingot.Client(self.address)
        prepared = client.prepare(rmsnorm_spec(64))
        client.close()
        client.close()
        with self.assertRaises(ingot.InvalidArgument) as raised:
            client.prepare(rmsnorm_spec(64))
        self.assertIn("closed", str(raised.exception))
        self.assertEqual(prepared.workspace_bytes({"rows": 4, "n": 64}), 0)

    def test_what_the_daemon_says_of_itself(self):
        self.assertIn("rmsnorm", [op["name"] for op in self.client.capabilities()["ops"]])
        self.assertGreaterEqual(self.client.daemon_stats()["entries"], 0)

    def test_threads_share_a_client(self):
        problems = []

        def work(seed):
            try:
                for n in range(200, 208):
                    self.client.prepare(rmsnorm_spec(n + seed % 2))
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    def test_closing_waits_for_calls(self):
        client = ingot.Client(self.address)
        outcome = []

        def work():
            try:
                outcome.append(client.prepare(rmsnorm_spec(1000), fetch_bytes=False))
            except ingot.InvalidArgument as error:
                outcome.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.01)
        client.close()
        thread.join()
        self.assertEqual(len(outcome), 1)

    def test_other_threads_run_during_a_call(self):
        running = threading.Event()
        done = threading.Event()

        def count():
            counts = 0
            running.set()
            while not done.is_set():
                counts += 1
            self.counts = counts

        thread = threading.Thread(target=count)
        thread.start()
        running.wait()
        # A cold compile takes tens of milliseconds; with the lock held nobody
        # would count.
        self.client.prepare(rmsnorm_spec(4999), fetch_bytes=False)
        done.set()
        thread.join()
        self.assertGreater(self.counts, 1000)

    def test_children_of_a_fork_go_on(self):
        self.client.prepare(rmsnorm_spec(64))
        context = multiprocessing.get_context("fork")
        queue = context.Queue()

        def child(number):
            try:
                known = self.client.prepare(rmsnorm_spec(64))
                new = self.client.prepare(rmsnorm_spec(300 + number))
                queue.put((known.operands, new.kernels()[0].code_object[:4]))
            except Exception as error:
                queue.put(repr(error))

        children = [context.Process(target=child, args=(i,)) for i in range(4)]
        for process in children:
            process.start()
        answers = [queue.get(timeout=120) for _ in children]
        for process in children:
            process.join(60)
        self.assertEqual(answers, [(("x", "weight", "y"), b"\x7fELF")] * 4)
        self.client.prepare(rmsnorm_spec(350))


class LostDaemonTest(fixture.DaemonTest):
    def test_it_comes_back(self):
        with ingot.Client(self.address) as client:
            client.prepare(rmsnorm_spec(64))
            self.stop()
            with self.assertRaises(ingot.Unavailable):
                client.prepare(rmsnorm_spec(65))
            client.prepare(rmsnorm_spec(64))
            self.start()
            client.prepare(rmsnorm_spec(65))


if __name__ == "__main__":
    unittest.main()
