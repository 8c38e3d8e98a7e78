"""The layouts of _abi.py against what a C compiler makes of the header."""

import ctypes
import pathlib
import subprocess
import tempfile
import unittest

import fixture
from ingot import _abi


def compiled_layouts():
    lines = []
    for cls, name in _abi.C_NAMES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in cls._fields_:
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));')
    program = "#include <stdio.h>\n#include <ingot/ingot.h>\nint main(void) {" + "\n".join(lines) + "return 0;}"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "layouts.c")
        source.write_text(program)
        subprocess.run(["cc", "-I", fixture.ROOT / "client" / "include", "-o", f"{folder}/layouts", source], check=True)
        return subprocess.run([f"{folder}/layouts"], check=True, capture_output=True, text=True).stdout.split("\n")


class AbiTest(unittest.TestCase):
    def test_layouts_are_the_headers(self):
        ours = []
        for cls, name in _abi.C_NAMES.items():
            ours.append(f"{name} {ctypes.sizeof(cls)}")
            for field, kind in cls._fields_:
                ours.append(f"{name}.{field} {getattr(cls, field).offset} {ctypes.sizeof(kind)}")
        self.assertEqual(ours, [line for line in compiled_layouts() if line])

    def test_every_struct_and_function_of_the_header_is_known(self):
        header = (fixture.ROOT / "client" / "include" / "ingot" / "ingot.h").read_text()
        for function, _, _ in _abi._FUNCTIONS:
            self.assertIn(f" {function}(", header)
        declared = {word.split("(")[0].lstrip("*") for line in header.splitlines() if line.startswith("INGOT_API")
                    for word in line.split() if "(" in word and "ingot_" in word}
        self.assertEqual(declared, {function for function, _, _ in _abi._FUNCTIONS})


if __name__ == "__main__":
    unittest.main()
