# ingotctl keygen: a key that a daemon signs with, that OpenSSL knows, and that
# nobody overwrites by mistake. Usage: keygen_service_test.sh BUILD_DIR
set -euo pipefail
build=$1
folder=$(mktemp -d)
daemon=
cleanup() {
  [[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

fail() {
  echo "FAILED: $1"
  cat "$folder/out" "$folder/log" 2>/dev/null || true
  exit 1
}

umask 0000 # the mode is keygen's own doing
"$build/bin/ingotctl" keygen "$folder/key.pem" >"$folder/out"
id=$(sed -n 's/^key \([0-9a-f]\{32\}\)$/\1/p' "$folder/out")
[[ -n $id ]] || fail "no id"
[[ $(stat -c %a "$folder/key.pem") == 600 ]] || fail "mode $(stat -c %a "$folder/key.pem")"

# The id is what proto/signatures.md says, computed without our code.
expected=$(openssl pkey -in "$folder/key.pem" -pubout -outform DER | tail -c 32 |
  sha256sum | head -c 32)
[[ $id == "$expected" ]] || fail "id $id, expected $expected"
openssl pkey -pubin -in "$folder/key.pem.pub" -pubout -outform DER | tail -c 32 |
  sha256sum | grep -q "^$id" || fail "the public file holds another key"

cp "$folder/key.pem" "$folder/kept"
for name in key.pem key; do # the second would replace key.pem.pub
  [[ $name == key.pem ]] || mv "$folder/key.pem.pub" "$folder/key.pub"
  found=0
  "$build/bin/ingotctl" keygen "$folder/$name" >"$folder/out" 2>&1 || found=$?
  [[ $found == 1 ]] || fail "keygen $name: exit code $found"
  grep -q "allowed a name that is free" "$folder/out" || fail "keygen $name"
done
cmp -s "$folder/key.pem" "$folder/kept" || fail "the key was overwritten"
[[ ! -e $folder/key ]] || fail "half a pair was left"

"$build/bin/ingotd" --socket "$folder/s" --state-dir "$folder/state" --workers 1 \
  --signing-key "$folder/key.pem" --signature-policy require 2>"$folder/log" &
daemon=$!
export INGOT_ADDRESS=unix:$folder/s
for ((i = 0; i < 600; i++)); do
  "$build/bin/ingotctl" stats >/dev/null 2>&1 && break
  kill -0 "$daemon" || fail "ingotd ended"
  sleep 0.1
done
"$build/bin/ingotctl" get rmsnorm rows n=64 >/dev/null
key=$("$build/bin/ingotctl" ls | awk 'NR == 2 {print $1}')
[[ -n $key ]] || fail "nothing is stored"
"$build/bin/ingotctl" inspect "$key" >"$folder/out"
grep -q "^signed by   $id$" "$folder/out" || fail "inspect does not show who signed"
echo "ok"
