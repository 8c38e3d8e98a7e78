#!/bin/sh
# Rebuilds the code objects from their sources, with LLVM 22's tools on the PATH
# as llvm-mc-22, ld.lld-22 and clang-22. Tests use the stored objects.
set -e
cd "$(dirname "$0")"
python3 gen_matrix.py
for name in matrix memory faults convert launch races checks profile taint; do
  llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -I . -filetype=obj "$name.s" -o "$name.o"
  ld.lld-22 -shared "$name.o" -o "$name.hsaco"
  rm "$name.o"
done
for level in 0 1 2 3; do
  for name in kernels taint; do
    clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx950 -nogpulib -w -O$level \
      -Xclang -finclude-default-header $name.cl -o "${name}_O$level.hsaco"
  done
done
# The device side of a host program, for two targets, plain and compressed; also
# needs clang-offload-bundler (clang-tools-22).
for kind in "" _zstd; do
  clang-22 -x hip --offload-arch=gfx950 --offload-arch=gfx942 --cuda-device-only \
    --gpu-bundle-output ${kind:+--offload-compress} -nogpulib -nogpuinc -fuse-cuid=none -O2 hip_host.hip \
    -o "hip_host$kind.hipfb"
done
