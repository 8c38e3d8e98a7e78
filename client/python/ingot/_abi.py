"""The C interface of libingot (client/include/ingot/ingot.h) as ctypes: structs,
prototypes, and finding the library. Nothing else of the package knows a C
layout."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p


class Struct(ctypes.Structure):
    """A struct of the interface; `size` is set when it is made."""

    def __init__(self, **fields):
        super().__init__(**fields)
        self.size = ctypes.sizeof(self)


class Dim(Struct):
    _fields_ = [("size", c_uint32), ("kind", c_uint32), ("name", c_char_p), ("value", c_int64), ("min", c_int64),
                ("max", c_int64), ("multiple_of", c_int64)]


class Operand(Struct):
    _fields_ = [("size", c_uint32), ("stride_mode", c_uint32), ("name", c_char_p), ("dtype", c_char_p),
                ("strides", POINTER(c_int64)), ("stride_count", c_uint32), ("alignment", c_uint32)]


class Attr(Struct):
    _fields_ = [("size", c_uint32), ("kind", c_uint32), ("name", c_char_p), ("int_value", c_int64),
                ("float_value", c_double), ("string_value", c_char_p)]


class Tuning(Struct):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("name", c_char_p), ("value", c_int64)]


class Spec(Struct):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("op", c_char_p), ("target", c_char_p),
                ("dims", POINTER(Dim)), ("operands", POINTER(Operand)), ("attrs", POINTER(Attr)),
                ("tuning", POINTER(Tuning)), ("dim_count", c_uint32), ("operand_count", c_uint32),
                ("attr_count", c_uint32), ("tuning_count", c_uint32)]


class ClientOptions(Struct):
    _fields_ = [("size", c_uint32), ("connect_timeout_ms", c_uint32), ("call_timeout_ms", c_uint32),
                ("max_idle", c_uint32), ("address", c_char_p), ("target", c_char_p), ("hip_library", c_char_p),
                ("bundle_dir", c_char_p), ("signature_policy", c_uint32), ("reserved", c_uint32),
                ("trusted_keys", c_char_p), ("tls_ca", c_char_p), ("tls_certificate", c_char_p),
                ("tls_private_key", c_char_p), ("tls_server_name", c_char_p)]


class PrepareOptions(Struct):
    _fields_ = [("size", c_uint32), ("fetch", c_uint32), ("flags", c_uint32), ("timeout_ms", c_uint32),
                ("pin_epoch", c_uint64), ("request_id", c_char_p)]


class PreparedInfo(Struct):
    _fields_ = [("size", c_uint32), ("dim_count", c_uint32), ("operand_count", c_uint32), ("scalar_count", c_uint32),
                ("variant_count", c_uint32), ("kernel_count", c_uint32), ("epoch", c_uint64), ("compile_us", c_uint64),
                ("spec_digest", c_uint8 * 32), ("fingerprint", c_uint8 * 32)]


class KernelInfo(Struct):
    _fields_ = [("size", c_uint32), ("source", c_uint32), ("symbol", c_char_p), ("target", c_char_p),
                ("bytes", c_void_p), ("byte_count", c_uint64), ("key", c_uint8 * 32), ("digest", c_uint8 * 32),
                ("vgprs", c_uint32), ("sgprs", c_uint32), ("lds_bytes", c_uint32), ("scratch_bytes", c_uint32)]


class Scalar(ctypes.Union):
    _fields_ = [("f", c_double), ("i", c_int64)]


class LaunchArgs(Struct):
    _fields_ = [("size", c_uint32), ("dim_count", c_uint32), ("dims", POINTER(c_int64)),
                ("operands", POINTER(c_void_p)), ("strides", POINTER(POINTER(c_int64))), ("scalars", POINTER(Scalar)),
                ("workspace", c_void_p), ("workspace_bytes", c_uint64), ("peers", POINTER(c_void_p)),
                ("operand_count", c_uint32), ("scalar_count", c_uint32), ("peer_count", c_uint32),
                ("reserved", c_uint32)]


class ClientStats(Struct):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("calls", c_uint64), ("failed_calls", c_uint64),
                ("retries", c_uint64), ("connections", c_uint64), ("prepare_calls", c_uint64), ("objects", c_uint64),
                ("object_bytes", c_uint64), ("modules_loaded", c_uint64), ("bundle_specs", c_uint64),
                ("bundle_objects", c_uint64)]


class Candidate(Struct):
    _fields_ = [("size", c_uint32), ("chosen", c_uint32), ("tuning", POINTER(Tuning)), ("tuning_count", c_uint32),
                ("kernel_count", c_uint32), ("predicted_us", c_double), ("refusal", c_char_p)]


class MeasureOptions(Struct):
    _fields_ = [("size", c_uint32), ("warm_up", c_uint32), ("runs", c_uint32), ("launches", c_uint32)]


class Measurement(Struct):
    _fields_ = [("size", c_uint32), ("runs", c_uint32), ("launches", c_uint32), ("reserved", c_uint32),
                ("median_us", c_double), ("min_us", c_double), ("max_us", c_double)]


class TuningRecord(Struct):
    _fields_ = [("size", c_uint32), ("tuning_count", c_uint32), ("tuning", POINTER(Tuning)),
                ("microseconds", c_double), ("device", c_char_p), ("range_dim", c_char_p), ("range_min", c_int64),
                ("range_max", c_int64)]


# Names in C of the structs above, for the test that holds layouts against the
# header.
C_NAMES = {
    Dim: "ingot_dim", Operand: "ingot_operand", Attr: "ingot_attr", Tuning: "ingot_tuning", Spec: "ingot_spec",
    ClientOptions: "ingot_client_options", PrepareOptions: "ingot_prepare_options",
    PreparedInfo: "ingot_prepared_info", KernelInfo: "ingot_kernel_info", LaunchArgs: "ingot_launch_args",
    ClientStats: "ingot_client_stats", Candidate: "ingot_candidate", MeasureOptions: "ingot_measure_options",
    Measurement: "ingot_measurement", TuningRecord: "ingot_tuning_record",
}

_status = c_int32
# Function, result, arguments. Strings that the caller frees are c_void_p:
# c_char_p would copy them and lose the pointer.
_FUNCTIONS = [
    ("ingot_version", c_char_p, []),
    ("ingot_status_name", c_char_p, [_status]),
    ("ingot_last_error", c_char_p, []),
    ("ingot_free", None, [c_void_p]),
    ("ingot_spec_digest", _status, [POINTER(Spec), c_uint8 * 32]),
    ("ingot_client_create", _status, [POINTER(ClientOptions), POINTER(c_void_p)]),
    ("ingot_client_destroy", _status, [c_void_p]),
    ("ingot_client_address", c_char_p, [c_void_p]),
    ("ingot_prepare", _status, [c_void_p, POINTER(Spec), POINTER(PrepareOptions), POINTER(c_void_p)]),
    ("ingot_prepare_many", _status, [c_void_p, POINTER(POINTER(Spec)), c_size_t, POINTER(PrepareOptions),
                                     POINTER(c_void_p), POINTER(_status), POINTER(c_void_p)]),
    ("ingot_prepared_release", _status, [c_void_p]),
    ("ingot_prepared_load", _status, [c_void_p]),
    ("ingot_prepared_describe", _status, [c_void_p, POINTER(PreparedInfo)]),
    ("ingot_prepared_dim", c_char_p, [c_void_p, c_uint32]),
    ("ingot_prepared_operand", c_char_p, [c_void_p, c_uint32]),
    ("ingot_prepared_scalar", c_char_p, [c_void_p, c_uint32]),
    ("ingot_prepared_scalar_dtype", c_char_p, [c_void_p, c_uint32]),
    ("ingot_prepared_kernel", _status, [c_void_p, c_uint32, POINTER(KernelInfo)]),
    ("ingot_workspace_bytes", _status, [c_void_p, POINTER(LaunchArgs), POINTER(c_uint64), POINTER(c_uint32)]),
    ("ingot_launch", _status, [c_void_p, c_void_p, POINTER(LaunchArgs)]),
    ("ingot_list_candidates", _status, [c_void_p, POINTER(Spec), c_uint32, POINTER(c_void_p)]),
    ("ingot_candidates_count", c_uint32, [c_void_p]),
    ("ingot_candidates_get", _status, [c_void_p, c_uint32, POINTER(Candidate)]),
    ("ingot_candidates_release", _status, [c_void_p]),
    ("ingot_measure", _status, [c_void_p, c_void_p, POINTER(POINTER(LaunchArgs)), c_uint32, POINTER(MeasureOptions),
                                POINTER(Measurement)]),
    ("ingot_prepared_writes", c_uint32, [c_void_p, c_uint32]),
    ("ingot_read_operand", _status, [c_void_p, POINTER(LaunchArgs), c_uint32, c_void_p, POINTER(c_uint64)]),
    ("ingot_tuning_store", _status, [c_void_p, POINTER(Spec), POINTER(TuningRecord), POINTER(c_uint64)]),
    ("ingot_tuning_delete", _status, [c_void_p, POINTER(c_uint64), c_size_t, POINTER(c_uint64)]),
    ("ingot_capabilities", _status, [c_void_p, POINTER(c_void_p)]),
    ("ingot_daemon_stats", _status, [c_void_p, POINTER(c_void_p)]),
    ("ingot_stats", _status, [c_void_p, POINTER(ClientStats)]),
]

_SONAME = "libingot.so.0"


def _candidates() -> list[str]:
    named = os.environ.get("INGOT_LIBRARY")
    if named:
        return [named]
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _SONAME)
    return [beside] * os.path.exists(beside) + [_SONAME]


def _load() -> ctypes.CDLL:
    problems = []
    for candidate in _candidates():
        try:
            # Calls through a CDLL release the interpreter's lock.
            library = ctypes.CDLL(candidate)
            break
        except OSError as error:
            problems.append(str(error))
    else:
        raise ImportError("libingot was not found (INGOT_LIBRARY may name it): " + "; ".join(problems))
    for name, result, arguments in _FUNCTIONS:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


def take_string(pointer: c_void_p) -> str:
    """The text of a string that was handed out, which is freed."""
    try:
        return ctypes.cast(pointer, c_char_p).value.decode()
    finally:
        lib.ingot_free(pointer)
