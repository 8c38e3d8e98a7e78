# The .deb files: what is in each, and what each needs.
set -eu
build=$(realpath "$1")
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $tool > /dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$build" && cpack -G DEB -B "$work") > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# expect PACKAGE DEPENDENCY PATH...: all of them, and no path of another build.
expect() {
  file=$(echo "$work/$1"_*.deb)
  dpkg-deb -f "$file" Depends | grep -q -- "$2" || { echo "$1: no dependency $2"; exit 1; }
  dpkg-deb -c "$file" > "$work/list"
  shift 2
  for path in "$@"; do
    grep -q " \.$path\( ->.*\)\?$" "$work/list" || { echo "$file: no $path"; cat "$work/list"; exit 1; }
  done
}

expect ingotd librocksdb /usr/bin/ingotd /usr/bin/ingot-worker /etc/ingot/ingotd.toml \
  /usr/lib/systemd/system/ingotd.service /usr/lib/systemd/system/ingotd.socket /usr/lib/sysusers.d/ingot.conf
expect libingot0 "libc6 (>= 2.34)" /usr/bin/ingotctl /usr/lib/libingot.so.0 \
  /usr/share/man/man1/ingotctl.1 /usr/share/bash-completion/completions/ingotctl
expect libingot-dev "libingot0 (= " /usr/include/ingot/ingot.h /usr/lib/libingot.so /usr/lib/pkgconfig/ingot.pc \
  /usr/lib/cmake/ingot/ingotConfig.cmake /usr/share/doc/ingot/examples/rmsnorm.c
expect python3-ingot libingot0 /usr/lib/python3/dist-packages/ingot/__init__.py \
  /usr/lib/python3/dist-packages/ingot/torch/_ops.py
dpkg-deb -f "$work"/ingotd_*.deb Depends | grep -q "libllvm\|libmlir" && { echo "ingotd needs a shared LLVM"; exit 1; }
dpkg-deb -e "$work"/ingotd_*.deb "$work/control"
grep -q /etc/ingot/ingotd.toml "$work/control/conffiles" || { echo "ingotd: the configuration is no conffile"; exit 1; }
[ -x "$work/control/postinst" ] || { echo "ingotd: postinst cannot be run"; exit 1; }
echo "passed"
