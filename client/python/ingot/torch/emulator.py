"""For tests and machines without a GPU: CPU tensors, launched on an emulated
gfx950 whose device memory is the host's. Importing this serves the dispatch key
CPU, which production must not: INGOT_HIP_LIBRARY has to name the emulator, and
INGOT_TORCH_EMULATOR has to be 1.

Every launch registers the tensors' memory with the device, runs, waits, and
gives it back: slow, and exact about bounds."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

import torch

import ingot

from . import _ops
from ._runtime import Device, Fallback, runtime

if os.environ.get("INGOT_TORCH_EMULATOR") != "1":
    raise ImportError("ingot.torch.emulator serves CPU tensors: set INGOT_TORCH_EMULATOR=1 if that is wanted")
_hip = ctypes.CDLL(os.environ.get("INGOT_HIP_LIBRARY", ""))


def _expect(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"{what}: HIP error {code}")


def _expect_emulator() -> None:
    name = ctypes.create_string_buffer(256)
    _expect(_hip.hipDeviceGetName(name, len(name), 0), "hipDeviceGetName")
    if b"emulated" not in name.value.lower():
        raise ImportError(f"INGOT_HIP_LIBRARY: found the device {name.value.decode()}, allowed an emulated one")


class EmulatedDevice(Device):
    dispatch_key = "CPU"

    def check(self, tensor: torch.Tensor) -> None:
        if tensor.device.type != "cpu":
            raise Fallback("device")

    def name(self, tensor: torch.Tensor) -> str:
        return "emulated gfx950"

    def capturing(self) -> bool:
        return False

    def launch(self, launch: ingot.Launch, tensors: Sequence[torch.Tensor]) -> None:
        # Views share storages, and one may be an operand twice.
        storages = {}
        for tensor in tensors:
            storage = tensor.storage() if not hasattr(tensor, "untyped_storage") else tensor.untyped_storage()
            size = storage.nbytes()
            if size:
                storages[storage.data_ptr()] = size
        registered = []
        try:
            for pointer, size in storages.items():
                _expect(_hip.hipHostRegister(ctypes.c_void_p(pointer), ctypes.c_size_t(size), 0), "hipHostRegister")
                registered.append(pointer)
            launch(0)
            _expect(_hip.hipDeviceSynchronize(), "a kernel")
        finally:
            for pointer in registered:
                _expect(_hip.hipHostUnregister(ctypes.c_void_p(pointer)), "hipHostUnregister")


_expect_emulator()
runtime.device = EmulatedDevice()
_ops.serve(EmulatedDevice.dispatch_key)
