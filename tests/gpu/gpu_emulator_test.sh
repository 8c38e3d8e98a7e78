# The script behind ./dev gpu: what it reports, what it makes of a failed check,
# and of a machine without a GPU.
set -eu
. tests/support/ctl.sh

report=$work/report
# gpu CODE ARGUMENT...: runs it, which must end with CODE.
gpu() {
  expected=$1
  shift
  found=0
  bash tests/gpu/run.sh "$@" > "$work/out" 2> "$work/err" || found=$?
  [ "$found" = "$expected" ] || fail "run.sh $*: exit code $found, expected $expected"
}
has() {
  grep -q -- "$1" "$report" || fail "the report has no \"$1\": $(cat "$report")"
}

start_daemon
gpu 0 "$build" "$report" --small
has "gemm bf16 -> bf16 nt k=64 m=17 n=48"
has "gemm e4m3fn -> bf16 nt k=128 m=9 n=64"
has "device .* the model says "
has "agree with the f64 reference"
has "mx_shuffle has no check here"
has "0 of 6 checks failed"

# A check that fails is counted, named, and does not stop the others.
"$build/bin/ingotctl" disable --op rmsnorm --reason "a test" > "$work/out"
gpu 1 "$build" "$report" --small
has "FAILED with exit code .*: ingotctl check rmsnorm rows=3 n=256"
has "1 of 6 checks failed"
"$build/bin/ingotctl" enable --op rmsnorm > "$work/out"

INGOT_HIP_LIBRARY=/nowhere/libhip.so gpu 3 "$build" "$report" --small
has "no HIP device: nothing was checked"

# Without a driver and without a library that was named, dev says so itself.
if [ ! -e /dev/kfd ]; then
  found=0
  env -u INGOT_HIP_LIBRARY bash ./dev gpu > "$work/out" 2> "$work/err" || found=$?
  [ "$found" = 3 ] || fail "dev gpu without a GPU: exit code $found, expected 3"
  grep -q "No AMD GPU here" "$work/err" || fail "dev gpu does not say why"
fi
echo ok
