# How ingotctl refuses, that `--output json` is one document, and that neither
# program prints what no log has.
set -eu
source tests/support/ctl.sh
export INGOT_HIP_LIBRARY=$build/lib/libamdhip64_emulator.so
start_daemon

expect 0 "." --version
expect 2 'found "nope", allowed get' nope
expect 2 "subcommand" # none at all
for seconds in 0 -1 nan inf x; do
  expect 2 "found $seconds, allowed more than 0" --timeout "$seconds" stats
done
expect 2 "dim n: found 0, allowed 1 to 131072" get rmsnorm rows n=0
expect 2 "found 'nothing'" get nothing --operand x:bf16
expect 3 "no daemon answers" --address "unix:$work/none" stats
expect 4 "time budget" --timeout 0.000001 stats # spent before it is sent
kill -STOP "$daemon"
expect 4 "time budget" --timeout 0.2 stats
kill -CONT "$daemon"
expect 5 "not stored" inspect "$(printf '0%.0s' {1..64})"
expect 5 "no key begins" rm zz
expect 5 "none of which is stored" pin "$(printf '0%.0s' {1..64})"
expect 2 "malformed" get rmsnorm $'\xff=3'
if grep -qi protobuf "$work/err"; then fail "more than the error"; fi

# one_document ARGS...: the answer is one JSON object on one line.
one_document() {
  run 0 --output json "$@"
  if (($(wc -l < "$work/out") != 1)) || ! grep -qE '^\{.*\}$' "$work/out"; then
    fail "ingotctl --output json $*: no single document"
  fi
}

one_document check
grep -q '"checks":\[{.*},{.*}\]' "$work/out"
one_document check rmsnorm rows=3 n=65
one_document get rmsnorm rows n=65
key=$("$build/bin/ingotctl" ls | awk 'NR == 2 {print $1}')
"$build/bin/ingotctl" record --out "$work/r.jsonl" >/dev/null
for command in ls stats capabilities doctor "inspect -d $key" "pin $key" "unpin $key" \
  "disable $key --reason x" disabled "enable $key" "explain rmsnorm rows n=65" \
  "candidates rmsnorm rows n=65" "tune add rmsnorm rows n=65 --tune threads=64 --us 3" \
  "tune ls" "tune rm --all" repro "top --iterations 1 --interval 0.1" record \
  "record --out $work/r2.jsonl" "warm --recorded $work/r.jsonl" \
  "warm-from $INGOT_ADDRESS" "coverage --recorded $work/r.jsonl --manifest $work/r.jsonl" \
  "export --to $work/all.bundle" "import $work/all.bundle" "keygen $work/key.pem" \
  verify gc "rm $key" "rm --all"; do
  # shellcheck disable=SC2086
  one_document $command
done

# Nobody is left out: a new command has to be added above, or here.
names=$("$build/bin/ingotctl" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
for name in $names; do
  case $name in completion | man) continue ;; esac # text for programs of their own
  grep -qE "(one_document|[\" ])$name[\" ;]" "$0" || fail "no JSON of $name was looked at"
done

if grep -v '^{' "$work/log"; then fail "lines of the daemon's log that are no JSON"; fi
