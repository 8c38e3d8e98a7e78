"""The corpora of the fuzzers, one file each in tests/data/fuzz/emulator: gzip of
the inputs one after another, each behind its length in four bytes.

Usage: corpus.py pack FOLDER FILE | corpus.py unpack FILE FOLDER"""

import gzip
import pathlib
import struct
import sys


def pack(folder, file):
    inputs = sorted(path.read_bytes() for path in pathlib.Path(folder).iterdir())
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        for data in inputs:
            out.write(struct.pack("<I", len(data)) + data)


def unpack(file, folder):
    data = gzip.open(file).read()
    at = number = 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        pathlib.Path(folder, f"{number:05}").write_bytes(data[at + 4 : at + 4 + size])
        at, number = at + 4 + size, number + 1


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:4])
