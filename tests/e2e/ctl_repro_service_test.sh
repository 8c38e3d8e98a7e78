# ingotctl repro: a kernel that killed its workers, again on this machine.
set -eu
source tests/support/ctl.sh

mkdir -p "$work/state/work"
echo "1 n=64 abort 100" > "$work/state/work/faults"
start_daemon --worker-program "$build/bin/ingot-worker-faults"
# The worker that repro starts finds its orders here.
cd "$work"

expect 1 "in quarantine" get rmsnorm rows n=64
id=$(sed -n 's/.*repro bundle \([0-9a-f]*\)).*/\1/p' "$work/err")
expect 0 "$id  *yes  *.*signal 6" repro

# The same worker, with the same orders, dies again; the real one compiles.
cp "$work/state/work/faults" "$work/faults"
expect 6 "^fails as before" repro "$id" --worker "$build/bin/ingot-worker-faults"
grep -q "^now .*signal 6" "$work/out" || fail "repro does not name the signal"
expect 0 "^succeeds now" repro "$id"
expect 0 '"verdict":"succeeds now"' --output json repro "$id"
echo "2 n=64 segv 100" > "$work/faults"
expect 6 "^fails otherwise" repro "$id" --worker "$build/bin/ingot-worker-faults"
echo "3 n=64 refuse 100" > "$work/faults"
expect 6 "^now  *ordered by a test" repro "$id" --worker "$build/bin/ingot-worker-faults"
echo "4 n=64 hang 100" > "$work/faults"
expect 6 "wall time" --timeout 3 repro "$id" --worker "$build/bin/ingot-worker-faults"
expect 1 "cannot be started" repro "$id" --worker /nowhere/worker
run 0 repro "$id" --save "$work/saved"
expect 0 "{\"folder\":\"$work/saved\"}" --output json repro "$id" --save "$work/saved"
[ -s "$work/saved/key_encoding" ] || fail "--save wrote no key_encoding"
echo "ok"
