# The C code of the README compiles as C with every warning, links against
# libingot alone, and computes what it says; commands that the README names exist.
set -euo pipefail
source tests/support/ctl.sh
build=$(realpath "$build")

sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$work/readme_code.h"
grep -q ingot_prepare "$work/readme_code.h" || fail "README.md has no C code"
# In a sanitizer's build the program brings the runtime that the library needs.
sanitizer=$(sed -n 's/^INGOT_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
gcc -std=c11 -Wall -Wextra -Werror $sanitizer -I"$work" -Iclient/include tests/readme/program.c \
  -o "$work/program" -L"$build/lib" -lingot -ldl -Wl,-rpath,"$build/lib"

export INGOT_HIP_LIBRARY=$build/lib/libamdhip64_emulator.so
start_daemon
"$work/program"

# What the warm-up example asks for, a refusal as quoted, and each command named.
"$build/bin/ingotctl" get gemm m n=6144 k=4096 --warmup | grep -q dma_16x32x64_k4
message=$("$build/bin/ingotctl" get gemm m n=0 k=4096 2>&1) && exit 1
quoted=$(grep -o 'INVALID_ARGUMENT: [^`]*' README.md)
[[ $message == *"$quoted"* ]] || fail "README quotes '$quoted', ingotctl says '$message'"
for command in ls inspect stats verify rm capabilities get; do
  "$build/bin/ingotctl" "$command" --help >/dev/null || fail "ingotctl has no $command"
done
for command in run test bench gpu fmt lint build; do
  ./dev help | grep -q "^./dev $command" || fail "./dev has no $command"
done
