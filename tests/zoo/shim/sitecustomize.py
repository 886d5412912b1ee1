"""Let any interpreter of the sweep import torchvision, whose wheel may lack its compiled operators.

Ported files keep what could not be ported, so the MindSpore side may import torchvision too.
"""

import importlib.machinery
import sys


class _BeforeTorchvision:
    """Defines the operators' schemas in the moment in which torchvision is first asked for."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(_BeforeTorchvision)
            from migrate.vision_shim import ensure_torchvision

            ensure_torchvision()
            return importlib.machinery.PathFinder.find_spec(name, path)
        return None


sys.meta_path.insert(0, _BeforeTorchvision)
