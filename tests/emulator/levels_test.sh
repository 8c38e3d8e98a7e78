#!/bin/bash
# The interpreter is built for CPUs that differ. A function with a shared name in
# two of the builds could be linked in place of the other's and fault on an older
# CPU, so no object of a build may define a weak symbol outside its namespace.
build=$1
status=0
levels=$(sed -n "s/^INGOT_EMULATOR_LEVELS:STRING=//p" "$build/CMakeCache.txt")
for level in ${levels//;/ }; do
  objects=("$build"/tests/emulator/CMakeFiles/emulator_x86_64_$level.dir/interp/*.o)
  [ -e "${objects[0]}" ] || { echo "no objects of $level below $build"; exit 1; }
  shared=$(nm --defined-only --demangle "${objects[@]}" | grep -E '^[0-9a-f]+ [VvWwu] ' |
           grep -v "x86_64_$level::" | grep -v ' DW.ref')
  if [ -n "$shared" ]; then
    echo "x86-64-$level shares symbols with other builds:"
    echo "$shared" | sort | uniq | head -20
    status=1
  fi
done
exit $status
