# ingotctl against a real daemon: every subcommand, and the exit codes that
# --help promises.
set -eu
source tests/support/ctl.sh
export INGOT_HIP_LIBRARY=/nowhere/libhip.so

expect 3 "ingotd" stats
expect 3 "$work/s" get rmsnorm rows n=64
expect 2 "" no-such-command
expect 0 "Exit codes" --help

start_daemon

expect 0 "rmsnorm" capabilities
expect 0 "compiled" get rmsnorm rows=3 n=64 --dtype f16
expect 0 "memory" get rmsnorm rows=4..9/1 n=64 --dtype f16
expect 0 "compiled" get rmsnorm rows n=128 --operand x:bf16:dynamic@2 \
  --operand y:bf16:256,1 --tune threads=64
expect 0 "plan" --output json get rmsnorm rows n=96 --fetch plan
echo '{"op": "rmsnorm", "dims": [{"name": "rows", "range": {}}, {"name": "n", "value": "80"}],
       "operands": [{"name": "x", "dtype": "bf16"}, {"name": "y", "dtype": "bf16"}],
       "target": "gfx950"}' > "$work/spec.json"
expect 0 "compiled" get --spec "$work/spec.json" --save "$work/objects"
[ "$(ls "$work/objects" | wc -l)" = 1 ] || fail "--save wrote no code object"

expect 2 "n" get rmsnorm rows n=0
expect 2 "no_such_op" get no_such_op m=1 --operand a:bf16
expect 2 "gfx942" get rmsnorm rows n=64 --target gfx942
expect 2 "dim" get rmsnorm rows n=x
expect 2 "--spec" get --spec /nowhere/spec.json
expect 2 "address" --address nonsense stats

expect 0 "SYMBOL" ls
[ "$(grep -c rmsnorm "$work/out")" = 3 ] || fail "ls does not show three kernels"
key=$(sed -n 2p "$work/out" | awk '{print $1}')
expect 0 "occupancy" inspect "$key"
expect 0 "s_endpgm" inspect -d "$key"
expect 5 "no key" inspect ffffffffffff00
expect 2 "" inspect
expect 0 "damaged and dropped 0" verify
expect 0 "ingot_compiles_total" stats
expect 0 "\"entries\":3" --output json stats
expect 1 "libhip" check rmsnorm n=64
expect 0 "nothing compiled" check rmsnorm n=64 --no-launch
expect 0 "pinned 1" pin "$key"
# column N FLAG...: of what ls shows with these flags.
column() {
  n=$1
  shift
  run 0 ls "$@"
  tail -n +2 "$work/out" | awk "{print \$$n}"
}
[ "$(column 1 --pinned)" = "$key" ] || fail "ls --pinned"
[ "$(column NF --symbol no-such-symbol | wc -l)" = 0 ] || fail "ls --symbol, of none"
[ "$(column NF --symbol rmsnorm | wc -l)" = 4 ] || fail "ls --symbol"
[ "$(column NF --sort symbol)" = "$(column NF | LC_ALL=C sort)" ] || fail "ls --sort symbol"
[ "$(column NF --sort symbol --reverse)" = "$(column NF | LC_ALL=C sort -r)" ] || fail "ls --reverse"
[ "$(column 1)" = "$(column 1 --sort symbol | LC_ALL=C sort)" ] || fail "ls is not in the order of keys"
[ "$(column 1 --sort symbol --limit 2)" = "$(column 1 --sort symbol | head -2)" ] || fail "ls --limit"
"$build/bin/ingotctl" --output json ls --sort made --reverse | python3 -c "
import json, sys
made = [e['created_unix_ms'] for e in json.load(sys.stdin)['entries']]
assert len(made) == 4 and made == sorted(made, reverse=True), made" || fail "ls --sort made --reverse"
expect 2 "nothing" ls --sort nothing
expect 0 " yes " ls
[ "$(grep -c " yes " "$work/out")" = 1 ] || fail "ls does not show one pin"
expect 5 "no key" pin ffffffffffff00
expect 2 "" pin
expect 0 "current" gc
grep -q "^removed 0, 0 B" "$work/out" || fail "gc removed what is current"
fingerprint=$(awk '/current/ {print $NF}' "$work/out")
expect 2 "fingerprint: found \"zz\"" gc --fingerprint zz
expect 0 "would remove 3, [1-9]" gc --dry-run --fingerprint "$fingerprint"
expect 0 '"removed":3,"removed_bytes":[1-9]' --output json gc --dry-run \
  --fingerprint "$fingerprint"
expect 0 "\"entries\":4" --output json stats
expect 0 "goes" gc --fingerprint "$fingerprint"
expect 0 "\"entries\":1" --output json stats
expect 0 "^unpinned 1" unpin "$key"
expect 0 '"unknown_keys":\[\]' --output json unpin "$key"
expect 0 "compiled" get rmsnorm rows n=72
expect 0 "disabled 1" disable --op rmsnorm --reason "sums are wrong"
expect 1 "disabled by .*: sums are wrong" get rmsnorm rows n=72
expect 0 "sums are wrong" disabled
expect 5 "none of these" enable --op gemm
expect 0 "enabled 1" enable --op rmsnorm
expect 0 "memory" get rmsnorm rows n=72
expect 2 "reason" disable --op rmsnorm
expect 0 '"disabled":\[{"key":"[0-9a-f]*","reason":"x"' --output json disable "$key" --reason x
expect 0 "enabled 1" enable "$key"
expect 0 "epoch 2" tune add rmsnorm rows n=72 --tune threads=128 --us 3.5 --device MI355X
expect 0 "threads=128 *3.5 us *MI355X" tune ls
expect 2 "threads" tune add rmsnorm rows n=72 --tune threads=100 --us 3.5
expect 2 "range" tune add rmsnorm rows n=72 --tune threads=128 --us 3.5 --range rows
expect 0 "epoch 3" tune add rmsnorm rows n=72 --tune threads=256 --us 3 --range rows=1..8
expect 0 "rows=1..8" tune ls
expect 0 "deleted 1, epoch 4" tune rm 3
expect 5 "none of these" tune rm 3
expect 0 "deleted 1, epoch 5" tune rm --all
expect 0 "deleted in epoch 5" tune ls --ended
expect 0 "missing: the nearest of" explain rmsnorm rows n=73
grep -q "param n  *73 " "$work/out" || fail "explain does not name n"
expect 0 '"field":"param n","wanted":"73"' --output json explain rmsnorm rows n=73
expect 0 "threads=64 .*yes" candidates rmsnorm rows n=73
expect 0 '"keys":\["[0-9a-f]*' --output json candidates rmsnorm rows n=73 --limit 1
expect 0 "BUNDLE" repro
expect 5 "16 digits" repro 0123456789abcdef
expect 0 "requests_per_s" top --iterations 2 --interval 0.1
[ "$(wc -l < "$work/out")" = 3 ] || fail "top does not print a heading and two lines"
expect 0 '"hit_ratio":0,' --output json top --iterations 1 --interval 0.1
expect 0 "SYMBOL" ls --target GFX950
[ "$(wc -l < "$work/out")" -gt 1 ] || fail "ls --target GFX950 shows nothing"
zeros=0000000000000000000000000000000000000000000000000000000000000000
expect 5 "not stored: $zeros" rm "$zeros"
expect 5 "not stored: $zeros" pin "$zeros" "$key"
expect 0 " yes " ls
expect 0 "^unpinned 1" unpin "$key"
expect 0 "damaged and dropped 0" verify --mib-per-second 1000
TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 \
  "$build/bin/ingotctl" get rmsnorm rows n=74 > "$work/out" 2>&1 || fail "get with a trace"
TRACEPARENT="$(printf '0\n0')" "$build/bin/ingotctl" get rmsnorm rows n=75 > "$work/out" 2>&1 ||
  fail "get with what is no trace"
tries=50
until grep -q '"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736".*"parent_id":"00f067aa0ba902b7"' \
  "$work/log"; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || fail "the caller's trace is not in the log"
  sleep 0.1
done
expect 2 "nothing" rm
expect 0 "removed 1" rm "$key"
expect 0 "removed 3" rm --all
expect 0 "SYMBOL" ls
[ "$(wc -l < "$work/out")" = 1 ] || fail "rm --all left something"
expect 0 "compiled" get rmsnorm rows n=64 --dtype f16 --with weight,residual,residual_out
expect 0 "compiled" get silu_mul rows n=64 --attr act=gelu_tanh
echo "ok"
