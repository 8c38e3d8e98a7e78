# ingotctl doctor, completion and man.
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

# expect CODE PATTERN ARGUMENT...: runs ingotctl; a line must match PATTERN.
expect() {
  code=$1
  pattern=$2
  shift 2
  found=0
  "$build/bin/ingotctl" "$@" > "$work/out" 2> "$work/err" || found=$?
  [ "$found" = "$code" ] || fail "ingotctl $*: exit code $found, expected $code"
  grep -q -- "$pattern" "$work/out" || fail "ingotctl $*: no line with \"$pattern\""
}

export INGOT_ADDRESS=unix:$work/s
hip=$INGOT_HIP_LIBRARY

INGOT_HIP_LIBRARY=/nowhere/libhip.so expect 1 "^socket  *bad .*$work/s does not exist" doctor
grep -q "^daemon  *bad " "$work/out" || fail "doctor: a dead daemon is not bad"
touch "$work/s"
expect 1 "^socket  *bad .*is no socket" doctor
rm "$work/s"
INGOT_TRUSTED_KEYS=/nowhere/keys expect 1 "^INGOT_TRUSTED_KEYS  *bad " doctor
expect 1 "^address  *bad .*what is this" --address "what is this" doctor

"$build/bin/ingotd" --socket "$work/s" --state-dir "$work/state" --workers 1 > "$work/log" 2>&1 &
daemon=$!
for _ in $(seq 600); do
  "$build/bin/ingotctl" stats > "$work/out" 2> "$work/err" && break
  kill -0 "$daemon" || fail "ingotd ended: $(cat "$work/log")"
  sleep 0.1
done
INGOT_HIP_LIBRARY=/nowhere/libhip.so expect 0 "^gpu  *warning " doctor
INGOT_HIP_LIBRARY=$hip expect 0 "^gpu  *ok  *gfx950" doctor
for what in clock address socket daemon ops workers store; do
  grep -q "^$what  *ok " "$work/out" || fail "doctor: $what is not ok"
done
INGOT_HIP_LIBRARY=$hip expect 0 '"healthy":true' --output json doctor

if "$build/bin/ingotctl" completion fish > "$work/out" 2> "$work/err"; then fail "completion fish"; fi
expect 0 "complete .*ingotctl" completion bash
bash -n "$work/out" || fail "completion bash: not bash"
# What a user would be offered after these words.
offered() {
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ingotctl; echo "${COMPREPLY[*]}"' \
    _ "$work/out" "$@"
}
[ "$(offered ingotctl doc)" = doctor ] || fail "completion: ingotctl doc"
[ "$(offered ingotctl warm --mod)" = --model ] || fail "completion: ingotctl warm --mod"
[ "$(offered ingotctl --output j)" = json ] || fail "completion: ingotctl --output j"
expect 0 "_describe command commands" completion zsh
if command -v zsh > /dev/null; then zsh -n "$work/out" || fail "completion zsh: not zsh"; fi

expect 0 '^\.TH INGOTCTL 1' man
for section in NAME SYNOPSIS OPTIONS COMMANDS "EXIT STATUS" ENVIRONMENT; do
  grep -q "^\.SH $section" "$work/out" || fail "man: no $section"
done
for command in $("$build/bin/ingotctl" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  grep -q "^\.SS $command$" "$work/out" || fail "man: no $command"
done
echo "passed"
