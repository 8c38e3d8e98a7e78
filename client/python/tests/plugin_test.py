"""ingot-vllm where vLLM is not: it must never break what loads it."""

import os
import sys
import unittest
from unittest import mock

import fixture  # noqa: F401

sys.path.insert(0, str(fixture.ROOT / "client" / "python" / "vllm-plugin"))

import ingot_vllm  # noqa: E402


class PluginTest(unittest.TestCase):
    def setUp(self):
        ingot_vllm._done = False

    def register(self, **environment):
        with mock.patch.dict(os.environ, environment), self.assertLogs("ingot.vllm", "WARNING") as logs:
            ingot_vllm.register()
        return logs.output

    def test_without_vllm_it_says_so_and_returns(self):
        with mock.patch.dict(sys.modules, {"vllm": None}):
            line, = self.register()
        self.assertIn("vLLM serves without Ingot: ModuleNotFoundError", line)
        self.assertIn("vllm", line)

    def test_another_vllm_is_served_by_itself(self):
        class Other:
            pass

        with mock.patch.dict(sys.modules, {"vllm": Other(), "vllm.envs": Other()}):
            line, = self.register()
        self.assertIn("vLLM serves without Ingot", line)

    def test_opting_out_imports_nothing(self):
        before = set(sys.modules)
        with mock.patch.dict(os.environ, {"INGOT_VLLM": "0"}):
            ingot_vllm.register()
        self.assertEqual(set(sys.modules), before)

    def test_what_is_left_out_is_checked(self):
        with mock.patch.dict(os.environ, {"INGOT_VLLM_WITHOUT": " moe,,norm "}):
            self.assertEqual(ingot_vllm._wanted(), [group for group in ingot_vllm.GROUPS if group not in ("moe", "norm")])
        self.assertIn("INGOT_VLLM_WITHOUT: found rope, allowed linear, norm", self.register(INGOT_VLLM_WITHOUT="rope")[0])


if __name__ == "__main__":
    unittest.main()
