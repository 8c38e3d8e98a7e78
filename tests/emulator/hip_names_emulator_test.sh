#!/bin/bash
# The emulated device under the names by which hosts load HIP.
set -euo pipefail
build=$1
for name in libamdhip64.so libamdhip64.so.6 libamdhip64.so.7; do
  count=$(INGOT_EMULATOR_DEVICES=3 LD_LIBRARY_PATH=$build/lib/hip python3 -c "
import ctypes
n = ctypes.c_int()
assert ctypes.CDLL('$name').hipGetDeviceCount(ctypes.byref(n)) == 0
print(n.value)")
  if [ "$count" != 3 ]; then
    echo "$name: found $count devices" >&2
    exit 1
  fi
done
