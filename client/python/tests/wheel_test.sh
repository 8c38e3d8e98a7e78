# The wheel installs with pip alone and brings its library.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash client/python/wheel.sh "$build" "$work/wheels" 2> "$work/log" || { cat "$work/log"; exit 1; }
wheel=$(echo "$work"/wheels/*.whl)
[[ $wheel == */ingot-*-py3-none-manylinux_2_34_*.whl ]] || { echo "found $wheel"; exit 1; }
/usr/bin/python3 -m venv --without-pip "$work/env"
/usr/bin/python3 -m pip --python "$work/env/bin/python" install --quiet --no-index --no-deps "$wheel"
cd "$work"
env -u INGOT_LIBRARY -u PYTHONPATH "$work/env/bin/python" - <<'PYTHON'
import pathlib
import ingot

folder = pathlib.Path(ingot.__file__).parent
assert "env" in folder.parts, folder
assert (folder / "libingot.so.0").exists() and (folder / "py.typed").exists()
assert (folder / "torch" / "_ops.py").exists()
maps = pathlib.Path("/proc/self/maps").read_text()
assert str(folder / "libingot.so.0") in maps, "another library was loaded"
spec = ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": 64}, operands={"x": "f32", "y": "f32"})
assert len(spec.digest()) == 32
size = (folder / "libingot.so.0").stat().st_size
assert size < 15 << 20, size
print(f"ingot {ingot.__version__}, library of {size} bytes")
PYTHON
