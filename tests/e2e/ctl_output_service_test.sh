# How ingotctl refuses, that `--output json` is one document, and that neither
# program prints what no log has. Usage: ctl_output_service_test.sh BUILD_DIR
set -euo pipefail
build=$1
folder=$(mktemp -d)
daemon=
cleanup() {
  [[ -z $daemon ]] || kill -CONT "$daemon" 2>/dev/null || true
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

"$build/bin/ingotd" --socket "$folder/s" --state-dir "$folder/state" 2>"$folder/log" &
daemon=$!
export INGOT_ADDRESS=unix:$folder/s
for ((i = 0; i < 600; i++)); do
  "$build/bin/ingotctl" stats >/dev/null 2>&1 && break
  kill -0 "$daemon" || { echo "ingotd ended"; cat "$folder/log"; exit 1; }
  sleep 0.1
done
export INGOT_HIP_LIBRARY=$build/lib/libamdhip64_emulator.so

# ends CODE TEXT ARGS...: exits with CODE and prints TEXT.
ends() {
  local code=$1 text=$2 found=0
  shift 2
  "$build/bin/ingotctl" "$@" >"$folder/out" 2>&1 || found=$?
  if ((found != code)) || ! grep -qF -- "$text" "$folder/out"; then
    echo "ingotctl $*: exit $found, expected $code and '$text'; it said:"
    cat "$folder/out"
    exit 1
  fi
}

ends 0 "." --version
ends 2 'found "nope", allowed get' nope
ends 2 "subcommand" # none at all
for seconds in 0 -1 nan inf x; do
  ends 2 "found $seconds, allowed more than 0" --timeout "$seconds" stats
done
ends 2 "dim n: found 0, allowed 1 to 131072" get rmsnorm rows n=0
ends 2 "found 'nothing'" get nothing --operand x:bf16
ends 3 "no daemon answers" --address "unix:$folder/none" stats
ends 4 "time budget" --timeout 0.000001 stats # spent before it is sent
kill -STOP "$daemon"
ends 4 "time budget" --timeout 0.2 stats
kill -CONT "$daemon"
ends 5 "not stored" inspect "$(printf '0%.0s' {1..64})"
ends 5 "no key begins" rm zz
ends 5 "none of which is stored" pin "$(printf '0%.0s' {1..64})"
ends 2 "malformed" get rmsnorm $'\xff=3'
if grep -qi protobuf "$folder/out"; then
  echo "more than the error:"
  cat "$folder/out"
  exit 1
fi

# one_document ARGS...: the answer is one JSON object on one line.
one_document() {
  "$build/bin/ingotctl" --output json "$@" >"$folder/out"
  if (($(wc -l <"$folder/out") != 1)) || ! grep -qE '^\{.*\}$' "$folder/out"; then
    echo "ingotctl --output json $*: no single document:"
    cat "$folder/out"
    exit 1
  fi
}

one_document check
grep -q '"checks":\[{.*},{.*}\]' "$folder/out"
one_document check rmsnorm rows=3 n=65
one_document get rmsnorm rows n=65
key=$("$build/bin/ingotctl" ls | awk 'NR == 2 {print $1}')
"$build/bin/ingotctl" record --out "$folder/r.jsonl" >/dev/null
for command in ls stats capabilities doctor "inspect -d $key" "pin $key" "unpin $key" \
  "disable $key --reason x" disabled "enable $key" "explain rmsnorm rows n=65" \
  "candidates rmsnorm rows n=65" "tune add rmsnorm rows n=65 --tune threads=64 --us 3" \
  "tune ls" "tune rm --all" repro "top --iterations 1 --interval 0.1" record \
  "record --out $folder/r2.jsonl" "warm --recorded $folder/r.jsonl" \
  "warm-from $INGOT_ADDRESS" "coverage --recorded $folder/r.jsonl --manifest $folder/r.jsonl" \
  "export --to $folder/all.bundle" "import $folder/all.bundle" "keygen $folder/key.pem" \
  verify gc "rm $key" "rm --all"; do
  # shellcheck disable=SC2086
  one_document $command
done

# Nobody is left out: a new command has to be added above, or here.
names=$("$build/bin/ingotctl" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
for name in $names; do
  case $name in completion | man) continue ;; esac # text for programs of their own
  grep -qE "(one_document|[\" ])$name[\" ;]" "$0" || { echo "no JSON of $name was looked at"; exit 1; }
done

if grep -v '^{' "$folder/log"; then
  echo "lines of the daemon's log that are no JSON"
  exit 1
fi
