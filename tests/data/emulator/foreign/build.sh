#!/bin/sh
# Rebuilds the code objects of other compilers from their sources, with LLVM
# 22's clang-22 and ld.lld-22. Tests use the stored objects.
set -e
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# compile SOURCE NAME FLAG...: to NAME.hsaco.gz
compile() {
  source=$1 name=$2
  shift 2
  clang-22 -nogpulib -w "$@" "$source" -o "$scratch/$name"
  gzip -9n <"$scratch/$name" >"$name.hsaco.gz"
}
opencl() {
  file=$1 as=$2
  shift 2
  compile "$file" "$as" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -Xclang -finclude-default-header "$@"
}

for group in sums rows moves matrix numbers; do
  for level in O0 O1 O2 O3 Os; do
    opencl $group.cl ${group}_$level -mcpu=gfx950 -$level
  done
  # What the other instruction selector cannot do yet falls back to the usual.
  opencl $group.cl ${group}_gisel -mcpu=gfx950 -O2 -mllvm -global-isel -mllvm -global-isel-abort=2
done
