# ingotctl keygen: a key that a daemon signs with, that OpenSSL knows, and that
# nobody overwrites by mistake.
set -eu
source tests/support/ctl.sh

umask 0000 # the mode is keygen's own doing
run 0 keygen "$work/key.pem"
id=$(sed -n 's/^key \([0-9a-f]\{32\}\)$/\1/p' "$work/out")
[[ -n $id ]] || fail "no id"
[[ $(stat -c %a "$work/key.pem") == 600 ]] || fail "mode $(stat -c %a "$work/key.pem")"

# The id is what proto/signatures.md says, computed without our code.
expected=$(openssl pkey -in "$work/key.pem" -pubout -outform DER | tail -c 32 |
  sha256sum | head -c 32)
[[ $id == "$expected" ]] || fail "id $id, expected $expected"
openssl pkey -pubin -in "$work/key.pem.pub" -pubout -outform DER | tail -c 32 |
  sha256sum | grep -q "^$id" || fail "the public file holds another key"

cp "$work/key.pem" "$work/kept"
for name in key.pem key; do # the second would replace key.pem.pub
  [[ $name == key.pem ]] || mv "$work/key.pem.pub" "$work/key.pub"
  expect 1 "allowed a name that is free" keygen "$work/$name"
done
cmp -s "$work/key.pem" "$work/kept" || fail "the key was overwritten"
[[ ! -e $work/key ]] || fail "half a pair was left"

start_daemon --signing-key "$work/key.pem" --signature-policy require
run 0 get rmsnorm rows n=64
key=$("$build/bin/ingotctl" ls | awk 'NR == 2 {print $1}')
[[ -n $key ]] || fail "nothing is stored"
expect 0 "^signed by   $id$" inspect "$key"
echo "ok"
