"""What pyproject.toml cannot say: the package carries a libingot.so.0, so its
wheel is of one platform but of any Python. The library is INGOT_LIBRARY, else
build/dev's of this tree."""

import os
import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
HEADER = pathlib.Path(os.environ.get("INGOT_HEADER", HERE.parent / "include" / "ingot" / "ingot.h"))
LIBRARY = pathlib.Path(os.environ.get("INGOT_LIBRARY", HERE.parents[1] / "build" / "dev" / "lib" / "libingot.so.0"))


def version():
    text = HEADER.read_text()
    return ".".join(re.search(rf"INGOT_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


class BuildPy(build_py):
    def run(self):
        super().run()
        if not LIBRARY.exists():
            raise SystemExit(f"INGOT_LIBRARY: found {LIBRARY}, which does not exist; ./dev build makes it")
        shutil.copyfile(LIBRARY, pathlib.Path(self.build_lib, "ingot", "libingot.so.0"))


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        # glibc 2.34 is the newest symbol version that libingot asks for
        # (tests/abi), OpenSSL 3 the only other library it needs.
        return "py3", "none", f"manylinux_2_34_{os.uname().machine}"


setup(version=version(), cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel})
