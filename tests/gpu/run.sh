# What ./dev gpu executes once it has built and a daemon runs (INGOT_ADDRESS):
# every problem with a reference, through HIP, its numbers checked and its time
# put beside the model's.
#
#   run.sh BUILD REPORT [--small]
#
# --small: problems that an emulated device computes in seconds, for the test of
# this script. Ends with 0 when all agree, 1 when one does not, 3 without a HIP
# device.
set -uo pipefail
build=$1
report=$2
size=${3:-}

small_checks() {
  echo "gemm m=17 n=48 k=64"
  echo "gemm m=17 n=129 k=65 --dtype f16 --layout tn"
  echo "gemm m=9 n=64 k=128 --dtype e4m3fn"
  echo "grouped_gemm total_m=33 n=48 k=64 g=3"
  echo "rmsnorm rows=3 n=256"
  echo "silu_mul rows=3 n=256"
}

gemm_checks() {
  local layout dtype shape
  for shape in "m=1 n=4096 k=4096" "m=17 n=129 k=65" "m=128 n=4096 k=4096" "m=2048 n=6144 k=4096"; do
    for layout in nn nt tn tt; do
      for dtype in bf16 f16; do echo "gemm $shape --dtype $dtype --layout $layout"; done
    done
    for dtype in e4m3fn e5m2; do echo "gemm $shape --dtype $dtype"; done
  done
}

grouped_checks() {
  local layout shape
  for layout in nn nt; do
    for shape in "total_m=100 n=256 k=256 g=4" "total_m=333 n=129 k=65 g=7" "total_m=64 n=4096 k=4096 g=64" \
      "total_m=4096 n=4096 k=4096 g=8"; do
      echo "grouped_gemm $shape --layout $layout"
    done
  done
}

row_checks() {
  local n dtype
  for n in 1 63 255 1000 4096 8192 16384 28672 131072; do
    for dtype in bf16 f16 f32; do
      echo "rmsnorm rows=17 n=$n --dtype $dtype"
      echo "silu_mul rows=17 n=$n --dtype $dtype"
    done
  done
}

checks() {
  if [[ $size == --small ]]; then
    small_checks
  else
    gemm_checks
    grouped_checks
    row_checks
  fi
}

# Ops of the daemon that no check is of: said, never left out in silence.
unchecked() {
  local op
  "$build/bin/ingotctl" --output json capabilities |
    python3 -c 'import json, sys; print(*(op["name"] for op in json.load(sys.stdin)["ops"]), sep="\n")' |
    while read -r op; do checks | grep -q "^$op " || echo "$op"; done
}

{
  date -u
  uname -sr
  "$build/bin/ingotctl" capabilities
  echo
} >"$report" || exit 1

failures=0
count=0
while read -r check; do
  count=$((count + 1))
  # Words of the line are arguments.
  # shellcheck disable=SC2086
  said=$("$build/bin/ingotctl" check $check --measure 2>&1 </dev/null)
  code=$?
  printf '%s\n' "$said" | tee -a "$report"
  if [[ $said == *"finds no GPU"* || $said == *"no HIP runtime"* ]]; then
    echo "no HIP device: nothing was checked" | tee -a "$report" >&2
    exit 3
  fi
  if ((code != 0)); then
    failures=$((failures + 1))
    echo "FAILED with exit code $code: ingotctl check $check" | tee -a "$report"
  fi
done < <(checks)
for op in $(unchecked); do
  echo "$op has no check here: its numbers are held by the tests on the emulated device alone" | tee -a "$report"
done
echo "$failures of $count checks failed" | tee -a "$report"
((failures == 0))
