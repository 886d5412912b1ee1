"""Every way to import torch leads to the same API names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Check = Callable[..., None]

CONV = "call torch.nn.Conv2d"
RELU = "call torch.nn.functional.relu"


@pytest.mark.parametrize(
    ("source", "use"),
    [
        ("import torch.nn as nn\nc = «nn.Conv2d»(3, 8, 3)\n", CONV),
        ("from torch import nn\nc = «nn.Conv2d»(3, 8, 3)\n", CONV),
        ("import torch, torch.nn as nn\nc = «nn.Conv2d»(3, 8, 3)\n", CONV),
        ("import os, torch, torch.nn as layers\nc = «layers.Conv2d»(3, 8, 3)\n", CONV),
        ("import torch\nc = «torch.nn.Conv2d»(3, 8, 3)\n", CONV),
        ("import torch as t\nc = «t.nn.Conv2d»(3, 8, 3)\n", CONV),
        ("import torch.nn\nc = «torch.nn.Conv2d»(3, 8, 3)\n", CONV),
        ("from torch.nn import Conv2d\nc = «Conv2d»(3, 8, 3)\n", CONV),
        ("from torch.nn import Conv2d as C\nc = «C»(3, 8, 3)\n", CONV),
        ("from torch.nn import (\n    Conv2d,\n)\nc = «Conv2d»(3, 8, 3)\n", CONV),
        ("from torch.nn.modules import Conv2d\nc = «Conv2d»(3, 8, 3)\n", CONV),
        ("from torch.nn.modules.conv import Conv2d\nc = «Conv2d»(3, 8, 3)\n", CONV),
        ("from torch.nn import functional as F\ny = «F.relu»(0)\n", RELU),
        ("import torch.nn.functional as F\ny = «F.relu»(0)\n", RELU),
        ("from torch import nn\ny = «nn.functional.relu»(0)\n", RELU),
        ("from torch.nn.functional import relu as r\ny = «r»(0)\n", RELU),
        ("from torch.nn.functional import relu\ny = «relu»(0)\n", RELU),
    ],
)
def test_every_spelling(check: Check, source: str, use: str) -> None:
    check(source, use)


def test_star_import(check: Check) -> None:
    check(
        """\
        from torch.nn import *

        class Net(«Module»):
            def __init__(self):
                super().__init__()
                self.conv = «Conv2d»(3, 8, 3)
        """,
        "base torch.nn.Module",
        CONV,
    )


def test_import_inside_a_function_stays_inside(check: Check) -> None:
    check(
        """\
        def make():
            from torch import nn
            return «nn.Conv2d»(3, 8, 3)

        def other(nn):
            return nn.Conv2d(3, 8, 3)
        """,
        CONV,
    )


def test_import_inside_a_method(check: Check) -> None:
    check(
        """\
        class Builder:
            def make(self):
                import torch.nn as nn
                return «nn.Conv2d»(3, 8, 3)
        """,
        CONV,
    )


def test_try_and_except_import(check: Check) -> None:
    check(
        """\
        try:
            from torch.nn import Conv2d
        except ImportError:
            Conv2d = None
        try:
            import fast_layers as layers
        except ImportError:
            import torch.nn as layers
        c = «Conv2d»(3, 8, 3)
        """,
        CONV,
    )


def test_type_checking_import(check: Check) -> None:
    check(
        """\
        from __future__ import annotations
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from torch import Tensor
            import torch.nn as nn

        def keep(x: «Tensor», layer: «nn.Module») -> «Tensor»:
            return x
        """,
        "annotation torch.Tensor",
        "annotation torch.nn.Module",
        "annotation torch.Tensor",
    )


def test_conditional_import(check: Check) -> None:
    check(
        """\
        import sys
        if sys.version_info >= (3, 8):
            import torch.nn as nn
        else:
            nn = None
        c = «nn.Conv2d»(3, 8, 3)
        """,
        CONV,
    )


def test_reexport_through_a_project_module(check: Check) -> None:
    check(
        """\
        from compat import nn, F
        c = «nn.Conv2d»(3, 8, 3)
        y = «F.relu»(0)
        """,
        CONV,
        RELU,
        beside={"compat.py": "import torch.nn as nn\nimport torch.nn.functional as F\n"},
    )


def test_reexport_through_a_package_and_a_chain(check: Check) -> None:
    check(
        """\
        import pkg.layers
        from pkg import layers as L
        from pkg.layers import Conv
        a = pkg.layers.Conv(3, 8, 3)
        b = L.Conv(3, 8, 3)
        c = Conv(3, 8, 3)
        """,
        beside={
            "pkg/__init__.py": "",
            "pkg/base.py": "class Conv:\n    pass\n",
            "pkg/layers.py": "from .base import Conv\n",
        },
    )
    check(
        """\
        import pkg.layers
        from pkg import layers as L
        from pkg.layers import Conv
        a = «pkg.layers.Conv»(3, 8, 3)
        b = «L.Conv»(3, 8, 3)
        c = «Conv»(3, 8, 3)
        """,
        CONV,
        CONV,
        CONV,
        beside={
            "pkg/__init__.py": "",
            "pkg/base.py": "from torch.nn import Conv2d as Conv\n",
            "pkg/layers.py": "from .base import Conv\n",
        },
    )


def test_star_import_of_a_project_module(check: Check) -> None:
    check(
        """\
        from common import *
        c = «nn.Conv2d»(3, 8, 3)
        """,
        CONV,
        beside={"common.py": "import torch\nimport torch.nn as nn\n"},
    )


@pytest.mark.parametrize(
    "init",
    [
        "from .conv import *\n",
        "from pkg.conv import *\n",
        "try:\n    from .conv import *\nexcept ImportError:\n    pass\n",
        "from .conv import *\n__all__ = ['other']\n__all__ += ['Block', 'Conv']\n",
        "from . import conv\nfrom .conv import *\n__all__ = conv.__all__ + ['more']\n",
        "from .again import *\nfrom .conv import *\n",
    ],
)
def test_star_imports_that_a_package_passes_on(check: Check, init: str) -> None:
    check(
        """\
        from pkg import *
        a = «Conv»(3, 8, 3)
        b = «Block»(3, 8, 3)
        """,
        CONV,
        CONV,
        beside={
            "pkg/__init__.py": init,
            "pkg/again.py": "from pkg import *\n",  # a circle
            "pkg/conv.py": "from torch.nn import Conv2d as Conv, Conv2d as Block\n",
        },
    )


def test_relative_imports_within_a_package(check: Check) -> None:
    check(
        """\
        from . import compat
        from .compat import nn
        from .. import top
        a = «compat.nn.Conv2d»(3, 8, 3)
        b = «nn.Conv2d»(3, 8, 3)
        c = «top.torch.nn.Conv2d»(3, 8, 3)
        """,
        CONV,
        CONV,
        CONV,
        beside={
            "pkg/__init__.py": "",
            "pkg/top.py": "import torch\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/compat.py": "from torch import nn\n",
        },
        name="pkg/sub/main.py",
    )


def test_a_project_package_called_like_a_library_part(check: Check) -> None:
    """`nn` is torch's only where an import says so."""
    check(
        """\
        import nn
        c = nn.Conv2d(3, 8, 3)
        """,
        beside={"nn.py": "class Conv2d:\n    pass\n"},
    )
