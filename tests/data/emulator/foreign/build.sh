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

for group in sums rows moves matrix numbers atomics control; do
  for level in O0 O1 O2 O3 Os; do
    opencl $group.cl ${group}_$level -mcpu=gfx950 -$level
  done
  # What the other instruction selector cannot do yet falls back to the usual.
  opencl $group.cl ${group}_gisel -mcpu=gfx950 -O2 -mllvm -global-isel -mllvm -global-isel-abort=2
done

# Other versions and targets, and targets that a gfx950 refuses.
version() {
  opencl rows.cl "rows_$1" -O2 -mcpu="$2" -mcode-object-version="$3" $4
}
version v4 gfx950 4 -DCODE_OBJECT_V4
version v5 gfx950 5
version v6 gfx950 6
version generic gfx9-4-generic 6
version set gfx950:sramecc+:xnack- 6
version xnack gfx950:xnack+ 6
version nosramecc gfx950:sramecc- 6
version gfx942 gfx942 6

hip() {
  compile calls.hip "calls_$1" -x hip --offload-arch=gfx950 --offload-device-only --no-gpu-bundle-output -nogpuinc -std=c++20 $2
}
for level in O0 O1 O2 O3 Os; do hip $level -$level; done
hip gisel "-O2 -mllvm -global-isel -mllvm -global-isel-abort=2"
