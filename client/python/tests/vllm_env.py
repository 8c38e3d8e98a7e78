"""For tests of the plugin with the real vLLM: runs the test again with the
Python of BUILD_DIRECTORY/vllm-env, which `./dev test --vllm` makes; without that
it is skipped. To be imported first.

vLLM runs as on a machine without a GPU; the plugin is installed from its wheel,
so that vLLM finds it as it finds any."""

import os
import pathlib
import subprocess
import sys
import zipfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
_python = BUILD / "vllm-env" / "bin" / "python"
if not _python.exists():
    print(f"skipped: there is no {_python}; ./dev test --vllm makes it")
    sys.exit(0)
if pathlib.Path(sys.executable) != _python:
    os.execv(_python, [str(_python), "-B", *sys.argv])

os.environ.update(VLLM_TARGET_DEVICE="cpu", VLLM_LOGGING_LEVEL="ERROR", VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1",
                  INGOT_TORCH_EMULATOR="1")

import fixture  # noqa: E402
import torch  # noqa: E402


def install(folder: str) -> None:
    """The plugin's wheel, unpacked where Python finds packages."""
    subprocess.run(["bash", "client/python/wheel.sh", str(BUILD), f"{folder}/wheels"], cwd=fixture.ROOT, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wheel, = pathlib.Path(folder, "wheels").glob("ingot_vllm-*.whl")
    zipfile.ZipFile(wheel).extractall(f"{folder}/site")
    sys.path.insert(0, f"{folder}/site")


class PluginTest(fixture.DaemonTest):
    """A daemon, the emulated device, and vLLM with its plugins loaded, in the
    state in which it builds a model of one rank."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import ingot.torch as it
        import ingot.torch.emulator  # noqa: F401

        cls.it = it
        it.configure(address=cls.address)
        install(cls.folder)
        import vllm.plugins
        from vllm.config import VllmConfig, set_current_vllm_config
        from vllm.distributed import init_distributed_environment, initialize_model_parallel

        vllm.plugins.load_general_plugins()
        cls.enterClassContext(set_current_vllm_config(VllmConfig()))
        # A file in the daemon's folder is the rendezvous of one.
        init_distributed_environment(1, 0, f"file://{cls.folder}/rendezvous", 0, "gloo")
        initialize_model_parallel()
        torch.set_default_dtype(torch.bfloat16)
        torch.set_grad_enabled(False)

    def setUp(self):
        self.it._runtime.launches.clear()
        self.it._runtime.fallbacks.clear()

    def expect(self, launches, fallbacks=None):
        self.assertEqual(self.it.stats(), {"launches": launches, "fallbacks": fallbacks or {}})

    @staticmethod
    def fill(layer, seed=0):
        """Random weights of a layer, which vLLM leaves as they were in memory."""
        generator = torch.Generator().manual_seed(seed)
        for parameter in layer.parameters():
            values = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
            parameter.data.copy_(values / max(parameter.shape[-1], 1)**0.5 if parameter.dim() > 1 else values)
            parameter.requires_grad_(False)
        return layer

    @staticmethod
    def random(*shape, dtype=torch.bfloat16, seed=1):
        generator = torch.Generator().manual_seed(seed + 1000 * sum(shape))
        return torch.randn(*shape, generator=generator, dtype=torch.float32).to(dtype)

    def expect_near(self, got, want, tolerance=0.02):
        """Of bf16 and of what is rounded to it in between, against f64."""
        self.assertEqual(got.shape, want.shape)
        error = (got.double() - want).abs().max().item()
        self.assertLessEqual(error, tolerance * max(want.abs().max().item(), 1e-30))
