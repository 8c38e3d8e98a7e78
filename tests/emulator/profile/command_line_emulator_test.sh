# ingot-profile's exit codes, messages and forms of output.
set -euo pipefail
tool=$1/bin/ingot-profile
data=tests/data/emulator
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect CODE TEXT ARGUMENT...: exits with CODE and prints TEXT somewhere.
expect() {
  local code=$1 text=$2 out got=0
  shift 2
  out=$("$tool" "$@" 2>&1) || got=$?
  if [[ $got != "$code" || $out != *"$text"* ]]; then
    printf 'ingot-profile %s: exit code %s, wanted %s and "%s":\n%s\n' "$*" "$got" "$code" "$text" "$out"
    failures=$((failures + 1))
  fi
}

launch=(--grid 1 --block 64)
expect 0 'Exit codes:' --help
expect 0 'loop 1: 7 trips' "$data/profile.hsaco" --kernel nested "${launch[@]}"
expect 0 '"schema":1' "$data/profile.hsaco" --kernel nested "${launch[@]}" --output json
expect 0 '2 of 8 workgroups ran' "$data/profile.hsaco" --kernel nested --grid 2,2,2 --block 64 --groups 2
expect 0 'variant ' gemm m=16 n=64 k=128 --layout nt
expect 0 'rmsnorm' rmsnorm rows=4 n=256
expect 1 'access outside every allocation' "$data/profile.hsaco" --kernel wild "${launch[@]}"
expect 2 'cannot be read' "$scratch/nothing.hsaco" "${launch[@]}"
expect 2 'allowed in' "$data/profile.hsaco" "${launch[@]}"
expect 2 '--grid: found ""' "$data/profile.hsaco" --kernel nested
expect 2 '--grid: found "1,2,3,4"' "$data/profile.hsaco" --kernel nested --grid 1,2,3,4 --block 64
expect 2 'argument: found "i32:x"' "$data/profile.hsaco" --kernel mix "${launch[@]}" --arg i32:x
expect 2 '--dtype: not allowed for a file' "$data/profile.hsaco" --kernel mix "${launch[@]}" --dtype f16
expect 2 '--grid: not allowed for an op' gemm m=1 n=64 k=64 --grid 1
expect 2 'dim m: found no value' gemm m n=64 k=64
expect 2 'op: found' conv2d --operand a:bf16
expect 2 '--output' gemm --output xml
expect 2 'not expected' --no-such-flag
expect 3 'not a little-endian 64-bit ELF' "$data/profile.s" "${launch[@]}"
head -c 3000 "$data/profile.hsaco" >"$scratch/cut.hsaco"
expect 3 "$scratch/cut.hsaco" "$scratch/cut.hsaco" "${launch[@]}"

printf '[{"type": "ptr", "bytes": 256, "fill": "iota-i32"}]' >"$scratch/arguments.json"
expect 0 'LDS conflict degree' "$data/profile.hsaco" --kernel read_b32 "${launch[@]}" --args-json "$scratch/arguments.json"

echo "$failures failures"
((failures == 0))
