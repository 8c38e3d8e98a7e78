# The installed tree alone, in a folder of its own: the daemon starts, the
# examples compile against it by pkg-config and by CMake, and compute.
set -eu
build=$(realpath "$1")
source=$(pwd)
work=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  [ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

cmake --install "$build" --prefix "$work/usr" > "$work/log" || { cat "$work/log"; exit 1; }
cd "$work"
pc=$(find usr -name ingot.pc)
library=$(dirname "$(find usr -name libingot.so.0)")
export PKG_CONFIG_PATH=$work/$(dirname "$pc") LD_LIBRARY_PATH=$work/$library:$build/lib/hip:$build/lib
export INGOT_HIP_LIBRARY=$build/lib/hip/libamdhip64.so INGOT_ADDRESS=unix:$work/s
hip="-I$source/tests/install/include -L$build/lib/hip -lamdhip64"
examples=$(find usr -type d -name examples)

cc -Wall -Wextra -Werror "$examples/rmsnorm.c" $(pkg-config --cflags --libs ingot) $hip -lm -o rmsnorm
c++ -std=c++17 -Wall -Wextra -Werror "$examples/gemm.cc" $(pkg-config --cflags --libs ingot) $hip -o gemm
mkdir project
cat > project/CMakeLists.txt << CMAKE
cmake_minimum_required(VERSION 3.16)
project(example CXX)
find_package(ingot 0.1 REQUIRED)
add_executable(gemm $work/$examples/gemm.cc)
target_include_directories(gemm PRIVATE $source/tests/install/include)
target_link_libraries(gemm PRIVATE ingot::ingot $build/lib/hip/libamdhip64.so)
CMAKE
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$work/usr" > log 2>&1 && cmake --build project/build >> log 2>&1 ||
  { cat log; exit 1; }

./rmsnorm > out 2>&1 && { echo "rmsnorm: succeeded without a daemon"; exit 1; }
grep -q "UNAVAILABLE" out || { cat out; exit 1; }

usr/bin/ingotd --socket "$work/s" --state-dir "$work/state" --workers 1 > daemon.log 2>&1 &
daemon=$!
for _ in $(seq 600); do
  usr/bin/ingotctl stats > out 2>&1 && break
  kill -0 "$daemon" || { cat daemon.log; exit 1; }
  sleep 0.1
done
for example in ./rmsnorm ./gemm project/build/gemm; do
  $example || { echo "$example failed"; exit 1; }
done
PYTHONPATH=$work/usr/lib/python3/dist-packages /usr/bin/python3 -B "$examples/silu_linear.py"
