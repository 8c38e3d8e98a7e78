# Builds the wheels of ingot and of ingot-vllm. Usage: wheel.sh BUILD_FOLDER
# OUTPUT_FOLDER; nothing is written into the tree, nothing is fetched.
set -euo pipefail
build=$(realpath "$1")
output=$(realpath -m "$2")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here"/{ingot,vllm-plugin,pyproject.toml,setup.py,README.md} "$work"
find "$work" -name __pycache__ -prune -exec rm -r {} +
strip --strip-unneeded -o "$work/libingot.so.0" "$build/lib/libingot.so.0"
mkdir -p "$output"
export INGOT_LIBRARY=$work/libingot.so.0 INGOT_HEADER=$here/../include/ingot/ingot.h
for package in . vllm-plugin; do
  (cd "$work/$package" && /usr/bin/python3 setup.py --quiet bdist_wheel --dist-dir "$output")
done
