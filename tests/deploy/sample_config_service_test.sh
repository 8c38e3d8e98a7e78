# ingotd takes the sample configuration, and the unit names what the build
# installs.
set -euo pipefail
source tests/support/ctl.sh

start_daemon --config deploy/ingotd.toml

# Every key that the sample sets or shows commented out is one of --help.
help=$("$build/bin/ingotd" --help)
grep -oE '^(# )?[a-z_]+ = ' deploy/ingotd.toml | tr -d '# =' | while read -r key; do
  grep -q -- "--${key//_/-} " <<<"$help" || fail "ingotd.toml: ingotd has no key $key"
done

program=$(sed -n 's,^ExecStart=\([^ ]*\).*,\1,p' deploy/ingotd.service)
[[ $(basename "$program") == ingotd ]] || fail "ingotd.service starts $program"

# The socket unit makes the socket that the sample names.
listen=$(sed -n 's/^ListenStream=//p' deploy/ingotd.socket)
grep -qF "socket = \"$listen\"" deploy/ingotd.toml || fail "ingotd.socket listens on $listen"

# A socket that is handed over is served, and systemd is told.
/usr/bin/python3 - "$build" "$work" <<'PYTHON'
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
printf 'sockte = "x"\n' >"$work/wrong.toml"
if message=$("$build/bin/ingotd" --config "$work/wrong.toml" 2>&1); then
  fail "a wrong key was taken"
fi
grep -q sockte <<<"$message" || fail "the refusal does not name the key: $message"
