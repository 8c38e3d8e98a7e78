# ingotctl warm against a real daemon: a model, a manifest, again, and refusals.
set -eu
source tests/support/ctl.sh

# warm CODE TEXT ARGUMENT...: expect, of ingotctl warm.
warm() {
  code=$1
  text=$2
  shift 2
  expect "$code" "$text" warm "$@"
}

cat > "$work/config.json" << 'JSON'
{"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4,
 "num_key_value_heads": 2, "vocab_size": 2000}
JSON

warm 2 "nothing to warm"
warm 2 "/nowhere/config.json" --model /nowhere/config.json
warm 3 "ingotd" --model "$work/config.json"
warm 0 '"n","value":"2048"' --model "$work/config.json" --list
[ "$(wc -l < "$work/out")" = 8 ] || fail "--list: found $(wc -l < "$work/out") lines, expected 8"
cp "$work/out" "$work/manifest.jsonl"

start_daemon

# What one number of tokens needs is less than what every number does, and is
# there afterwards.
warm 0 "8 specs" --model "$work/config.json" --batch 4
warm 0 " 0 refused" --model "$work/config.json"
kernels=$(sed 's/.*specs, \([0-9]*\) kernels.*/\1/' "$work/out")
[ "$kernels" -gt 1 ] || fail "no kernels were counted"
warm 0 "8 specs, $kernels kernels: 0 compiled, 8 already there, 0 refused" --manifest "$work/manifest.jsonl"
# All layers of a model share few kernels: products with the same accesses.
listed=$("$build/bin/ingotctl" ls | tail -n +2 | wc -l)
[ "$listed" -le "$kernels" ] || fail "ls: found $listed kernels, expected at most $kernels"

echo '{"op": "fft", "target": "gfx950"}' >> "$work/manifest.jsonl"
warm 6 "refused, 1 as fft: UNIMPLEMENTED" --manifest "$work/manifest.jsonl"
found=0
"$build/bin/ingotctl" --output json warm --manifest "$work/manifest.jsonl" > "$work/out" || found=$?
[ "$found" = 6 ] || fail "json: exit code $found, expected 6"
python3 - "$work/out" << 'PYTHON' || fail "json"
import json, sys
said = json.load(open(sys.argv[1]))
assert (said["specs"], said["already_there"], said["refused"]) == (9, 8, 1), said
assert said["refusals"][0]["spec"] == "fft", said
PYTHON
echo 'no json' > "$work/bad.jsonl"
warm 2 "bad.jsonl:1" --manifest "$work/bad.jsonl"
echo "passed"
