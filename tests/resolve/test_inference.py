"""Which classes are Modules and which values are tensors, by reading alone."""

from __future__ import annotations

from collections.abc import Callable

Check = Callable[..., None]

BASE = "base torch.nn.Module"
VIEW = "call torch.Tensor.view"


def test_module_through_project_bases_in_other_files(check: Check) -> None:
    check(
        """\
        from base import Backbone

        class Net(Backbone):
            def forward(self, x):
                for p in «self.parameters»():
                    «p.requires_grad» = False
                return «x.view»(1, -1)
        """,
        "call torch.nn.Module.parameters",
        "attribute torch.nn.Parameter.requires_grad",
        VIEW,
        beside={
            "root.py": "import torch.nn as nn\nclass Root(nn.Module):\n    pass\n",
            "base.py": "import root\nclass Backbone(root.Root):\n    pass\n",
        },
    )


def test_subclass_of_a_layer(check: Check) -> None:
    check(
        """\
        from torch import nn

        class Padded(«nn.Conv2d»):
            def forward(self, x):
                return «super().forward»(«x.contiguous»()) + ««self.weight».sum»()
        """,
        "base torch.nn.Conv2d",
        "call torch.nn.Module.forward",
        "call torch.Tensor.contiguous",
        "call torch.Tensor.sum",
        "attribute torch.nn.Conv2d.weight",
    )


def test_super_init_in_every_spelling(check: Check) -> None:
    check(
        """\
        import torch.nn as nn

        class A(«nn.Module»):
            def __init__(self):
                super().__init__()
                self.fc = «nn.Linear»(1, 2)

        class B(A):
            def __init__(self):
                super(B, self).__init__()

            def forward(self, x):
                return «self.fc(x).view»(-1)

        class C(«nn.Module»):
            def __init__(self):
                «nn.Module.__init__»(self)
        """,
        BASE,
        "call torch.nn.Linear",
        VIEW,
        BASE,
        "call torch.nn.Module.__init__",
    )


def test_forward_parameters_are_tensors(check: Check) -> None:
    check(
        """\
        import torch.nn as nn

        class Net(«nn.Module»):
            def forward(self, x, mask=None, *rest):
                n = «x.size»(0)
                n.bit_length()
                if mask is not None:
                    x = «x.masked_fill»(mask, 0)
                return «x.view»(n, -1)
        """,
        BASE,
        "call torch.Tensor.size",
        "call torch.Tensor.masked_fill",
        VIEW,
    )


def test_results_of_torch_calls_and_layers(check: Check) -> None:
    check(
        """\
        import torch
        from torch import nn
        x = «torch.zeros»(2, 3)
        y = «x.view»(-1)
        layer = «nn.Linear»(3, 3)
        z = «layer(x).view»(-1)
        w = «(x + 1).view»(-1)
        """,
        "call torch.zeros",
        VIEW,
        "call torch.nn.Linear",
        VIEW,
        VIEW,
    )


def test_shapes_are_not_tensors(check: Check) -> None:
    check(
        """\
        import torch

        def f(x: «torch.Tensor»):
            b, c = «x.shape»[:2]
            b.view(1)
            n = len(x)
            n.view(1)
            d = «x.dim»()
            d.view(1)
            return «x.reshape»(b, c)
        """,
        "annotation torch.Tensor",
        "attribute torch.Tensor.shape",
        "call torch.Tensor.dim",
        "call torch.Tensor.reshape",
    )


def test_tensors_flow_through_tuples_loops_and_returns(check: Check) -> None:
    check(
        """\
        import torch

        def split(x: «torch.Tensor»):
            return x, 3

        a, b = split(«torch.ones»(4))
        y = «a.view»(-1)
        b.view(-1)
        for piece in «torch.chunk»(a, 2):
            «piece.view»(-1)
        pieces = [«p.view»(-1) for p in «a.split»(2)]
        z = «pieces[0].view»(-1)
        """,
        "annotation torch.Tensor",
        "call torch.ones",
        VIEW,
        "call torch.chunk",
        VIEW,
        VIEW,
        "call torch.Tensor.split",
        VIEW,
    )


def test_attributes_of_self(check: Check) -> None:
    check(
        """\
        import torch
        from torch import nn

        class Net(«nn.Module»):
            def __init__(self):
                super().__init__()
                self.scale = «nn.Parameter»(«torch.ones»(1))
                self.blocks = «nn.ModuleList»([«nn.Linear»(1, 1)])
                self.names = ["a"]

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                for name in self.names:
                    name.view(1)
                return «self.scale.view»(1) * «x.view»(-1)
        """,
        BASE,
        "call torch.nn.Parameter",
        "call torch.ones",
        "call torch.nn.ModuleList",
        "call torch.nn.Linear",
        VIEW,
        VIEW,
    )


def test_hints_from_call_sites(check: Check) -> None:
    """A function without annotations learns from those who call it."""
    check(
        """\
        import torch

        def flat(x):
            return «x.view»(-1)

        y = flat(«torch.ones»(3))
        """,
        VIEW,
        "call torch.ones",
    )


def test_python_values_with_tensor_like_methods(check: Check) -> None:
    check(
        """\
        import torch
        text = "a b"
        text.split(" ")
        numbers = [1, 2]
        numbers.index(1)
        table = {}
        table.values()
        number = 3.0
        number.is_integer()
        handle = open("f")
        handle.close()
        """
    )


def test_unknown_receiver_is_said_to_be_unknown(check: Check) -> None:
    check(
        """\
        import torch

        def f(thing):
            return «thing.view»(-1)
        """,
        "unknown torch.Tensor.view",
    )


def test_numpys_dtypes_have_a_type_too(check: Check) -> None:
    check(
        """\
        import torch

        def convert(kind, number, x, like):
            return «kind.type»(number), «x.type»(«like.dtype»), «like.type»("torch.LongTensor")
        """,
        "unknown torch.Tensor.type",
        "call torch.Tensor.type",
        "attribute torch.Tensor.dtype",
        "call torch.Tensor.type",
    )


def test_optional_and_union_annotations(check: Check) -> None:
    check(
        """\
        from __future__ import annotations
        from typing import List, Optional
        from torch import Tensor

        def f(a: Optional[«Tensor»], b: «Tensor» | None, c: List[«Tensor»]) -> None:
            if a is not None:
                «a.view»(-1)
            if b is None:
                return
            «b.view»(-1)
            for item in c:
                «item.view»(-1)
        """,
        "annotation torch.Tensor",
        "annotation torch.Tensor",
        "annotation torch.Tensor",
        VIEW,
        VIEW,
        VIEW,
    )


def test_isinstance_narrows(check: Check) -> None:
    check(
        """\
        import torch
        from torch import nn

        def init(m):
            if isinstance(m, «nn.Linear»):
                «nn.init.zeros_»(«m.bias»)
            elif isinstance(m, «torch.Tensor»):
                «m.view»(-1)
        """,
        "type torch.nn.Linear",
        "call torch.nn.init.zeros_",
        "attribute torch.nn.Linear.bias",
        "type torch.Tensor",
        VIEW,
    )


def test_named_results(check: Check) -> None:
    check(
        """\
        import torch

        def best(x: «torch.Tensor»):
            values, indices = «x.max»(dim=1)
            return «values.view»(-1), «««x.max»(dim=1).indices».view»(-1)
        """,
        "annotation torch.Tensor",
        "call torch.Tensor.max",
        VIEW,
        VIEW,
        "attribute torch.return_types.indices",
        "call torch.Tensor.max",
    )


def test_layers_in_containers(check: Check) -> None:
    check(
        """\
        import torch.nn as nn

        class Net(«nn.Module»):
            def __init__(self):
                super().__init__()
                self.parts = «nn.ModuleDict»(dict(words=«nn.Embedding»(3, 2)))
                self.norms = «nn.ModuleList»()
                «self.norms.append»(«nn.BatchNorm1d»(2))
                self.mixed = «nn.ModuleList»([«nn.Embedding»(3, 2), make()])

            def forward(self, x):
                a = «self.parts.words.weight»
                b = «self.parts["words"].weight»
                for norm in self.norms:
                    x = x + «norm.weight»
                return a + b + x + «self.mixed[1].weight»
        """,
        BASE,
        "call torch.nn.ModuleDict",
        "call torch.nn.Embedding",
        "call torch.nn.ModuleList",
        "call torch.nn.ModuleList.append",
        "call torch.nn.BatchNorm1d",
        "call torch.nn.ModuleList",
        "call torch.nn.Embedding",
        "attribute torch.nn.Embedding.weight",
        "attribute torch.nn.Embedding.weight",
        "attribute torch.nn.BatchNorm1d.weight",
        "attribute torch.nn.Module.weight",
    )


def test_hasattr_asks_for_one_api(check: Check) -> None:
    check(
        """\
        import torch.nn.functional as F

        fast = «hasattr(F, "scaled_dot_product_attention")»
        """,
        "exists torch.nn.functional.scaled_dot_product_attention",
    )


def test_what_is_mapped_over_has_types(check: Check) -> None:
    check(
        """\
        from torch import nn

        class Net(«nn.Module»):
            def forward(self, x):
                q, k = map(lambda t: «t.view»(2, -1), «x.chunk»(2, dim=-1))
                kept = list(filter(lambda t: t is not None, [q, k]))
                return «q.view»(-1) + «kept[0].view»(-1)
        """,
        BASE,
        VIEW,
        "call torch.Tensor.chunk",
        VIEW,
        VIEW,
    )


def test_a_spread_shape_and_a_device_are_told_apart(check: Check) -> None:
    check(
        """\
        import torch

        def noise(x: «torch.Tensor»):
            b, n, *_, device = *«x.shape», «x.device»
            return «torch.randn»(b, n, device=device)
        """,
        "annotation torch.Tensor",
        "attribute torch.Tensor.shape",
        "attribute torch.Tensor.device",
        "call torch.randn",
    )


def test_arguments_tell_layers_from_tensors(check: Check) -> None:
    check(
        """\
        from torch import nn
        from elsewhere import build

        class Flow(«nn.Module»):
            def __init__(self, transform):
                super().__init__()
                self.transform = transform
                self.features = build()

            def forward(self, x, context):
                y = self.transform(x)
                y = self.features.block.norm(x)
                y = self.features.block.relu(x)
                return self.transform.inverse(x, context=context)

            def back(self, y):
                return «self.transform.inverse»(), «y.softmax»(-1), «y.norm»(2)
        """,
        BASE,
        "unknown torch.Tensor.inverse",
        "call torch.Tensor.softmax",
        "call torch.Tensor.norm",
    )


def test_a_pair_that_is_spread_over_parameters(check: Check) -> None:
    check(
        """\
        import torch

        def flat(scores, labels):
            scores = «torch.movedim»(scores, 1, -1)
            return «scores.reshape»(-1, 3), labels

        def outer(scores, labels):
            return loss(*flat(scores, labels))

        def loss(scores, labels):
            return «scores.size»(1), labels
        """,
        "call torch.movedim",
        "call torch.Tensor.reshape",
        "call torch.Tensor.size",
    )
