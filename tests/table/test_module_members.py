"""Helpers around modules: members, parameter containers, sequences, initialisers."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.frameworks


def test_members_are_those_of_torch(run_in_worker):
    def members():
        import numpy as np
        import torch
        from mindspore import Parameter, Tensor, nn

        from migrate.emit.helpers import modules_members as ours
        from migrate.emit.helpers import modules_parameter_names as names

        class Theirs(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm2d(3)
                self.blocks = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(3, 2))
                self.scale = torch.nn.Parameter(torch.ones(1))
                self.register_buffer("table", torch.ones(2))

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm2d(3)
                self.blocks = nn.SequentialCell(nn.ReLU(), nn.Dense(3, 2))
                self.scale = Parameter(Tensor(np.ones(1, np.float32)))
                self.register_buffer("table", Tensor(np.ones(2, np.float32)))

        theirs, net = Theirs(), Net()
        counted = [b for n, b in theirs.named_buffers() if "num_batches" not in n]
        answer = {
            "parameters": (
                sorted(tuple(p.shape) for p in theirs.parameters()),
                sorted(p.shape for p in ours.parameters(net)),
            ),
            "own parameters": (
                [n for n, _ in theirs.named_parameters(prefix="a", recurse=False)],
                [n for n, _ in names.named_parameters(net, prefix="a", recurse=False)],
            ),
            "buffers": (len(counted), len(list(ours.buffers(net)))),
        }
        ours.set_requires_grad(net, False)
        frozen = [p.requires_grad for p in net.get_parameters()]
        ours.set_requires_grad(net, True)
        thawed = {n for n, p in net.parameters_and_names() if not p.requires_grad}
        answer["frozen"] = (False, any(frozen))
        answer["thawed"] = ({"norm.moving_mean", "norm.moving_variance"}, thawed)
        ours.set_submodule(net, "blocks.1", nn.Dense(3, 5))
        answer["replaced"] = ((5, 3), net.blocks[1].weight.shape)
        taken = ours.pop_cell(net.blocks, 0)
        answer["popped"] = (("ReLU", 1), (type(taken).__name__, len(net.blocks)))
        ours.extend_sequential(net.blocks, [nn.Tanh(), nn.ReLU()])
        answer["extended"] = (3, len(net.blocks))
        return answer

    for name, (wanted, got) in run_in_worker(members).items():
        assert got == wanted, name


def test_parameter_containers_register_and_index(run_in_worker):
    def containers():
        import numpy as np
        from mindspore import Parameter, Tensor, nn

        from migrate.emit.helpers.modules_container import ParameterDict, ParameterList

        def parameter(value):
            return Parameter(Tensor(np.full(2, value, np.float32)))

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.many = ParameterList([parameter(1), parameter(2)])
                self.named = ParameterDict({"a": parameter(3)})

            def construct(self, x):
                for p in self.many:
                    x = x * p
                return x + self.named["a"]

        net = Net()
        net.many.append(parameter(4)).extend([parameter(5)])
        net.named["b"] = parameter(6)
        return (
            [name for name, _ in net.parameters_and_names()],
            net(Tensor(np.ones(2, np.float32))).asnumpy().tolist(),
            (len(net.many), float(net.many[-1][0]), [len(part) for part in (net.many[1:3],)]),
            (list(net.named), "b" in net.named, net.named.get("c") is None),
        )

    names, value, listed, keyed = run_in_worker(containers)
    assert names == ["many.0", "many.1", "many.2", "many.3", "named.a", "named.b"]
    assert value == [1 * 2 * 4 * 5 + 3] * 2
    assert listed == (4, 5.0, [2])
    assert keyed == (["a", "b"], True, True)


def test_sequences_and_vectors_are_those_of_torch(run_in_worker):
    def sequences():
        import numpy as np
        import torch
        from mindspore import Parameter, Tensor
        from torch.nn import utils

        from migrate.emit.helpers import modules_sequences as ours

        parts = [np.arange(2 * n, dtype=np.float32).reshape(n, 2) for n in (3, 1, 2)]
        theirs = [torch.tensor(part) for part in parts]
        given = [Tensor(part) for part in parts]
        padded = utils.rnn.pad_sequence(theirs, padding_value=-1.0)
        answer = {
            "right": (padded, ours.pad_sequence(given, padding_value=-1.0)),
            "left": (
                utils.rnn.pad_sequence(theirs, batch_first=True, padding_side="left"),
                ours.pad_sequence(given, batch_first=True, padding_side="left"),
            ),
        }
        for norm_type in (1.0, 2.0, float("inf")):
            answer[f"norm {norm_type}"] = (
                utils.get_total_norm(theirs, norm_type),
                ours.get_total_norm(given, norm_type),
            )
        cut = ours.unpad_sequence(Tensor(padded.numpy()), [3, 1, 2])
        answer |= {f"cut {i}": pair for i, pair in enumerate(zip(theirs, cut, strict=True))}
        parameters = [Parameter(Tensor(np.zeros(shape, np.float32))) for shape in ((2, 2), (3,))]
        ours.vector_to_parameters(Tensor(np.arange(7, dtype=np.float32)), parameters)
        answer["vector"] = (torch.arange(7.0)[4:], parameters[1])
        return {name: (a.numpy(), b.asnumpy()) for name, (a, b) in answer.items()}

    import numpy as np

    for name, (wanted, got) in run_in_worker(sequences).items():
        np.testing.assert_allclose(got, wanted, rtol=1e-6, err_msg=name)


def test_initialisers_are_those_of_torch(run_in_worker):
    def initialisers():
        import mindspore
        import numpy as np
        import torch
        from mindspore import Parameter, Tensor

        from migrate.emit.helpers.init import calculate_gain, uniform_

        mindspore.set_seed(1)
        weight = Parameter(Tensor(np.zeros((200, 100), np.float16)))
        returned = uniform_(weight, -0.5, 2.0)
        drawn = weight.asnumpy().astype(np.float64)
        names = ("linear", "conv_transpose2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")
        gains = [(calculate_gain(n), torch.nn.init.calculate_gain(n)) for n in names]
        gains.append(
            (calculate_gain("leaky_relu", 0.2), torch.nn.init.calculate_gain("leaky_relu", 0.2))
        )
        kept = (returned is weight, str(weight.dtype))
        return gains, kept, (drawn.min(), drawn.max(), drawn.mean(), drawn.var())

    gains, kept, (low, high, mean, variance) = run_in_worker(initialisers)
    assert all(ours == theirs for ours, theirs in gains)
    assert kept == (True, "Float16")
    assert -0.5 <= low < -0.49 and 1.99 < high <= 2.0
    assert abs(mean - 0.75) < 0.02 and abs(variance - 2.5**2 / 12) < 0.02


def test_names_are_those_of_torch(run_in_worker):
    def names():
        import torch
        from mindspore import nn

        from migrate.emit.helpers import modules_parameter_names as ours
        from migrate.emit.helpers.train_tools import load_state_dict

        class Theirs(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.words = torch.nn.Embedding(4, 4)
                self.volumes = torch.nn.BatchNorm3d(3)
                self.norms = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.GroupNorm(2, 4))
                self.act = torch.nn.PReLU()
                self.layer = torch.nn.TransformerEncoderLayer(4, 2, 8)
                self.gamma = torch.nn.Parameter(torch.ones(1))

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.words = nn.Embedding(4, 4)
                self.volumes = nn.BatchNorm3d(3)
                self.norms = nn.SequentialCell(nn.LayerNorm((4,)), nn.GroupNorm(2, 4))
                self.act = nn.PReLU()
                self.layer = nn.TransformerEncoderLayer(4, 2, 8)
                self.gamma = nn.Dense(1, 1).weight.clone()
                self.gamma.name = "gamma"

        theirs, net = Theirs(), Net()
        state = {n: v for n, v in theirs.state_dict().items() if "num_batches" not in n}
        same = {name: value + 1 for name, value in ours.state_dict(net).items()}
        missing, unexpected = load_state_dict(net, same)
        load_state_dict(net, dict(net.parameters_and_names()), strict=False)
        return {
            "parameters": (
                {n for n, _ in theirs.named_parameters()},
                {n for n, _ in ours.named_parameters(net)},
            ),
            "buffers": (
                {"volumes.running_mean", "volumes.running_var"},
                {n for n, _ in ours.named_buffers(net)},
            ),
            "state": (set(state), set(ours.state_dict(net))),
            "loaded": (([], []), (missing, unexpected)),
        }

    for name, (wanted, got) in run_in_worker(names).items():
        assert got == wanted, name
