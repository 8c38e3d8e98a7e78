# ingotctl record, coverage, and warm with what was recorded.
set -eu
source tests/support/ctl.sh

ask() {
  for _ in $(seq "$1"); do "$build/bin/ingotctl" get "${@:2}" > /dev/null; done
}
# lines FILE N
lines() {
  [ "$(wc -l < "$1")" = "$2" ] || fail "$1: found $(wc -l < "$1") lines, expected $2"
}

run 2 coverage --recorded /nowhere/r.jsonl
expect 2 "nothing that covers" coverage --recorded /nowhere/r.jsonl
expect 2 "/nowhere/r.jsonl" coverage --recorded /nowhere/r.jsonl --manifest /dev/null
expect 3 "ingotd" record
expect 2 "excludes" record --reset --follow

start_daemon
run 0 record
lines "$work/out" 0

# Token counts are one spec; warm-up and refused specs are none.
ask 2 rmsnorm rows n=64
ask 3 rmsnorm rows=5 n=64
ask 1 rmsnorm rows=900 n=64
ask 2 rmsnorm rows n=96
ask 1 rmsnorm rows n=72 --warmup
ask 1 rmsnorm rows n=80 --fetch plan
run 2 get rmsnorm rows n=0
expect 0 "wrote $work/r.jsonl: 2 lines, 8 requests" record --out "$work/r.jsonl"
lines "$work/r.jsonl" 2
head -1 "$work/r.jsonl" | grep -q '"n","value":"64"' || fail "the most asked is not first"
run 0 --output json record
python3 - "$work/out" << 'PYTHON' || fail "json"
import json, sys
said = json.load(open(sys.argv[1]))
assert [int(s["traffic"]["requests"]) for s in said["specs"]] == [6, 2], said
first = said["specs"][0]["traffic"]
assert (first["hits"], first["compiled"]) == (5, 1), first
assert first["tokens"] == [{"dim": "rows", "min": 5, "max": 900}], first
PYTHON
expect 2 "cannot be written\|can be written" record --out /nowhere/r.jsonl

# A manifest written before, with a count of tokens of its own.
echo '{"op": "rmsnorm", "dims": [{"name": "rows", "value": "1"}, {"name": "n", "value": "64"}],
 "operands": [{"name": "x", "dtype": "bf16"}, {"name": "y", "dtype": "bf16"}],
 "target": "gfx950"}' | tr -d '\n' > "$work/m.jsonl"
expect 6 "requests  6 of 8 covered, 75.0 %" coverage --manifest "$work/m.jsonl" --recorded "$work/r.jsonl"
grep -q "specs  *1 of 2 covered, 50.0 %" "$work/out" || fail "share of specs"
grep -q "^2  *hit .*rmsnorm n=96 rows" "$work/out" || fail "the uncovered are not listed"
run 0 coverage --manifest "$work/m.jsonl" --recorded "$work/r.jsonl" --at-least 75
run 6 coverage --manifest "$work/m.jsonl" --recorded "$work/r.jsonl" --at-least 75.1
run 0 coverage --manifest "$work/r.jsonl" --recorded "$work/r.jsonl"
# Nodes add up.
expect 6 "requests  12 of 16 covered" coverage --manifest "$work/m.jsonl" \
  --recorded "$work/r.jsonl" --recorded "$work/r.jsonl"
run 6 --output json coverage --manifest "$work/m.jsonl" --recorded "$work/r.jsonl"
python3 - "$work/out" << 'PYTHON' || fail "json"
import json, sys
said = json.load(open(sys.argv[1]))
assert (said["requests"], said["requests_covered"], said["specs_covered"]) == (8, 6, 1), said
assert said["uncovered"][0]["requests"] == 2, said
PYTHON

# By kernels: one spec's are another's, as the products of a model's layers are.
ask 1 gemm m n=512 k=256
ask 1 rmsnorm rows n=64
"$build/bin/ingotctl" record > "$work/r2.jsonl"
sed 's/"512"/"1024"/' "$work/r2.jsonl" > "$work/other.jsonl"
expect 6 "requests  9 of 10 covered" coverage --manifest "$work/other.jsonl" --recorded "$work/r2.jsonl"
expect 0 "requests  10 of 10 covered" coverage --manifest "$work/other.jsonl" \
  --recorded "$work/r2.jsonl" --by kernels
"$build/bin/ingotctl" record > "$work/again.jsonl"
cmp "$work/r2.jsonl" "$work/again.jsonl" || fail "coverage was taken for traffic"

# Only what comes while it records; lines of one spec add up.
(sleep 1; ask 2 rmsnorm rows n=96) &
expect 0 "wrote $work/part.jsonl: 1 lines, 2 requests" record --seconds 4 --out "$work/part.jsonl"
wait $!
"$build/bin/ingotctl" record --follow --out "$work/follow.jsonl" > "$work/out" &
follower=$!
for _ in $(seq 100); do [ -e "$work/follow.jsonl" ] && break; sleep 0.1; done
sleep 0.5
ask 1 rmsnorm rows n=96
for _ in $(seq 100); do [ -s "$work/follow.jsonl" ] && break; sleep 0.1; done
ask 1 rmsnorm rows n=96
kill -INT $follower
wait $follower || fail "record --follow, interrupted: exit code $?"
lines "$work/follow.jsonl" 2
expect 0 "requests  2 of 2 covered" coverage --manifest "$work/r.jsonl" --recorded "$work/follow.jsonl"

# Another daemon is warmed with it: what was asked for most first.
expect 0 '"n","value":"64"' warm --recorded "$work/r.jsonl" --list
head -1 "$work/out" | grep -q '"n","value":"64"' || fail "warm --recorded: not most requested first"
run 0 rm --all
expect 0 "2 specs, 2 kernels: 2 compiled, 0 already there, 0 refused" warm --recorded "$work/r.jsonl"
expect 0 "0 compiled, 2 already there" warm --manifest "$work/r.jsonl"

run 0 record --reset
lines "$work/out" 3
run 0 record
lines "$work/out" 0
ask 2 rmsnorm rows n=64
expect 0 '"requests":"2"' record
echo "ok"
