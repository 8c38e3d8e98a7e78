"""What tests of the package share: the build's library, a daemon of their own,
device memory, numbers.

A test is run as `python3 x_test.py BUILD_DIRECTORY`; `import fixture` comes
before `import ingot`."""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()

os.environ["INGOT_LIBRARY"] = str(BUILD / "lib" / "libingot.so.0")
for name in ("INGOT_ADDRESS", "INGOT_BUNDLE"):
    os.environ.pop(name, None)
sys.path.insert(0, str(ROOT / "client" / "python"))

import ingot  # noqa: E402


class DaemonTest(unittest.TestCase):
    """A daemon for the tests of a class, at `address`."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ingot-test-")
        cls.address = f"unix:{cls.folder}/s"
        cls.start()

    @classmethod
    def start(cls):
        with open(f"{cls.folder}/log", "ab") as log:
            cls.daemon = subprocess.Popen(
                [BUILD / "bin" / "ingotd", "--socket", f"{cls.folder}/s", "--state-dir", f"{cls.folder}/state",
                 "--workers", "1"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        with ingot.Client(cls.address) as client:
            for _ in range(600):
                try:
                    client.capabilities()
                    return
                except ingot.Unavailable:
                    if cls.daemon.poll() is not None:
                        break
                    time.sleep(0.1)
        raise RuntimeError("ingotd did not start: " + pathlib.Path(cls.folder, "log").read_text())

    @classmethod
    def stop(cls):
        cls.daemon.terminate()
        if cls.daemon.wait(60) != 0:
            raise RuntimeError("ingotd did not end well: " + pathlib.Path(cls.folder, "log").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.stop()
        shutil.rmtree(cls.folder)


def specs_of_model(config, *flags):
    """What `ingotctl warm` asks for on behalf of a model whose config.json holds
    `config`: specs by their digests."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        lines = subprocess.run([BUILD / "bin" / "ingotctl", "warm", "--model", file.name, "--list", *flags], check=True,
                               capture_output=True, text=True).stdout.splitlines()
    return {spec.digest(): spec for spec in map(_spec_of_json, lines)}


def _spec_of_json(line):
    spec = json.loads(line)
    allowed = {"op", "target", "dims", "operands", "attrs"}
    if set(spec) - allowed or any(set(one) - {"name", "dtype"} for one in spec["operands"]):
        raise ValueError(f"a spec that is not read here: {line}")
    dims = {dim["name"]: int(dim["value"]) if "value" in dim else ingot.ANY for dim in spec["dims"]}
    return ingot.Spec(spec["op"], dims=dims, operands={one["name"]: one["dtype"] for one in spec["operands"]},
                      attrs={attr["name"]: attr["stringValue"] for attr in spec.get("attrs", ())},
                      target=spec["target"])


@contextlib.contextmanager
def recorded_specs():
    """Fills a dictionary with what clients prepare meanwhile, by digest."""
    specs, prepare = {}, ingot.Client.prepare

    def record(client, spec, *arguments, **more):
        specs[spec.digest()] = spec
        return prepare(client, spec, *arguments, **more)

    with mock.patch.object(ingot.Client, "prepare", record):
        yield specs


def rmsnorm_spec(n, dtype="f32", **more):
    return ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": n},
                      operands={"x": dtype, "weight": dtype, "y": dtype}, **more)


# --- device memory, which is the host's on the emulator -----------------------

_hip = None


def hip():
    global _hip
    if _hip is None:
        _hip = ctypes.CDLL(os.environ["INGOT_HIP_LIBRARY"])
    return _hip


class Buffer:
    """Device memory with margins that nobody may write to."""

    MARGIN = 256

    def __init__(self, contents):
        self.size = len(contents)
        base = ctypes.c_void_p()
        if hip().hipMalloc(ctypes.byref(base), ctypes.c_size_t(self.size + 2 * self.MARGIN)):
            raise MemoryError("hipMalloc")
        self._base = base.value
        self.pointer = self._base + self.MARGIN
        ctypes.memset(self._base, 0x5A, self.size + 2 * self.MARGIN)
        ctypes.memmove(self.pointer, bytes(contents), self.size)

    def read(self):
        if hip().hipDeviceSynchronize():
            raise RuntimeError("the device failed")
        for start in (self._base, self.pointer + self.size):
            if ctypes.string_at(start, self.MARGIN) != b"\x5a" * self.MARGIN:
                raise AssertionError("a margin was written to")
        return ctypes.string_at(self.pointer, self.size)

    def __del__(self):
        hip().hipFree(ctypes.c_void_p(self._base))


# --- numbers ------------------------------------------------------------------


def random_floats(count, seed):
    generator = random.Random(seed)
    return [generator.gauss(0, 1) for _ in range(count)]


def pack(dtype, values):
    """Rounded to nearest even, as the device does."""
    if dtype == "f32":
        return struct.pack(f"{len(values)}f", *values)
    if dtype == "f16":
        return struct.pack(f"{len(values)}e", *values)
    out = []
    for bits in struct.unpack(f"{len(values)}I", struct.pack(f"{len(values)}f", *values)):
        out.append((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return struct.pack(f"{len(out)}H", *out)


def unpack(dtype, data):
    if dtype == "f32":
        return list(struct.unpack(f"{len(data) // 4}f", data))
    if dtype == "f16":
        return list(struct.unpack(f"{len(data) // 2}e", data))
    halves = struct.unpack(f"{len(data) // 2}H", data)
    return list(struct.unpack(f"{len(halves)}f", struct.pack(f"{len(halves)}I", *(half << 16 for half in halves))))


UNIT = {"f32": 2**-24, "f16": 2**-11, "bf16": 2**-8}
POISON = b"\xa5"
