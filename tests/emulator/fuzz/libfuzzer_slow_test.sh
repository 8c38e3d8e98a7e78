#!/bin/bash
# Ten minutes of libFuzzer over the targets, from the kept corpora, with the
# address and undefined behaviour sanitizers. Skipped without clang-22 and its
# compiler-rt. What it finds stays in BUILD/fuzz/found.
set -eu
build=$1
seconds=${INGOT_FUZZ_SECONDS:-600}
here=$PWD/tests/emulator/fuzz
if ! command -v clang++-22 >/dev/null ||
   [ ! -e "$(clang++-22 -print-file-name=libclang_rt.fuzzer-x86_64.a)" ]; then
  echo "skipped: needs clang-22 and libclang-rt-22-dev"
  exit 77
fi
work=$build/fuzz
cmake -S "$here/libfuzzer" -B "$work" -G Ninja -DCMAKE_CXX_COMPILER=clang++-22 >"$work.configure.log"
cmake --build "$work" -j 2
mkdir -p "$work/found"
status=0
# Shares of the time in per cent.
for share in kernel=50 code_object=25 instructions=15 metadata=10; do
  name=${share%=*}
  rm -rf "$work/corpus_$name"
  mkdir -p "$work/corpus_$name"
  python3 "$here/corpus.py" unpack "tests/data/fuzz/emulator/$name.gz" "$work/corpus_$name"
  "$work/fuzz_$name" "$work/corpus_$name" -max_total_time=$((seconds * ${share#*=} / 100)) \
    -timeout=20 -rss_limit_mb=3000 -artifact_prefix="$work/found/$name-" \
    -print_final_stats=1 -verbosity=0 || status=1
done
exit $status
