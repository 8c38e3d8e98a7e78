# The C code of the README compiles as C with every warning, links against
# libingot alone, and computes what it says; commands that the README names exist.
# Usage: readme_service_test.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
folder=$(mktemp -d)
daemon=
cleanup() {
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$folder/readme_code.h"
grep -q ingot_prepare "$folder/readme_code.h" || { echo "README.md has no C code"; exit 1; }
# In a sanitizer's build the program brings the runtime that the library needs.
sanitizer=$(sed -n 's/^INGOT_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
gcc -std=c11 -Wall -Wextra -Werror $sanitizer -I"$folder" -Iclient/include tests/readme/program.c \
  -o "$folder/program" -L"$build/lib" -lingot -ldl -Wl,-rpath,"$build/lib"

export INGOT_ADDRESS=unix:$folder/ingotd.sock
export INGOT_HIP_LIBRARY=$build/lib/libamdhip64_emulator.so
"$build/bin/ingotd" --socket "$folder/ingotd.sock" --state-dir "$folder/state" --log-file "$folder/log" &
daemon=$!
for ((i = 0; i < 600; i++)); do
  "$build/bin/ingotctl" stats >/dev/null 2>&1 && break
  kill -0 "$daemon" || { cat "$folder/log"; exit 1; }
  sleep 0.1
done
"$folder/program"

# What the warm-up example asks for, a refusal as quoted, and each command named.
"$build/bin/ingotctl" get gemm m n=6144 k=4096 --warmup | grep -q dma_16x32x64_k4
message=$("$build/bin/ingotctl" get gemm m n=0 k=4096 2>&1) && exit 1
quoted=$(grep -o 'INVALID_ARGUMENT: [^`]*' README.md)
[[ $message == *"$quoted"* ]] || { echo "README quotes '$quoted', ingotctl says '$message'"; exit 1; }
for command in ls inspect stats verify rm capabilities get; do
  "$build/bin/ingotctl" "$command" --help >/dev/null || { echo "ingotctl has no $command"; exit 1; }
done
for command in run test bench gpu fmt lint build; do
  ./dev help | grep -q "^./dev $command" || { echo "./dev has no $command"; exit 1; }
done
