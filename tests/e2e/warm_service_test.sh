# ingotctl warm against a real daemon: a model, a manifest, again, and refusals.
set -eu
build=$1
work=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  [ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

fail() {
  echo "FAILED: $1"
  cat "$work/out" "$work/err" 2>/dev/null || true
  exit 1
}

# expect CODE TEXT ARGUMENT...: runs ingotctl warm; TEXT must be in its output.
expect() {
  code=$1
  text=$2
  shift 2
  found=0
  "$build/bin/ingotctl" warm "$@" > "$work/out" 2> "$work/err" || found=$?
  [ "$found" = "$code" ] || fail "warm $*: exit code $found, expected $code"
  cat "$work/out" "$work/err" | grep -q -- "$text" || fail "warm $*: no \"$text\""
}

export INGOT_ADDRESS=unix:$work/s
cat > "$work/config.json" << 'JSON'
{"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4,
 "num_key_value_heads": 2, "vocab_size": 2000}
JSON

expect 2 "nothing to warm"
expect 2 "/nowhere/config.json" --model /nowhere/config.json
expect 3 "ingotd" --model "$work/config.json"
expect 0 '"n","value":"2048"' --model "$work/config.json" --list
[ "$(wc -l < "$work/out")" = 6 ] || fail "--list: found $(wc -l < "$work/out") lines, expected 6"
cp "$work/out" "$work/manifest.jsonl"

"$build/bin/ingotd" --socket "$work/s" --state-dir "$work/state" --workers 1 > "$work/log" 2>&1 &
daemon=$!
for _ in $(seq 600); do
  "$build/bin/ingotctl" stats > "$work/out" 2> "$work/err" && break
  kill -0 "$daemon" || fail "ingotd ended: $(cat "$work/log")"
  sleep 0.1
done

# What one number of tokens needs is less than what every number does, and is
# there afterwards.
expect 0 "6 specs" --model "$work/config.json" --batch 4
expect 0 " 0 refused" --model "$work/config.json"
kernels=$(sed 's/.*specs, \([0-9]*\) kernels.*/\1/' "$work/out")
[ "$kernels" -gt 1 ] || fail "no kernels were counted"
expect 0 "6 specs, $kernels kernels: 0 compiled, 6 already there, 0 refused" --manifest "$work/manifest.jsonl"
# All layers of a model share few kernels: products with the same accesses.
listed=$("$build/bin/ingotctl" ls | tail -n +2 | wc -l)
[ "$listed" -le "$kernels" ] || fail "ls: found $listed kernels, expected at most $kernels"

echo '{"op": "fft", "target": "gfx950"}' >> "$work/manifest.jsonl"
expect 6 "refused, 1 as fft: UNIMPLEMENTED" --manifest "$work/manifest.jsonl"
found=0
"$build/bin/ingotctl" --output json warm --manifest "$work/manifest.jsonl" > "$work/out" || found=$?
[ "$found" = 6 ] || fail "json: exit code $found, expected 6"
python3 - "$work/out" << 'PYTHON' || fail "json"
import json, sys
said = json.load(open(sys.argv[1]))
assert (said["specs"], said["already_there"], said["refused"]) == (7, 6, 1), said
assert said["refusals"][0]["spec"] == "fft", said
PYTHON
echo 'no json' > "$work/bad.jsonl"
expect 2 "bad.jsonl:1" --manifest "$work/bad.jsonl"
echo "passed"
