"""What pyproject.toml cannot say: the plugin has the version of the `ingot` it
was written with, and asks for no other."""

import os
import pathlib
import re

from setuptools import setup

HERE = pathlib.Path(__file__).resolve().parent
HEADER = pathlib.Path(os.environ.get("INGOT_HEADER", HERE.parents[1] / "include" / "ingot" / "ingot.h"))


def version():
    text = HEADER.read_text()
    return ".".join(re.search(rf"INGOT_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


setup(version=version(), install_requires=[f"ingot=={version()}"])
