# ingotctl doctor, completion and man.
set -eu
source tests/support/ctl.sh

# line CODE PATTERN ARGUMENT...: runs ingotctl; a line it prints must match.
line() {
  code=$1
  pattern=$2
  shift 2
  run "$code" "$@"
  grep -q -- "$pattern" "$work/out" || fail "ingotctl $*: no line with \"$pattern\""
}

hip=$INGOT_HIP_LIBRARY

INGOT_HIP_LIBRARY=/nowhere/libhip.so line 1 "^socket  *bad .*$work/s does not exist" doctor
grep -q "^daemon  *bad " "$work/out" || fail "doctor: a dead daemon is not bad"
touch "$work/s"
line 1 "^socket  *bad .*is no socket" doctor
rm "$work/s"
INGOT_TRUSTED_KEYS=/nowhere/keys line 1 "^INGOT_TRUSTED_KEYS  *bad " doctor
line 1 "^address  *bad .*what is this" --address "what is this" doctor

start_daemon
INGOT_HIP_LIBRARY=/nowhere/libhip.so line 0 "^gpu  *warning " doctor
INGOT_HIP_LIBRARY=$hip line 0 "^gpu  *ok  *gfx950" doctor
for what in clock address socket daemon ops workers store; do
  grep -q "^$what  *ok " "$work/out" || fail "doctor: $what is not ok"
done
INGOT_HIP_LIBRARY=$hip line 0 '"healthy":true' --output json doctor

if "$build/bin/ingotctl" completion fish > "$work/out" 2> "$work/err"; then fail "completion fish"; fi
line 0 "complete .*ingotctl" completion bash
bash -n "$work/out" || fail "completion bash: not bash"
# What a user would be offered after these words.
offered() {
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ingotctl; echo "${COMPREPLY[*]}"' \
    _ "$work/out" "$@"
}
[ "$(offered ingotctl doc)" = doctor ] || fail "completion: ingotctl doc"
[ "$(offered ingotctl warm --mod)" = --model ] || fail "completion: ingotctl warm --mod"
[ "$(offered ingotctl --output j)" = json ] || fail "completion: ingotctl --output j"
line 0 "_describe command commands" completion zsh
if command -v zsh > /dev/null; then zsh -n "$work/out" || fail "completion zsh: not zsh"; fi

line 0 '^\.TH INGOTCTL 1' man
for section in NAME SYNOPSIS OPTIONS COMMANDS "EXIT STATUS" ENVIRONMENT; do
  grep -q "^\.SH $section" "$work/out" || fail "man: no $section"
done
for command in $("$build/bin/ingotctl" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  grep -q "^\.SS ${command//-/\\\\-}$" "$work/out" || fail "man: no $command"
done
grep -q "^\.SS coverage$" "$work/out" || fail "man: the list of commands is not read"
echo "passed"
