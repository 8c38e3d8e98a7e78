# ingotd takes the sample configuration, and the unit names what the build
# installs. Usage: sample_config_service_test.sh BUILD_DIR
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

"$build/bin/ingotd" --config deploy/ingotd.toml --socket "$folder/ingotd.sock" \
  --state-dir "$folder/state" --log-file "$folder/log" &
daemon=$!
for ((i = 0; i < 600; i++)); do
  "$build/bin/ingotctl" --address "unix:$folder/ingotd.sock" stats >/dev/null 2>&1 && break
  kill -0 "$daemon" || { echo "ingotd ended"; cat "$folder/log"; exit 1; }
  sleep 0.1
done
"$build/bin/ingotctl" --address "unix:$folder/ingotd.sock" stats >/dev/null

# Every key that the sample sets or shows commented out is one of --help.
help=$("$build/bin/ingotd" --help)
grep -oE '^(# )?[a-z_]+ = ' deploy/ingotd.toml | tr -d '# =' | while read -r key; do
  grep -q -- "--${key//_/-} " <<<"$help" || { echo "ingotd.toml: ingotd has no key $key"; exit 1; }
done

program=$(sed -n 's,^ExecStart=\([^ ]*\).*,\1,p' deploy/ingotd.service)
[[ $(basename "$program") == ingotd ]] || { echo "ingotd.service starts $program"; exit 1; }

# An unknown key is refused by name.
printf 'sockte = "x"\n' >"$folder/wrong.toml"
if message=$("$build/bin/ingotd" --config "$folder/wrong.toml" 2>&1); then
  echo "a wrong key was taken"
  exit 1
fi
grep -q sockte <<<"$message" || { echo "the refusal does not name the key: $message"; exit 1; }
