"""Candidates, measuring, and the search for the best, on the emulated device,
whose times mean nothing: what is held is that every candidate is launched and
checked, and that the winner is what is served afterwards."""

import dataclasses
import unittest
from unittest import mock

import fixture
import ingot
from fixture import POISON, Buffer, pack, random_floats, rmsnorm_spec

N = 512
ROWS = 3


def served_times(times, default):
    """Measures as ever, and reports `times` by the value of `threads`."""
    measure = ingot.Launch.measure

    def measured(launch, *more, **options):
        real = measure(launch, *more, **options)
        threads = launch._owner.spec.tuning.get("threads")
        return dataclasses.replace(real, median_us=times.get(threads, default))

    return mock.patch.object(ingot.Launch, "measure", measured)


class AutotuneTest(fixture.DaemonTest):
    def setUp(self):
        self.client = ingot.Client(self.address)
        self.addCleanup(self.client.close)
        self.spec = rmsnorm_spec(N)

    def buffers(self):
        return {"x": Buffer(pack("f32", random_floats(ROWS * N, 1))), "weight": Buffer(pack("f32", random_floats(N, 2))),
                "y": Buffer(POISON * ROWS * N * 4)}

    def autotune(self, buffers, *more, **options):
        sets = [{name: buffer.pointer for name, buffer in each.items()} for each in (buffers, *more)]
        options = {"runs": 2, "warm_up": 1, "device": "emulated", **options}
        return ingot.autotune(self.client, self.spec, {"rows": ROWS, "n": N}, *sets, **options)

    def forget(self, tuned):
        self.client.delete_tuning([tuned.epoch])

    def test_candidates(self):
        candidates = self.client.candidates(self.spec)
        self.assertGreater(len(candidates), 2)
        self.assertEqual(sum(candidate.chosen for candidate in candidates), 1)
        self.assertIn("threads", candidates[0].tuning)
        self.assertEqual(self.client.candidates(self.spec, limit=1), candidates[:1])
        refused = [candidate for candidate in candidates if candidate.refusal]
        self.assertTrue(all("threads" in candidate.refusal for candidate in refused))
        pinned = dataclasses.replace(self.spec, tuning=candidates[0].tuning)
        self.assertEqual([c.tuning for c in self.client.candidates(pinned)], [candidates[0].tuning])
        with self.assertRaises(ingot.InvalidArgument):
            self.client.candidates(rmsnorm_spec(0))

    def test_measuring(self):
        prepared = self.client.prepare(self.spec)
        sets = [self.buffers(), self.buffers()]
        launches = []
        for buffers in sets:
            launch = prepared.arguments()
            launch.dims[:] = [ROWS, N]
            launch.operands[:] = [buffers[name].pointer for name in prepared.operands]
            launches.append(launch)
        self.assertEqual(prepared.writes, ("y",))
        measured = launches[0].measure(launches[1], warm_up=0, runs=3, launches=2)
        self.assertEqual((measured.runs, measured.launches), (3, 2))
        self.assertLessEqual(measured.min_us, measured.median_us)
        self.assertLessEqual(measured.median_us, measured.max_us)
        out = prepared.operands.index("y")
        self.assertEqual(launches[0].read(out), sets[0]["y"].read())
        self.assertEqual(launches[0].read(out), launches[1].read(out))
        self.assertEqual(launches[0].read(0), sets[0]["x"].read())
        with self.assertRaises(ingot.OutOfRange):
            launches[0].read(3)
        other = self.client.prepare(rmsnorm_spec(64)).arguments()
        with self.assertRaises(ingot.InvalidArgument):
            launches[0].measure(other)

    def test_every_candidate_is_tried_and_the_winner_served(self):
        before = self.client.prepare(self.spec)
        candidates = self.client.candidates(self.spec)
        best = next(c.tuning["threads"] for c in candidates if not c.chosen and not c.refusal)
        with served_times({best: 10.0}, 20.0):
            tuned = self.autotune(self.buffers(), self.buffers())
        self.assertEqual([trial.tuning for trial in tuned.trials], [c.tuning for c in candidates])
        for trial, candidate in zip(tuned.trials, candidates):
            self.assertEqual(trial.problem, candidate.refusal)
            self.assertEqual(trial.measured is None, bool(candidate.refusal))
        self.assertEqual(tuned.winner.tuning, {"threads": best})
        after = self.client.prepare(self.spec)
        self.assertEqual(after.epoch, tuned.epoch)
        self.assertGreater(after.epoch, before.epoch)
        wanted = self.client.prepare(dataclasses.replace(self.spec, tuning={"threads": best}))
        self.assertEqual([k.key for k in after.kernels()], [k.key for k in wanted.kernels()])
        self.assertNotEqual([k.key for k in after.kernels()], [k.key for k in before.kernels()])
        table = str(tuned)
        self.assertIn(f"*  threads={best}", table)
        self.assertIn("10 us", table)
        self.assertIn(f"epoch {tuned.epoch}", table)
        self.forget(tuned)
        self.assertEqual([k.key for k in self.client.prepare(self.spec).kernels()], [k.key for k in before.kernels()])

    def test_a_wrong_candidate_is_told_and_never_stored(self):
        best, other = [c.tuning["threads"] for c in self.client.candidates(self.spec) if not c.refusal][:2]

        read = ingot.Launch.read

        def damaged(launch, operand):
            data = bytearray(read(launch, operand))
            if launch._owner.spec.tuning.get("threads") == best:
                data[40:44] = pack("f32", [1e3])
            return bytes(data)

        with served_times({best: 1.0, other: 10.0}, 20.0), mock.patch.object(ingot.Launch, "read", damaged):
            tuned = self.autotune(self.buffers())
        wrong = next(trial for trial in tuned.trials if trial.tuning == {"threads": best})
        self.assertIn("y: element 10: found 1000, expected", wrong.problem)
        self.assertEqual(tuned.winner.tuning, {"threads": other})
        self.forget(tuned)

    def test_why_nothing_is_stored(self):
        with served_times({}, 20.0), mock.patch.object(ingot.Client, "store_tuning") as store:
            for expected, times, options in (("the plan in force is faster", {None: 5.0}, {}),
                                             ("not wanted", {}, {"store": False})):
                with served_times(times, 20.0):
                    tuned = self.autotune(self.buffers(), limit=2, **options)
                self.assertEqual(len(tuned.trials), 2)
                self.assertIsNone(tuned.epoch)
                self.assertEqual(tuned.not_stored, expected)
                self.assertIn(f"not stored: {expected}", str(tuned))
            store.assert_not_called()
            store.side_effect = ingot.PermissionDenied("role: found get, allowed tune")
            tuned = self.autotune(self.buffers(), limit=2)
        self.assertEqual(tuned.not_stored, "PERMISSION_DENIED: role: found get, allowed tune")

    def test_a_range_of_rows(self):
        with served_times({64: 1.0}, 20.0):
            tuned = self.autotune(self.buffers(), range=("rows", 1, 4))
        prepared = self.client.prepare(self.spec)
        self.assertEqual(prepared.epoch, tuned.epoch)
        self.assertGreater(prepared.variant_count, 1)
        self.forget(tuned)

    def test_errors_of_arguments_are_raised(self):
        with self.assertRaises(ingot.InvalidArgument) as raised:
            ingot.autotune(self.client, self.spec, {"rows": ROWS, "n": N}, {"x": 1, "weight": 2, "z": 3})
        self.assertIn("found x, weight, z, allowed x, weight, y", str(raised.exception))
        with served_times({}, 20.0):
            tuned = self.autotune(self.buffers(), range=("n", 1, 4), limit=1)
        self.assertTrue(tuned.not_stored.startswith("INVALID_ARGUMENT: "), tuned.not_stored)


class DifferenceTest(unittest.TestCase):
    def test_rounding_is_no_difference_and_more_is(self):
        from ingot.tuning import _difference

        for dtype in ("f32", "f16", "bf16"):
            values = [1.0, -2.5, float("inf"), float("nan"), 0.0]
            unit = fixture.UNIT[dtype]
            near = [1.0 + 2 * unit, *values[1:]]
            self.assertEqual(_difference(dtype, pack(dtype, values), pack(dtype, near), 1, None), "")
            for place, wrong in ((0, 1.0 + 16 * unit), (2, 5.0), (3, 5.0), (4, 0.5), (1, float("nan"))):
                other = list(values)
                other[place] = wrong
                self.assertIn(f"element {place}:", _difference(dtype, pack(dtype, values), pack(dtype, other), 1, None))
            self.assertEqual(_difference(dtype, pack(dtype, values), pack(dtype, [1.5, *values[1:]]), 1, 0.5), "")
        self.assertEqual(_difference("e4m3fn", b"ab", b"ab", 1, None), "")
        self.assertIn("by its bits", _difference("e4m3fn", b"ab", b"ac", 1, None))


if __name__ == "__main__":
    unittest.main()
