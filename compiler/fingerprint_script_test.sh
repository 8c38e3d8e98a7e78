#!/usr/bin/env bash
# What changes an op's fingerprint and what does not, on a small tree of its own.
set -euo pipefail
script=$PWD/compiler/fingerprint.cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_tree() {  # <folder>
  mkdir -p "$1"/src/{tile,passes,target,ops} "$1"/lib
  for file in tile/builder.cc tile/builder.h passes/lower.cc target/link.cc compile.cc \
              ops/body.h ops/body.cc ops/gemm_body.cc ops/gemm_tile.h ops/gemm_plan.cc \
              ops/rmsnorm_body.cc ops/rmsnorm_plan.cc ops/rmsnorm_test.cc tile/builder_ir_test.cc; do
    echo "// $file" > "$1/src/$file"
  done
  echo llvm > "$1/lib/libLLVMCore.a"
  echo lld > "$1/lib/liblldELF.a"
  cat > "$1/inputs.cmake" <<INPUTS
set(ROOT "$1/src")
set(OPS gemm rmsnorm)
set(FLAGS -O2 -ffile-prefix-map=$1=. -I$1/src)
set(COMPILER "GNU 12.2.0")
set(VERSION "LLVM 22.1.8")
set(ARCHIVES "$1/lib/libLLVMCore.a;$1/lib/liblldELF.a")
set(TOOLCHAIN "$1/toolchain.txt")
set(TABLE "$1/table.cc")
INPUTS
}

table() {  # <folder>
  cmake -DINPUTS="$1/inputs.cmake" -DMODE=toolchain -P "$script"
  cmake -DINPUTS="$1/inputs.cmake" -DMODE=table -P "$script"
  cat "$1/table.cc"
}

of() {  # <op> <table>
  local hex
  hex=$(sed -n "s/.*{\"$1\", \"\([0-9a-f]\{64\}\)\"}.*/\1/p" <<< "$2")
  [[ -n $hex ]] || { echo "no fingerprint of $1 in the table" >&2; exit 1; }
  echo "$hex"
}

check() {  # <what> <op> <same|other> <table>
  local now want
  now=$(of "$2" "$4") || exit 1
  want=$(of "$2" "$base") || exit 1
  if [[ $3 == same && $now != "$want" || $3 == other && $now == "$want" ]]; then
    echo "$1: the fingerprint of $2 should be the $3" >&2
    exit 1
  fi
}

# Edits one file of a fresh tree and says what must come of it.
edit() {  # <file> <gemm: same|other> <rmsnorm: same|other>
  rm -rf "$work/b"
  make_tree "$work/b"
  echo "// edited" >> "$work/b/$1"
  local after
  after=$(table "$work/b")
  check "edit of $1" gemm "$2" "$after"
  check "edit of $1" rmsnorm "$3" "$after"
}

make_tree "$work/a"
base=$(table "$work/a")
[[ $(of gemm "$base") != $(of rmsnorm "$base") ]] || { echo "two ops share one" >&2; exit 1; }
[[ $base == *'"LLVM 22.1.8"'* ]] || { echo "no version in the table" >&2; exit 1; }

make_tree "$work/elsewhere/deep"
[[ $(table "$work/elsewhere/deep") == "$base" ]] || { echo "the place of the tree shows" >&2; exit 1; }
(cd / && HOME=/nowhere TZ=Asia/Tokyo LANG=C table "$work/a") | cmp -s - <(echo "$base") ||
  { echo "the environment shows" >&2; exit 1; }
touch "$work/a/src/tile/builder.cc"
[[ $(table "$work/a") == "$base" ]] || { echo "a time shows" >&2; exit 1; }

edit src/ops/gemm_body.cc other same
edit src/ops/gemm_tile.h other same
edit src/ops/rmsnorm_body.cc same other
edit src/tile/builder.cc other other
edit src/tile/builder.h other other
edit src/passes/lower.cc other other
edit src/target/link.cc other other
edit src/compile.cc other other
edit src/ops/gemm_plan.cc same same
edit src/ops/rmsnorm_test.cc same same
edit src/tile/builder_ir_test.cc same same
edit lib/libLLVMCore.a other other
edit lib/liblldELF.a other other

setting() {  # <sed expression on inputs.cmake>
  rm -rf "$work/b"
  make_tree "$work/b"
  sed -i "$1" "$work/b/inputs.cmake"
  local after
  after=$(table "$work/b")
  check "setting $1" gemm other "$after"
  check "setting $1" rmsnorm other "$after"
}
setting 's/-O2/-O3/'
setting 's/GNU 12.2.0/GNU 13.1.0/'
setting 's/LLVM 22.1.8/LLVM 22.1.9/'

mkdir -p "$work/b/src/tile" && rm -rf "$work/b" && make_tree "$work/b"
mv "$work/b/src/tile/builder.cc" "$work/b/src/tile/other.cc"
check "renaming a file" gemm other "$(table "$work/b")"
echo "fingerprint: ok"
