"""Aliases, values passed on, and names that only look like torch's."""

from __future__ import annotations

from collections.abc import Callable

Check = Callable[..., None]

CALL = "call torch.nn.Conv2d"
VALUE = "value torch.nn.Conv2d"


def test_local_alias(check: Check) -> None:
    """The name where it is taken is the use; a call through the alias has torch's arguments."""
    check(
        """\
        import torch.nn as nn
        conv = «nn.Conv2d»
        layer = conv(3, 8, 3)
        """,
        VALUE,
    )


def test_alias_of_a_module(check: Check) -> None:
    check(
        """\
        import torch
        N = «torch.nn»
        layer = «N.Conv2d»(3, 8, 3)
        """,
        "value torch.nn",
        "call torch.nn.Conv2d",
    )


def test_class_attribute(check: Check) -> None:
    check(
        """\
        import torch.nn as nn

        class Block(«nn.Module»):
            layer_type = «nn.Conv2d»

            def __init__(self):
                super().__init__()
                self.layer = self.layer_type(3, 8, 3)
                self.scale = «self.layer.weight»

            def forward(self, x):
                return self.layer(x)
        """,
        "base torch.nn.Module",
        VALUE,
        "attribute torch.nn.Conv2d.weight",
    )


def test_default_argument(check: Check) -> None:
    check(
        """\
        import torch.nn as nn

        def block(channels, layer=«nn.Conv2d», *, act: type = «nn.ReLU»):
            return layer(channels, channels, 3), act()
        """,
        VALUE,
        "value torch.nn.ReLU",
    )


def test_functools_partial(check: Check) -> None:
    check(
        """\
        from functools import partial
        import functools as ft
        import torch.nn as nn
        norm = partial(«nn.BatchNorm2d», eps=0.001)
        conv = ft.partial(«nn.Conv2d», kernel_size=3)
        layer = norm(8)
        """,
        "value torch.nn.BatchNorm2d",
        VALUE,
    )


def test_class_passed_as_a_value_and_called_later(check: Check) -> None:
    check(
        """\
        import torch
        import torch.nn as nn

        class Block(«nn.Module»):
            def __init__(self, norm_layer):
                super().__init__()
                self.norm = norm_layer(8)

            def forward(self, x):
                return «self.norm(x).view»(8, -1)

        block = Block(«nn.BatchNorm2d»)
        layers = [«nn.ReLU», «nn.GELU»]
        table = {"relu": «nn.ReLU»}
        """,
        "base torch.nn.Module",
        "call torch.Tensor.view",
        "value torch.nn.BatchNorm2d",
        "value torch.nn.ReLU",
        "value torch.nn.GELU",
        "value torch.nn.ReLU",
    )


def test_a_local_called_torch(check: Check) -> None:
    check(
        """\
        import torch

        def burn(torch):
            return torch.strike(1)

        def light():
            torch = Lamp()
            return torch.strike(1)

        y = «torch.relu»(1)
        """,
        "call torch.relu",
    )


def test_a_name_bound_again_is_not_torch(check: Check) -> None:
    check(
        """\
        from torch.nn import Conv2d
        a = «Conv2d»(3, 8, 3)
        class Conv2d:
            pass
        b = Conv2d()
        """,
        CALL,
    )


def test_a_comprehension_variable_shadows(check: Check) -> None:
    check(
        """\
        from torch import nn
        kinds = [nn for nn in range(3)]
        c = «nn.Conv2d»(3, 8, 3)
        """,
        CALL,
    )


def test_a_module_level_name_seen_from_functions(check: Check) -> None:
    check(
        """\
        def early():
            return «nn.Conv2d»(3, 8, 3)

        import torch.nn as nn

        def late():
            def inner():
                return «nn.Conv2d»(3, 8, 3)
            return inner()
        """,
        CALL,
        CALL,
    )


def test_global_statement(check: Check) -> None:
    check(
        """\
        def load():
            global nn
            import torch.nn as nn

        load()
        c = «nn.Conv2d»(3, 8, 3)
        """,
        CALL,
    )


def test_getattr_with_a_literal(check: Check) -> None:
    check(
        """\
        import torch
        from torch import nn
        a = «getattr(nn, "Conv2d")»(3, 8, 3)
        b = «getattr(torch, "float32")»
        """,
        VALUE,
        "value torch.float32",
    )


def test_getattr_with_a_name_is_a_use_of_the_module(check: Check) -> None:
    check(
        """\
        from torch import nn

        def make(kind):
            return getattr(«nn», kind)()
        """,
        "value torch.nn",
    )


def test_decorators(check: Check) -> None:
    check(
        """\
        import torch
        from torch.jit import script

        @«torch.no_grad»()
        def first(x): ...

        @«torch.jit.ignore»
        def second(x): ...

        @«script»
        def third(x): ...

        class A:
            @«torch.inference_mode»()
            def run(self): ...
        """,
        "call torch.no_grad",
        "decorator torch.jit.ignore",
        "decorator torch.jit.script",
        "call torch.inference_mode",
    )


def test_string_annotations(check: Check) -> None:
    check(
        """\
        import torch
        from typing import Optional
        from torch import nn

        def f(x: «"torch.Tensor"», layer: Optional[«"nn.Module"»] = None) -> «"torch.Tensor"»:
            return «x.view»(-1)
        """,
        "annotation torch.Tensor",
        "annotation torch.nn.Module",
        "annotation torch.Tensor",
        "call torch.Tensor.view",
    )


def test_columns_count_bytes_as_python_does(check: Check) -> None:
    check(
        """\
        import torch
        y = "größe", «torch.relu»(1)
        """,
        "call torch.relu",
    )


def test_isinstance_is_a_use_of_the_type(check: Check) -> None:
    check(
        """\
        from torch import nn

        def freeze(m):
            if isinstance(m, («nn.Conv2d», «nn.Linear»)) or type(m) is «nn.ReLU»:
                return True
        """,
        "type torch.nn.Conv2d",
        "type torch.nn.Linear",
        "type torch.nn.ReLU",
    )


def test_nested_calls_each_count(check: Check) -> None:
    check(
        """\
        import torch
        y = «torch.relu»(«torch.cat»([«torch.zeros»(1), «torch.ones»(1)], dim=0))
        """,
        "call torch.relu",
        "call torch.cat",
        "call torch.zeros",
        "call torch.ones",
    )


def test_text_about_torch_is_no_use(check: Check) -> None:
    check(
        '''\
        """This talks of torch.nn.Conv2d."""
        # torch.relu is mentioned here
        message = "torch.relu(x)"
        '''
    )
