"""Meters, processes, moving averages and groups of parameters."""

import datetime
import errno
import os
import time
from collections import defaultdict, deque
from typing import List, Optional, Tuple

import torch
import torch.distributed as dist


class Series:
    """Values over time: the last ones, and the mean of all."""

    def __init__(self, window=20, fmt="{median:.4f} ({mean:.4f})"):
        self.last = deque(maxlen=window)
        self.total = 0.0
        self.count = 0
        self.fmt = fmt

    def update(self, value, n=1):
        self.last.append(value)
        self.count += n
        self.total += value * n

    def synchronize(self):
        """Count and sum over the processes; the window stays this one's."""
        count, total = summed([self.count, self.total]).tolist()
        self.count = int(count)
        self.total = total

    @property
    def median(self):
        return torch.tensor(list(self.last)).median().item()

    @property
    def recent(self):
        return torch.tensor(list(self.last), dtype=torch.float32).mean().item()

    @property
    def mean(self):
        return self.total / self.count

    @property
    def value(self):
        return self.last[-1]

    def __str__(self):
        return self.fmt.format(
            median=self.median, recent=self.recent, mean=self.mean, value=self.value
        )


class Meters:
    def __init__(self, delimiter="\t"):
        self.series = defaultdict(Series)
        self.delimiter = delimiter

    def add(self, name, series):
        self.series[name] = series

    def update(self, **values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            assert isinstance(value, (float, int))
            self.series[name].update(value)

    def __getattr__(self, name):
        if name in self.series:
            return self.series[name]
        raise AttributeError(name)

    def __str__(self):
        return self.delimiter.join(f"{name}: {series}" for name, series in self.series.items())

    def synchronize(self):
        for series in self.series.values():
            series.synchronize()

    def log_every(self, iterable, every, header=""):
        begun = end = time.time()
        pace = Series(fmt="{recent:.4f}")
        for i, item in enumerate(iterable):
            yield item
            pace.update(time.time() - end)
            if i % every == 0:
                left = datetime.timedelta(seconds=int(pace.mean * (len(iterable) - i)))
                parts = [header, f"[{i}/{len(iterable)}]", f"eta: {left}", str(self)]
                if torch.cuda.is_available():
                    peak = torch.cuda.max_memory_allocated() / 2**20
                    parts.append(f"max mem: {peak:.0f}")
                print(self.delimiter.join(parts))
            end = time.time()
        print(f"{header} {datetime.timedelta(seconds=int(time.time() - begun))}")


class MovingAverage(torch.optim.swa_utils.AveragedModel):
    """decay * average + (1 - decay) * weights, of parameters and buffers."""

    def __init__(self, model, decay, device="cpu"):
        def blend(average, weight, count):
            return decay * average + (1 - decay) * weight

        super().__init__(model, device, blend, use_buffers=True)


def accuracy(output, target, topk=(1,)):
    with torch.inference_mode():
        if target.ndim == 2:
            target = target.max(dim=1)[1]
        _, best = output.topk(max(topk), 1, True, True)
        hits = best.t().eq(target[None])
        return [hits[:k].flatten().sum(dtype=torch.float32) * (100.0 / len(target)) for k in topk]


def mkdir(path):
    try:
        os.makedirs(path)
    except OSError as e:
        if e.errno != errno.EEXIST:
            raise


def only_first_prints(first):
    import builtins as __builtin__

    plain = __builtin__.print

    def print(*args, **kwargs):
        force = kwargs.pop("force", False)
        if first or force:
            plain(*args, **kwargs)

    __builtin__.print = print


def in_group():
    return dist.is_available() and dist.is_initialized()


def get_rank():
    if not in_group():
        return 0
    return dist.get_rank()


def save_on_master(*args, **kwargs):
    if get_rank() == 0:
        torch.save(*args, **kwargs)


def init_distributed_mode(args):
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        args.rank = int(os.environ["RANK"])
        args.world_size = int(os.environ["WORLD_SIZE"])
        args.gpu = int(os.environ["LOCAL_RANK"])
    elif "SLURM_PROCID" in os.environ:
        args.rank = int(os.environ["SLURM_PROCID"])
        args.gpu = args.rank % torch.cuda.device_count()
    elif hasattr(args, "rank"):
        pass
    else:
        print("Not using distributed mode")
        args.distributed = False
        return
    args.distributed = True
    if args.device == "cuda":
        torch.cuda.set_device(args.gpu)
        args.dist_backend = "nccl"
    else:
        args.dist_backend = "gloo"
    print(f"| rank {args.rank} at {args.dist_url}", flush=True)
    torch.distributed.init_process_group(
        backend=args.dist_backend,
        init_method=args.dist_url,
        world_size=args.world_size,
        rank=args.rank,
    )
    torch.distributed.barrier()
    only_first_prints(args.rank == 0)


def summed(value):
    """A number or a list of them, added up over the processes, as a tensor."""
    if not in_group():
        return torch.tensor(value)
    total = torch.tensor(value, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.barrier()
    dist.all_reduce(total)
    return total


def weight_decay_groups(
    model: torch.nn.Module,
    weight_decay: float,
    norm_weight_decay: Optional[float] = None,
    norm_classes: Optional[List[type]] = None,
    custom: Optional[List[Tuple[str, float]]] = None,
):
    """Parameters in groups: of norms, of names that have a decay of their own, and others."""
    norms = tuple(
        norm_classes
        or [
            torch.nn.modules.batchnorm._BatchNorm,
            torch.nn.LayerNorm,
            torch.nn.GroupNorm,
            torch.nn.modules.instancenorm._InstanceNorm,
        ]
    )
    decays = {"other": weight_decay, "norm": norm_weight_decay, **dict(custom or [])}
    members = {name: [] for name in decays}

    def collect(module, prefix=""):
        for name, parameter in module.named_parameters(recurse=False):
            if not parameter.requires_grad:
                continue
            full = f"{prefix}.{name}" if prefix else name
            own = [key for key, _ in custom or [] if key == (full if "." in key else name)]
            if own:
                members[own[0]].append(parameter)
            elif norm_weight_decay is not None and isinstance(module, norms):
                members["norm"].append(parameter)
            else:
                members["other"].append(parameter)
        for name, child in module.named_children():
            collect(child, f"{prefix}.{name}" if prefix else name)

    collect(model)
    return [
        {"params": found, "weight_decay": decays[name]}
        for name, found in members.items()
        if found
    ]
