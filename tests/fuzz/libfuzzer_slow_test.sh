#!/bin/bash
# Five minutes of libFuzzer over each target, from the kept corpora, with the
# address and undefined behaviour sanitizers. Skipped without clang-22 and its
# compiler-rt. What it finds stays in BUILD/fuzz-service/found.
set -eu
build=$1
seconds=${INGOT_FUZZ_SECONDS:-300}
if ! command -v clang++-22 >/dev/null ||
   [ ! -e "$(clang++-22 -print-file-name=libclang_rt.fuzzer-x86_64.a)" ]; then
  echo "skipped: needs clang-22 and libclang-rt-22-dev"
  exit 77
fi
work=$build/fuzz-service
targets="request record config bundle"
flags="-O1 -g1 -fsanitize=fuzzer-no-link -fno-sanitize-recover=all"
cmake -S . -B "$work" -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
  -DINGOT_SANITIZE=address -DINGOT_FUZZ=ON -DINGOT_BENCH=OFF >"$work.configure.log"
# shellcheck disable=SC2086
cmake --build "$work" -j 2 --target $(printf 'fuzz_%s ' $targets)
mkdir -p "$work/found"
status=0
for name in $targets; do
  corpus=$work/corpus_$name
  rm -rf "$corpus"
  mkdir -p "$corpus"
  python3 tests/emulator/fuzz/corpus.py unpack "tests/data/fuzz/service/$name.gz" "$corpus"
  "$work/bin/fuzz_$name" "$corpus" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -artifact_prefix="$work/found/$name-" -print_final_stats=1 -verbosity=0 || status=1
done
exit $status
