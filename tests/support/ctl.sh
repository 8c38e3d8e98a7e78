# What tests of ingotctl share, for `source`: a folder, a daemon of their own,
# and runs of the command with what is expected of them. Wants the build folder
# in $1.
build=$1
work=$(mktemp -d)
daemon= # process ids, separated by spaces
# A daemon that does not drain well, by a sanitizer's word too, is a failure.
finish() {
  status=$?
  for pid in $daemon; do
    kill "$pid" 2>/dev/null || continue
    kill -CONT "$pid" # one that a test stopped
    wait "$pid" || { status=$?; echo "ingotd ended with $status"; cat "$work"/log* || true; }
  done
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

fail() {
  echo "FAILED: $1"
  cat "$work/out" "$work/err" 2>/dev/null || true
  exit 1
}

# run CODE ARGUMENT...: runs ingotctl, which must end with CODE; its output is
# in $work/out and $work/err.
run() {
  expected=$1
  shift
  found=0
  "$build/bin/ingotctl" "$@" > "$work/out" 2> "$work/err" || found=$?
  [ "$found" = "$expected" ] || fail "ingotctl $*: exit code $found, expected $expected"
}

# expect CODE TEXT ARGUMENT...: the same; TEXT must be in what it says.
expect() {
  code=$1
  text=$2
  shift 2
  run "$code" "$@"
  cat "$work/out" "$work/err" | grep -q -- "$text" || fail "ingotctl $*: no \"$text\""
}

export INGOT_ADDRESS=unix:$work/s

# start_daemon FLAG...: with one worker; returns when it serves.
start_daemon() {
  "$build/bin/ingotd" --socket "$work/s" --state-dir "$work/state" --workers 1 "$@" > "$work/log" 2>&1 &
  daemon=$!
  for _ in $(seq 600); do
    "$build/bin/ingotctl" stats > "$work/out" 2> "$work/err" && return
    kill -0 "$daemon" || fail "ingotd ended: $(cat "$work/log")"
    sleep 0.1
  done
  fail "ingotd does not serve: $(cat "$work/log")"
}
