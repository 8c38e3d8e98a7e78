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
for command in ls stats capabilities verify gc "rm --all"; do
  # shellcheck disable=SC2086
  one_document $command
done

if grep -v '^{' "$folder/log"; then
  echo "lines of the daemon's log that are no JSON"
  exit 1
fi
