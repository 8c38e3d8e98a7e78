"""FlyDSL behind the protocol of peer.py."""

import os

os.environ.update(COMPILE_ONLY="1", ARCH="gfx950", FLYDSL_GPU_ARCH="gfx950", FLYDSL_RUNTIME_ENABLE_CACHE="0")

import peer
from flydsl_kernels import PROBLEMS


def compile_problem(name):
    launch, arguments = PROBLEMS[name]()
    launch(*arguments)


peer.serve("flydsl", compile_problem)
