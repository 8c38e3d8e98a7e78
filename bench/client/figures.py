"""Figures of the Python package, a line each: name, value, unit, target; between
tabs. Run by bench_client as `figures.py process|torch RUNS` with INGOT_LIBRARY,
INGOT_ADDRESS, and INGOT_HIP_LIBRARY naming a HIP that does nothing."""

import statistics
import subprocess
import sys
import time

CALLS = 200  # of a run
IMPORT = "import time; t = time.perf_counter(); import ingot; print(time.perf_counter() - t)"


def tell(name, value, unit, target=""):
    print(name, f"{value:.6g}", unit, target, sep="\t", flush=True)


def resident():
    """Of this process, in MiB."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def process_figures(runs):
    """In processes that know nothing yet."""
    times = [float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)
             for _ in range(min(runs, 21))]
    # The first one compiles the package's sources, as an installation does.
    tell("import ingot", statistics.median(times) * 1e3, "ms", 50)
    before = resident()
    import ingot

    client = ingot.Client()
    prepared = client.prepare(ingot.Spec("rmsnorm", dims={"rows": ingot.ANY, "n": 4096},
                                         operands={"x": "bf16", "weight": "bf16", "y": "bf16"}))
    prepared.launch([1, 4096], [4096, 4096, 4096])
    tell("memory of ingot, a client and a launch", resident() - before, "MiB", 20)


def torch_figures(runs):
    """Operators on CPU tensors that a HIP which does nothing takes for its own."""
    try:
        import torch
    except ImportError:
        return
    import ingot.torch  # noqa: F401
    from ingot.torch import _ops
    from ingot.torch._runtime import Device, runtime

    class NullDevice(Device):
        dispatch_key = "CPU"

        def check(self, tensor):
            pass

        def capturing(self):
            return False

        def launch(self, launch, tensors):
            launch(0)

    runtime.device = NullDevice()
    _ops.serve(NullDevice.dispatch_key)
    ops = torch.ops.ingot
    x, weight, bias = (torch.zeros(*shape, dtype=torch.bfloat16) for shape in ((8, 1024), (512, 1024), (512,)))
    norm = torch.ones(1024, dtype=torch.bfloat16)
    calls = {
        "mm": lambda: ops.mm(x, weight.t()),
        "linear": lambda: ops.linear(x, weight),
        "linear with bias and silu": lambda: ops.linear(x, weight, bias, "silu"),
        "addmm": lambda: ops.addmm(bias, x, weight.t()),
        "rms_norm": lambda: ops.rms_norm(x, norm, 1e-6),
    }
    version = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    with torch.no_grad():
        for name, call in calls.items():
            call()
            times = []
            for _ in range(runs):
                start = time.perf_counter()
                for _ in range(CALLS):
                    call()
                times.append((time.perf_counter() - start) / CALLS)
            tell(f"torch {version}, {name}", statistics.median(times) * 1e6, "us", 15)
    if runtime.fallbacks:
        sys.exit(f"some were left to ATen: {dict(runtime.fallbacks)}")


if __name__ == "__main__":
    {"process": process_figures, "torch": torch_figures}[sys.argv[1]](int(sys.argv[2]))
