#!/usr/bin/env python3
"""Makes the vectors of this folder from proto/signatures.md alone.

Shares nothing with the implementations: messages are put together by hand, and
keys and signatures are those of the Python package `cryptography`.
"""
import hashlib
import pathlib

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

FOLDER = pathlib.Path(__file__).parent
SEED = hashlib.sha256(b"ingot signature vectors").digest()
RECORD_SIGNATURES = 8
PLAN_SIGNATURES = 10


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def u32(value):
    return value.to_bytes(4, "little")


def u64(value):
    return value.to_bytes(8, "little")


def sized(value):
    return u32(len(value)) + value


def raw_public(key):
    return key.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw)


KEY = ed25519.Ed25519PrivateKey.from_private_bytes(SEED)
KEY_ID = hashlib.sha256(raw_public(KEY)).hexdigest()[:32]
JUNK = data(1, b"somebody else") + data(2, b"\x55" * 64)


def record_bytes(schema, key, digest, target, description):
    return (sized(b"ingot.signature.record") + u32(schema) + sized(key) +
            sized(digest) + sized(target) + sized(description))


def plan_bytes(schema, spec, fingerprint, epoch, plan):
    return (sized(b"ingot.signature.plan") + u32(schema) + sized(spec) +
            sized(fingerprint) + u64(epoch) + sized(plan))


def write(name, kind, message, signed=None):
    lines = [f"{kind} {message.hex()}"]
    if signed is None:
        lines.append("refused")
    else:
        lines += [f"signed {signed.hex()}", f"seed {SEED.hex()}",
                  f"public {raw_public(KEY).hex()}", f"key_id {KEY_ID}",
                  f"signature {KEY.sign(signed).hex()}"]
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")


def records():
    key, digest = b"\x11" * 32, bytes(range(32))
    target = b"gfx950:sramecc+:xnack-"
    small = data(1, b"gemm_kernel") + data(2, target)
    # A field of a later version, and the fields in another order.
    large = (number(12, 128) + data(2, target) + data(1, b"k") +
             data(3000, b"of a later version") + number(25, 1 << 60))
    head = number(1, 1) + data(2, key) + data(3, digest)
    tail = data(6, b"the key's encoding") + number(9, 1700000000000)
    plain = head + number(4, 4096) + data(5, small) + tail
    expected = record_bytes(1, key, digest, target, small)
    write("record", "record", plain, expected)
    write("record_signed_already", "record",
          data(RECORD_SIGNATURES, JUNK) + plain + data(RECORD_SIGNATURES, JUNK),
          expected)
    write("record_unknown_fields", "record", data(5, large) + head,
          record_bytes(1, key, digest, target, large))
    write("record_no_target", "record", head + data(5, data(1, b"k")),
          record_bytes(1, key, digest, b"", data(1, b"k")))
    write("record_empty", "record", b"", record_bytes(0, b"", b"", b"", b""))
    write("bad_record_two_keys", "record", plain + data(2, b"\x22" * 32))
    write("bad_record_two_digests", "record", data(3, b"\x22" * 32) + plain)
    write("bad_record_two_descriptions", "record", plain + data(5, small))
    write("bad_record_two_schemas", "record", plain + number(1, 1))
    write("bad_record_two_targets", "record",
          head + data(5, small + data(2, b"gfx950")))
    write("bad_record_schema_64_bits", "record",
          number(1, (1 << 32) + 1) + data(2, key) + data(3, digest))
    write("bad_record_key_a_number", "record", number(2, 5))
    write("bad_record_cut", "record", plain[:-1])
    write("bad_record_cut_description", "record",
          head + data(5, small[:-1]))
    write("bad_record_many_signatures", "record",
          plain + data(RECORD_SIGNATURES, JUNK) * 17)


def plans():
    spec, fingerprint = b"\x33" * 32, b"\x44" * 32
    begin = number(1, 1) + data(2, spec) + data(3, data(1, b"gemm"))
    middle = number(4, 7) + data(5, fingerprint)
    end = data(6, data(1, b"m") + number(3, 4096)) + data(77, b"later")
    plain = begin + middle + end
    expected = plan_bytes(1, spec, fingerprint, 7, plain)
    write("plan", "plan", plain, expected)
    write("plan_signed_already", "plan",
          begin + data(PLAN_SIGNATURES, JUNK) + middle + end +
          data(PLAN_SIGNATURES, JUNK), expected)
    write("plan_no_epoch", "plan", begin,
          plan_bytes(1, spec, b"", 0, begin))
    write("plan_empty", "plan", b"", plan_bytes(0, b"", b"", 0, b""))
    write("bad_plan_two_epochs", "plan", plain + number(4, 8))
    write("bad_plan_two_specs", "plan", plain + data(2, spec))
    write("bad_plan_two_fingerprints", "plan", data(5, spec) + plain)
    write("bad_plan_cut", "plan", plain[:-1])
    write("bad_plan_many_signatures", "plan",
          plain + data(PLAN_SIGNATURES, JUNK) * 17)


records()
plans()
