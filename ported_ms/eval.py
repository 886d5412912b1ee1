"""Evaluate a checkpoint: top-1 and top-5 accuracy, parameter count, and latency after a warm-up.

python eval.py --arch resnet50 --checkpoint checkpoints/best.pt --data imagenet --data-dir ...
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable

import mindspore
from mindspore import Tensor, nn, ops
import ms_migrate_helpers as helpers

import resnet
from data import add_data_arguments, build_loader, default_num_classes
from lenet import lenet5

MODELS: dict[str, Callable[..., nn.Cell]] = {
    "lenet5": lenet5,
    "resnet18": resnet.resnet18,
    "resnet34": resnet.resnet34,
    "resnet50": resnet.resnet50,
    "resnet101": resnet.resnet101,
    "resnet152": resnet.resnet152,
}


class AverageMeter:
    """A running mean that knows how many samples stand behind it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.total = 0.0
        self.count = 0

    def update(self, value: float, n: int = 1) -> None:
        self.total += value * n
        self.count += n

    @property
    def average(self) -> float:
        return self.total / max(self.count, 1)

    def all_reduce(self, device: str) -> None:
        """Join the meters of all processes, weighted by how much each of them saw."""
        pair = mindspore.tensor([self.total, self.count], dtype=mindspore.float64)
        pair = helpers.all_reduce(pair, op=ops.ReduceOp.SUM)
        self.total, self.count = float(pair[0].item()), int(pair[1].item())


def accuracy(output: Tensor, target: Tensor, topk: tuple[int, ...] = (1,)) -> list[float]:
    """The percentage of samples whose class is among the k best, for each k."""
    # With fewer classes than k every answer is among the k best.
    largest = min(max(topk), output.shape[1])
    _, predicted = helpers.topk(output, largest, dim=1, largest=True, sorted=True)
    correct = predicted.eq(target.view(-1, 1))
    return [
        ops.any(correct[:, :k].bool(), axis=1, keep_dims=False).float().mean().item() * 100.0
        for k in topk
    ]


def evaluate(
    model: nn.Cell,
    loader: Iterable[tuple[Tensor, Tensor]],
    criterion: nn.Cell,
    device: str,
) -> tuple[float, float, float]:
    """Mean loss, top-1 and top-5 over the loader, joined over all processes of a group."""
    loss_meter, top1, top5 = AverageMeter("loss"), AverageMeter("top-1"), AverageMeter("top-5")
    model.set_train(False)
    for images, target in loader:
        output = model(images)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        loss_meter.update(criterion(output, target).item(), images.shape[0])
        top1.update(acc1, images.shape[0])
        top5.update(acc5, images.shape[0])
    if helpers.is_initialized():
        for meter in (loss_meter, top1, top5):
            meter.all_reduce(device)
    return loss_meter.average, top1.average, top5.average


def measure_latency(
    model: nn.Cell, batch: Tensor, warmup: int = 10, repeats: int = 50
) -> tuple[float, float]:
    """Median and 95th percentile of one forward pass, in milliseconds."""
    model.set_train(False)
    times = []
    for index in range(warmup + repeats):
        if helpers.ON_ACCELERATOR:
            mindspore.runtime.synchronize()
        start = time.perf_counter()
        model(batch)
        # Kernels run behind Python's back: without waiting we would time their launch.
        if helpers.ON_ACCELERATOR:
            mindspore.runtime.synchronize()
        if index >= warmup:
            times.append((time.perf_counter() - start) * 1000.0)
    times.sort()
    return statistics.median(times), times[min(int(0.95 * len(times)), len(times) - 1)]


def count_parameters(model: nn.Cell) -> int:
    return sum(parameter.size for parameter in helpers.parameters(model) if parameter.requires_grad)


def load_weights(model: nn.Cell, path: str, device: str) -> None:
    """Take the weights of a training checkpoint, or of a bare state dict."""
    checkpoint = helpers.load(path)
    helpers.load_state_dict(model, checkpoint.get("model", checkpoint))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", choices=sorted(MODELS), default="resnet50")
    parser.add_argument("--checkpoint", default="", help="weights to evaluate; default: random")
    parser.add_argument(
        "--device", default=mindspore.get_context("device_target"), type=helpers.device
    )
    parser.add_argument("--latency-batch", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=10, help="passes before the timing starts")
    parser.add_argument("--repeats", type=int, default=50, help="passes that are timed")
    add_data_arguments(parser)
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    mindspore.set_seed(args.seed)
    device = helpers.device(args.device)
    if args.num_classes is None:
        args.num_classes = default_num_classes(args.data)

    model = MODELS[args.arch](num_classes=args.num_classes)
    if args.checkpoint:
        load_weights(model, args.checkpoint, device)

    loader = build_loader(args, train=False)
    loss, top1, top5 = evaluate(model, loader, helpers.CrossEntropyLoss(), device)
    images, _ = next(iter(loader))
    batch = images[: args.latency_batch]
    median, slow = measure_latency(model, batch, args.warmup, args.repeats)

    print(f"model       {args.arch}")
    print(f"parameters  {count_parameters(model):,}")
    print(f"loss        {loss:.4f}")
    print(f"top-1       {top1:.2f}%")
    print(f"top-5       {top5:.2f}%")
    print(f"latency     {median:.2f} ms median, {slow:.2f} ms p95, batch {batch.shape[0]}")
    print(f"throughput  {1000.0 * batch.shape[0] / median:.1f} images/s")


if __name__ == "__main__":
    main()
