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

# The socket unit makes the socket that the sample names.
listen=$(sed -n 's/^ListenStream=//p' deploy/ingotd.socket)
grep -qF "socket = \"$listen\"" deploy/ingotd.toml || { echo "ingotd.socket listens on $listen"; exit 1; }

# A socket that is handed over is served, and systemd is told.
/usr/bin/python3 - "$build" "$folder" <<'PYTHON'
import os, socket, subprocess, sys
build, folder = sys.argv[1:]
listening = socket.socket(socket.AF_UNIX)
listening.bind(folder + "/handed")
listening.listen()
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(folder + "/notify")
notify.settimeout(60)
child = os.fork()
if child == 0:
    os.dup2(listening.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=folder + "/notify")
    os.execv(build + "/bin/ingotd", ["ingotd", "--state-dir", folder + "/activated", "--log-file", folder + "/log2"])
try:
    assert notify.recv(64) == b"READY=1"
    subprocess.run([build + "/bin/ingotctl", "--address", "unix:" + folder + "/handed", "stats"],
                   check=True, stdout=subprocess.DEVNULL)
finally:
    os.kill(child, 15)
assert notify.recv(64) == b"STOPPING=1"
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert os.path.exists(folder + "/handed")
PYTHON

# An unknown key is refused by name.
printf 'sockte = "x"\n' >"$folder/wrong.toml"
if message=$("$build/bin/ingotd" --config "$folder/wrong.toml" 2>&1); then
  echo "a wrong key was taken"
  exit 1
fi
grep -q sockte <<<"$message" || { echo "the refusal does not name the key: $message"; exit 1; }
