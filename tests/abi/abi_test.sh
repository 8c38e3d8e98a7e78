# What libingot.so shows, needs and refers to; and programs compiled against its
# headers alone, as C11, C++17 and through the wrapper.
set -eu
build=$1
library=$build/lib/libingot.so
if grep -q '^INGOT_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
  echo "a sanitizer's build needs other libraries: nothing to check"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

others=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^ingot_' || true)
[ -z "$others" ] || fail "exports other names than ingot_*: $others"

# Every function of the header is there, and nothing else is.
sed -n 's/.*\b\(ingot_[a-z_]*\)(.*/\1/p' client/include/ingot/ingot.h |
  grep -v '^ingot_prepare_$' | sort -u > "$work/mentioned"
nm -D --defined-only "$library" | awk '{print $3}' | sort -u > "$work/exported"
missing=$(comm -13 "$work/mentioned" "$work/exported")
[ -z "$missing" ] || fail "exports what the header does not mention: $missing"
[ "$(wc -l < "$work/exported")" -ge 20 ] || fail "exports hardly anything"

soname=$(objdump -p "$library" | awk '/SONAME/ {print $2}')
[ "$soname" = libingot.so.0 ] || fail "soname is $soname"

needed=$(objdump -p "$library" | awk '/NEEDED/ {print $2}' |
  grep -vE '^(libcrypto\.so\.3|libssl\.so\.3|libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2)$' || true)
[ -z "$needed" ] || fail "needs $needed"

newer=$(objdump -T "$library" | grep -oE 'GLIBC_2\.(3[5-9]|[4-9][0-9])' | sort -u || true)
[ -z "$newer" ] || fail "refers to symbols of $newer; hosts have 2.34"

flags="-Iclient/include -Wall -Wextra -Werror -pedantic"
link="-L$build/lib -lingot -Wl,-rpath,$build/lib"
run() {
  [ "$("$work/program")" = ok ] || fail "$1"
}
cc -std=c11 $flags tests/abi/program.c $link -o "$work/program"
run "program.c as C11"
c++ -std=c++17 -x c++ $flags tests/abi/program.c -x none $link -o "$work/program"
run "program.c as C++17"
c++ -std=c++17 $flags tests/abi/wrapper.cc $link -o "$work/program"
run "wrapper.cc"
echo "ok"
