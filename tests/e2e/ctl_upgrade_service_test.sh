# A new version that is warmed before it serves, the way back, and what is
# collected when there is none any more. The new version is ingotd-other, whose
# ops have other fingerprints.
set -eu
source tests/support/ctl.sh

# launch NAME BUILD STATE: BUILD is "" or "-other"; its pid is in $pid.
launch() {
  "$build/bin/ingotd$2" --worker-program "$build/bin/ingot-worker$2" \
    --socket "$work/$1" --state-dir "$work/$3" --workers 1 >> "$work/log-$1" 2>&1 &
  pid=$!
  daemon="$daemon $pid"
}

# start NAME BUILD STATE: launch, and wait until it serves.
start() {
  launch "$@"
  for _ in $(seq 600); do
    "$build/bin/ingotctl" --address "unix:$work/$1" stats > "$work/out" 2> "$work/err" && return
    kill -0 "$pid" || fail "ingotd$2 ended: $(cat "$work/log-$1")"
    sleep 0.1
  done
  fail "ingotd$2 does not serve"
}

stop() {
  kill "$1"
  wait "$1" || fail "ingotd ended with $?"
}

# at CODE TEXT NAME ARGUMENT...: expect, of the daemon of that name.
at() { expect "$1" "$2" --address "unix:$work/$3" "${@:4}"; }

# keys NAME: of the kernels it holds, sorted.
keys() {
  "$build/bin/ingotctl" --address "unix:$work/$1" --output json ls |
    grep -o '"key":"[0-9a-f]*"' | sort
}

# serves NAME: all that the first daemon was asked for, and nothing compiled.
serves() {
  at 0 store "$1" get rmsnorm rows n=64
  at 0 store "$1" get rmsnorm rows n=128 --tune threads=128
  at 0 store "$1" get gemm m n=256 k=256
  grep -q compiled "$work/out" && fail "$1: a kernel was compiled"
  at 0 "ingot_compiles_total *0$" "$1" stats
}

start old "" state
old=$pid
at 0 compiled old get rmsnorm rows n=64
at 0 compiled old get rmsnorm rows n=128 --tune threads=128
at 0 compiled old get gemm m n=256 k=256
keys old > "$work/old-keys"
kernels=$(wc -l < "$work/old-keys")
[ "$kernels" -ge 3 ] || fail "found $kernels kernels, expected 3 or more"

# One directory is one daemon's.
launch second -other state
if wait "$pid"; then fail "two daemons share a directory"; fi
grep -q "$old" "$work/log-second" || fail "the second does not name process $old: $(cat "$work/log-second")"
at 0 memory old get rmsnorm rows n=64

start new -other state-new
new=$pid
at 0 "^1 specs: 1 compiled, 0 already there, 0 refused" new warm-from "unix:$work/old" --op gemm
at 0 "^3 specs: 2 compiled, 1 already there, 0 refused" new warm-from "unix:$work/old"
at 0 '"specs":3,"compiled":0,"present":3,"refusals":\[\]' new --output json warm-from "unix:$work/old"
at 0 memory new get rmsnorm rows n=64
at 0 memory new get rmsnorm rows n=128 --tune threads=128

# The two never share a kernel.
keys new > "$work/new-keys"
[ "$(wc -l < "$work/new-keys")" = "$kernels" ] || fail "the new one lacks kernels"
[ -z "$(comm -12 "$work/old-keys" "$work/new-keys")" ] || fail "builds share a key"

# What was warmed goes into the store of the one that serves.
at 0 "$kernels kernels" new export --to "$work/bundle"
at 0 "" old import "$work/bundle"
at 0 "\"entries\":$((2 * kernels))" old --output json stats

# What the new version does not hand out is told before it serves.
at 0 "disabled 1" new disable --op gemm --reason "not yet"
at 6 "refused: op gemm: disabled by .*not yet" new warm-from "unix:$work/old"
at 3 "$work/nobody" new warm-from "unix:$work/nobody"
stop "$new"
stop "$old"

# The new version on the old one's directory has all of it; so has the old one
# when it comes back.
start new -other state
new=$pid
serves new
at 0 "would remove $kernels," new gc --dry-run
stop "$new"
start old "" state
old=$pid
serves old
stop "$old"

# Once the new version stays, only what the old one made goes.
start new -other state
new=$pid
at 0 "would remove $kernels," new gc --dry-run
at 0 "^removed $kernels," new gc
keys new | cmp - "$work/new-keys" || fail "gc took other kernels than the old one's"
serves new
at 0 "^removed 0, 0 B" new gc
stop "$new"
start old "" state
old=$pid
at 0 compiled old get rmsnorm rows n=64
stop "$old"
daemon=
echo "ok"
