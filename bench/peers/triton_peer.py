"""Triton behind the protocol of peer.py."""

import os

os.environ.update(TRITON_ALWAYS_COMPILE="1", TRITON_DEFAULT_FP_FUSION="1")

import peer
from triton_kernels import compile_problem

peer.serve("triton", compile_problem)
