"""Specs: the digests of proto/vectors, and what is refused."""

import pickle
import struct
import unittest

import fixture
import ingot


def read_vector(path):
    """The spec and its digest (None: refused), or None for what Python's
    mappings cannot say."""
    fields = {"dims": [], "operands": [], "attrs": [], "tuning": []}
    op, target, digest = "", "", None
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        keyword, _, rest = line.partition(" ")
        words = rest.split(" ")
        if keyword == "op":
            op = rest
        elif keyword == "target":
            target = rest
        elif keyword == "dim":
            if len(words) < 2:
                return None  # neither a value nor a range
            value = int(words[2]) if words[1] == "value" else ingot.Range(*map(int, words[2:5]))
            fields["dims"].append((words[0], value))
        elif keyword == "operand":
            strides = {"dense": None, "static": [int(w) for w in words[4:]], "dynamic": ingot.DYNAMIC}[words[2]]
            if words[2] != "static" and words[4:]:
                return None  # strides where the mode has none
            fields["operands"].append((words[0], ingot.Operand(words[1], strides, int(words[3]))))
        elif keyword == "attr":
            text = rest.split(" ", 2)[2] if len(words) > 2 else ""
            value = {"bool": lambda: text == "1", "int": lambda: int(text), "string": lambda: text,
                     "float": lambda: struct.unpack("<d", int(text, 16).to_bytes(8, "little"))[0]}[words[1]]()
            fields["attrs"].append((words[0], value))
        elif keyword == "tuning":
            fields["tuning"].append((words[0], int(words[1])))
        elif keyword == "digest":
            digest = rest
    if any(len(dict(pairs)) < len(pairs) for pairs in fields.values()):
        return None  # a name twice
    if target == "" and digest is None:
        return None  # an empty target means the client's here
    return ingot.Spec(op, target=target, **{name: dict(pairs) for name, pairs in fields.items()}), digest


class SpecTest(unittest.TestCase):
    def test_digests_are_those_of_the_vectors(self):
        accepted = refused = 0
        for path in sorted((fixture.ROOT / "proto" / "vectors").glob("*.txt")):
            vector = read_vector(path)
            if vector is None:
                continue
            spec, digest = vector
            with self.subTest(path.name):
                if digest is None:
                    refused += 1
                    with self.assertRaises(ingot.IngotError):
                        spec.digest()
                else:
                    accepted += 1
                    self.assertEqual(spec.digest().hex(), digest)
        self.assertGreater(accepted, 10)
        self.assertGreater(refused, 20)

    def test_order_does_not_matter(self):
        a = ingot.Spec("x", dims={"n": 1, "k": 2}, operands={"a": "f32", "b": "f16"})
        b = ingot.Spec("x", dims={"k": 2, "n": 1}, operands={"b": "f16", "a": "f32"})
        self.assertEqual(a.digest(), b.digest())

    def test_errors_name_what_was_found(self):
        cases = [
            (dict(dims={"n": "many"}), "dim n: found 'many'"),
            (dict(dims={"n": True}), "dim n: found True"),
            (dict(dims={"n": 2**63}), "dim n: found 9223372036854775808"),
            (dict(dims={"n": -1}), "dim n value: found -1"),
            (dict(dims={"n\0": 1}), "NUL"),
            (dict(dims={7: 1}), "name of a dim: found 7"),
            (dict(operands={"a": "BF16"}), "BF16"),
            (dict(operands={"a": 16}), "operand a, dtype: found 16"),
            (dict(operands={"a": ingot.Operand("f32", strides="wide")}), "found strides 'wide'"),
            (dict(operands={"a": ingot.Operand("f32", strides=[1.5])}), "operand a, strides: found 1.5"),
            (dict(operands={"a": ingot.Operand("f32", alignment=-1)}), "alignment of -1"),
            (dict(attrs={"act": None}), "attribute act: found None"),
            (dict(tuning={"tile": "big"}), "tuning tile: found 'big'"),
        ]
        for fields, text in cases:
            with self.subTest(text):
                fields = {"dims": {}, "operands": {}, **fields}
                with self.assertRaises(ingot.InvalidArgument) as raised:
                    ingot.Spec("x", **fields).digest()
                self.assertIn(text, str(raised.exception))
                self.assertIsInstance(raised.exception, ValueError)

    def test_another_processor_is_unimplemented(self):
        with self.assertRaises(ingot.Unimplemented) as raised:
            ingot.Spec("x", dims={}, operands={}, target="gfx942").digest()
        self.assertEqual(raised.exception.status, "UNIMPLEMENTED")

    def test_a_spec_can_be_pickled_after_use(self):
        spec = fixture.rmsnorm_spec(64)
        digest = spec.digest()
        self.assertEqual(pickle.loads(pickle.dumps(spec)).digest(), digest)


if __name__ == "__main__":
    unittest.main()
