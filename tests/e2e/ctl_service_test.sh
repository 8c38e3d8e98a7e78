# ingotctl against a real daemon: every subcommand, and the exit codes that
# --help promises.
set -eu
source tests/e2e/ctl.sh
export INGOT_HIP_LIBRARY=/nowhere/libhip.so

expect 3 "ingotd" stats
expect 3 "$work/s" get rmsnorm rows n=64
expect 2 "" no-such-command
expect 0 "Exit codes" --help

start_daemon

expect 0 "rmsnorm" capabilities
expect 0 "compiled" get rmsnorm rows=3 n=64 --dtype f16
expect 0 "memory" get rmsnorm rows=4..9/1 n=64 --dtype f16
expect 0 "compiled" get rmsnorm rows n=64 --dtype f16 --with weight,residual,residual_out
expect 0 "compiled" get silu_mul rows n=64 --attr act=gelu_tanh
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
expect 2 "nothing" rm
expect 0 "removed 1" rm "$key"
expect 0 "removed 1" rm --all
expect 0 "SYMBOL" ls
[ "$(wc -l < "$work/out")" = 1 ] || fail "rm --all left something"
echo "ok"
