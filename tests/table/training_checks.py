"""What test_training_rows runs about optimizers, data and distributions.

MindSpore reads the source of what it compiles, so the checks are in a file of their own.
"""

from __future__ import annotations


def optimizer_differences(jit):
    import mindspore
    import numpy as np
    import torch
    from mindspore import Parameter, Tensor
    from mindspore.experimental import optim

    from migrate.emit.helpers.optim_adafactor import Adafactor
    from migrate.emit.helpers.optim_adam import Adam

    random = np.random.RandomState(0)
    shapes = [(3, 4), (5,)]
    start = [random.randn(*shape).astype(np.float32) for shape in shapes]
    steps = [[random.randn(*s).astype(np.float32) * 1e-3 for s in shapes] for _ in range(5)]
    cases = {
        "SGD": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        "Adam": (Adam, {"lr": 0.1, "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
        "AdamW": (optim.AdamW, {"lr": 0.1, "eps": 1e-3}),
        "Adafactor": (Adafactor, {"lr": 0.1, "weight_decay": 0.1}),
    }
    differences = {}
    for name, (kind, options) in cases.items():
        ours = [Parameter(Tensor(v), name=f"p{n}") for n, v in enumerate(start)]
        theirs = [torch.nn.Parameter(torch.tensor(v)) for v in start]
        no_decay = {"weight_decay": 0.0, "lr": 0.01}
        optimizer = kind([{"params": ours[:1]}, {"params": ours[1:], **no_decay}], **options)
        reference = getattr(torch.optim, name)(
            [{"params": theirs[:1]}, {"params": theirs[1:], **no_decay}], **options
        )

        def step(*gradients, optimizer=optimizer):
            return optimizer(gradients)

        run = mindspore.jit(step) if jit else step
        for gradients in steps:
            run(*[Tensor(g) for g in gradients])
            for parameter, gradient in zip(theirs, gradients, strict=True):
                parameter.grad = torch.tensor(gradient)
            reference.step()
        differences[name] = max(
            float(np.abs(a.asnumpy() - b.detach().numpy()).max())
            for a, b in zip(ours, theirs, strict=True)
        )
    return differences


def schedule_differences():
    import numpy as np
    import torch
    from mindspore import Parameter, Tensor
    from mindspore.experimental import optim
    from mindspore.experimental.optim import lr_scheduler
    from torch.optim import lr_scheduler as theirs

    from migrate.emit.helpers import optim_schedules as helpers
    from migrate.emit.helpers.optim_state import load_scheduler_state_dict, scheduler_state_dict

    table = [1 / (n + 1) for n in range(40)]
    cases = {
        "LambdaLR": (helpers, {"lr_lambda": lambda epoch: table[epoch]}),
        "MultiplicativeLR": (helpers, {"lr_lambda": lambda epoch: {1: 0.5}.get(epoch, 0.9)}),
        "OneCycleLR": (helpers, {"max_lr": 1.0, "total_steps": 20}),
        "CyclicLR": (helpers, {"base_lr": 0.01, "max_lr": 0.5, "step_size_up": 4}),
        "CosineAnnealingLR": (lr_scheduler, {"T_max": 10, "eta_min": 0.01}),
    }

    def ours():
        weight = Parameter(Tensor(np.zeros(2, np.float32)), name="w")
        return optim.SGD([weight], lr=0.1, momentum=0.9)

    differences = {}
    for name, (module, options) in cases.items():
        optimizer, other = ours(), ours()
        reference = torch.optim.SGD([torch.nn.Parameter(torch.zeros(2))], lr=0.1, momentum=0.9)
        schedule = getattr(module, name)(optimizer, **options)
        resumed = getattr(module, name)(other, **options)
        expected = getattr(theirs, name)(reference, **options)
        worst = 0.0
        for number in range(19):
            group = reference.param_groups[0]
            worst = max(worst, abs(float(optimizer.lrs[0]) - group["lr"]))
            momentum = float(optimizer.param_groups[0]["momentum"])
            worst = max(worst, abs(momentum - group["momentum"]))
            if number == 9:
                load_scheduler_state_dict(resumed, scheduler_state_dict(schedule))
            if number >= 9:
                worst = max(worst, abs(float(other.lrs[0]) - group["lr"]))
                resumed.step()
            reference.step()
            expected.step()
            schedule.step()
        differences[name] = worst
    return differences


def resumed_optimizers(*names):
    """Per optimizer: weights after four steps, after four with a stop in the middle, after four of
    which torch took the first two, and torch's own.
    """
    import mindspore
    import numpy as np
    import torch
    from mindspore import Parameter, Tensor

    from migrate.emit.helpers.optim_by_name import optimizers_by_name
    from migrate.emit.helpers.optim_groups import param_groups
    from migrate.emit.helpers.optim_state import load_optimizer_state_dict, optimizer_state_dict

    random = np.random.RandomState(0)
    shapes = [(3, 4), (5, 2), (2, 2)]
    start = [random.randn(*shape).astype(np.float32) for shape in shapes]
    steps = [[random.randn(*shape).astype(np.float32) for shape in shapes] for _ in range(4)]
    options = {
        "SGD": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1},
        "RMSprop": {"momentum": 0.5, "centered": True},
        "Adam": {"amsgrad": True},
        "Muon": {"weight_decay": 0.1},
    }

    def groups(parameters):
        return [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.05}]

    def of_mindspore(name, values):
        made = [Parameter(Tensor(v), name=f"p{n}") for n, v in enumerate(values)]
        kind = getattr(optimizers_by_name, name)
        return made, kind(groups(made), lr=0.1, **options.get(name, {}))

    def of_torch(name, values):
        made = [torch.nn.Parameter(torch.tensor(v)) for v in values]
        kind = getattr(torch.optim, name)
        return made, kind(groups(made), lr=0.1, **options.get(name, {}))

    def take(optimizer, parameters, gradients):
        """The last parameter has no gradient in the first step."""
        first = gradients is steps[0]
        for parameter, value in zip(parameters, gradients, strict=True):
            if isinstance(parameter, Parameter):
                parameter.has_no_gradient = first and parameter is parameters[-1]
            else:
                skipped = first and parameter is parameters[-1]
                parameter.grad = None if skipped else torch.tensor(value)
        if isinstance(parameters[0], Parameter):
            optimizer(tuple(map(Tensor, gradients)))
        else:
            optimizer.step()

    def change(groups):
        """What a schedule or a person has set in the meantime is resumed, too."""
        groups[1]["lr"] = 0.02
        groups[0]["weight_decay"] = 0.05
        if "betas" in groups[0]:
            groups[0]["betas"] = (0.8, *groups[0]["betas"][1:])

    def values(parameters):
        return [p.asnumpy() if isinstance(p, Parameter) else p.detach().numpy() for p in parameters]

    def in_mindspore(value):
        if isinstance(value, torch.Tensor):
            return Tensor(value.numpy().copy())
        if isinstance(value, dict):
            return {key: in_mindspore(item) for key, item in value.items()}
        return [in_mindspore(item) for item in value] if isinstance(value, list) else value

    answers = {}
    for name in names:
        ends = []
        for build in (of_mindspore, of_torch):
            weights, optimizer = build(name, start)
            for gradients in steps[:2]:
                take(optimizer, weights, gradients)
            ours = build is of_mindspore
            change(param_groups(optimizer) if ours else optimizer.param_groups)
            saved = optimizer_state_dict(optimizer) if ours else optimizer.state_dict()
            again, resumed = of_mindspore(name, [v.copy() for v in values(weights)])
            load_optimizer_state_dict(resumed, saved if ours else in_mindspore(saved))
            for gradients in steps[2:]:
                take(optimizer, weights, gradients)
                take(resumed, again, gradients)
            ends += [values(weights), values(again)]
        answers[name] = ends
    assert mindspore.get_context("mode") == mindspore.PYNATIVE_MODE
    return answers


def loader_agreement():
    from migrate.emit.helpers.data_loader import DataLoader
    from migrate.emit.helpers.data_sets import IterableDataset

    return batch_agreement(DataLoader) | worker_agreement(DataLoader, IterableDataset)


def threaded_loader_agreement():
    """In a process of its own: MindSpore ends one that has both workers and a pipeline."""
    from migrate.emit.helpers.data_threads import ThreadedDataLoader

    return batch_agreement(ThreadedDataLoader)


def batch_agreement(loader_class):
    import numpy as np
    import torch
    import torch.utils.data as theirs
    from mindspore import Tensor

    from migrate.emit.helpers import data_distributed, data_sets

    x, y = np.arange(40, dtype=np.float32).reshape(10, 2, 2), np.arange(10)
    reference = theirs.TensorDataset(torch.tensor(x), torch.tensor(y))
    dataset = data_sets.TensorDataset(Tensor(x), Tensor(y))

    class Records:
        def __len__(self):
            return 7

        def __getitem__(self, index):
            scalars = [np.float64(index), np.int32(index), np.bool_(index), np.float16(index)]
            return {"x": np.full(2, index, np.float32), "y": (index, str(index)), "z": scalars}

    def same(a, b):
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(same(*pair) for pair in zip(a, b, strict=True))
        if isinstance(a, str):
            return a == b
        return np.array_equal(a.numpy(), b.asnumpy()) and a.numpy().dtype == b.asnumpy().dtype

    answers = {}
    for options in ({"batch_size": 3}, {"batch_size": 4, "drop_last": True}, {"batch_size": None}):
        expected = list(theirs.DataLoader(reference, **options))
        loader = loader_class(dataset, num_workers=2, **options)
        answers[str(options)] = len(loader) == len(expected) and same(expected, list(loader))
    found = list(loader_class(Records(), 3))
    answers["dicts and text"] = same(list(theirs.DataLoader(Records(), 3)), found)
    seen = [b[1].asnumpy() for b in loader_class(dataset, 4, shuffle=True)]
    answers["shuffle"] = sorted(np.concatenate(seen)) == list(range(10))
    for rank in range(3):
        ours = data_distributed.DistributedSampler(range(10), 3, rank, shuffle=False)
        expected = theirs.DistributedSampler(range(10), 3, rank, shuffle=False)
        answers[f"rank {rank}"] = list(ours) == list(expected)
    return answers


def worker_agreement(loader, iterable):
    """Worker processes, after operators have run: seeds, errors, read counts, worker info."""
    import random

    import mindspore
    import numpy as np
    from mindspore import Tensor
    from mindspore.dataset.dataloader import get_worker_info

    (Tensor(np.ones((8, 8), np.float32)) @ Tensor(np.ones((8, 8), np.float32))).asnumpy()
    reads = mindspore.multiprocessing.Value("i", 0)

    class Drawn:
        def __len__(self):
            return 8

        def __getitem__(self, index):
            with reads.get_lock():
                reads.value += 1
            return np.float64(random.random()) + np.float64(np.random.rand()), index

    class Split(iterable):
        end = 0

        def __iter__(self):
            info = get_worker_info()
            return iter(range(info.id, self.end, info.num_workers))

    def begin(worker):
        get_worker_info().dataset.end = 6

    class Broken(Drawn):
        def __getitem__(self, index):
            raise KeyError("no such sample")

    def epoch(seed, drawn):
        mindspore.set_seed(seed)
        return [np.concatenate([b.asnumpy().ravel() for b in batch]).tolist() for batch in drawn]

    drawn = loader(Drawn(), 2, shuffle=True, num_workers=2)
    first, count = epoch(1, drawn), reads.value
    plain = loader(Drawn(), 2, shuffle=True)
    streamed = loader(Split(), 2, num_workers=2, worker_init_fn=begin)
    answers = {
        "every sample is read once": count == 8,
        "a seed set before an epoch counts": first == epoch(1, drawn) != epoch(2, drawn),
        "and in one process": epoch(1, plain) == epoch(1, plain) != epoch(2, plain),
        "workers divide a stream": sorted(int(n) for b in streamed for n in b.asnumpy())
        == list(range(6)),
    }
    try:
        list(loader(Broken(), 2, num_workers=1))
    except RuntimeError as error:
        answers["an error names its cause"] = "no such sample" in str(error)
    plain.batch_sampler = [[3, 4]]
    answers["a sampler put in place counts"] = [b[1].asnumpy().tolist() for b in plain] == [[3, 4]]
    return answers


def distribution_differences():
    import numpy as np
    import torch
    import torch.distributions as theirs
    from mindspore import Tensor

    from migrate.emit.helpers import distributions as ours

    random = np.random.RandomState(0)
    some = random.rand(3, 4).astype(np.float32) + 0.1
    cases = {
        "Normal": ({"loc": some - 1, "scale": some}, some),
        "Laplace": ({"loc": some, "scale": some}, some * 2),
        "Exponential": ({"rate": some}, some),
        "Bernoulli": ({"logits": some * 4 - 2}, (some > 0.5).astype(np.float32)),
        "Categorical": ({"logits": some}, np.array([0, 3, 1])),
    }
    differences = {}
    for name, (options, value) in cases.items():
        found = getattr(ours, f"{name}Distribution")(**{k: Tensor(v) for k, v in options.items()})
        expected = getattr(theirs, name)(**{k: torch.tensor(v) for k, v in options.items()})
        pairs = {
            "log_prob": (found.log_prob(Tensor(value)), expected.log_prob(torch.tensor(value))),
            "entropy": (found.entropy(), expected.entropy()),
        }
        for what, (a, b) in pairs.items():
            differences[f"{name} {what}"] = float(np.abs(a.asnumpy() - b.numpy()).max())
        # Twenty thousand draws settle a mean to a few per cent of the spread.
        drawn, reference = found.sample((20000,)).asnumpy(), expected.sample((20000,)).numpy()
        gap = np.abs(drawn.mean(0) - reference.mean(0)) / reference.std(0)
        right = drawn.shape == reference.shape and gap.max() < 0.06
        differences[f"{name} sample"] = 0.0 if right else 1.0
    return differences
