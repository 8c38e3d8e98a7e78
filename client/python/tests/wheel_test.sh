# The wheels install with pip alone; ingot's brings its library, the plugin's the
# entry point that vLLM looks for.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash client/python/wheel.sh "$build" "$work/wheels" 2> "$work/log" || { cat "$work/log"; exit 1; }
wheel=$(echo "$work"/wheels/ingot-*.whl)
plugin=$(echo "$work"/wheels/ingot_vllm-*.whl)
[[ $wheel == */ingot-*-py3-none-manylinux_2_34_*.whl ]] || { echo "found $wheel"; exit 1; }
[[ $plugin == */ingot_vllm-*-py3-none-any.whl ]] || { echo "found $plugin"; exit 1; }
/usr/bin/python3 -m venv --without-pip "$work/env"
/usr/bin/python3 -m pip --python "$work/env/bin/python" install --quiet --no-index "$wheel" "$plugin"
cd "$work"
env -u INGOT_LIBRARY -u PYTHONPATH "$work/env/bin/python" - <<'PYTHON'
import importlib.metadata
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
entry, = importlib.metadata.entry_points(group="vllm.general_plugins")
assert (entry.name, entry.value) == ("ingot", "ingot_vllm:register"), entry
plugin = entry.dist.metadata
assert (plugin["Name"], plugin["Version"]) == ("ingot-vllm", ingot.__version__), plugin["Name"]
entry.load()()  # without vLLM: a line in the log
print(f"ingot {ingot.__version__}, library of {size} bytes")
PYTHON
