"""ingot.torch with the distribution's PyTorch."""

import unittest

from torch_cases import TorchCases  # noqa: F401
from torch_quant_cases import QuantCases  # noqa: F401

if __name__ == "__main__":
    unittest.main()
