"""Train a classifier; the defaults are the 90-epoch ResNet-50 recipe for ImageNet.

python train.py --data imagenet --data-dir /data/imagenet --amp
torchrun --nproc_per_node 8 train.py --distributed --data imagenet --data-dir ...
python train.py --arch lenet5 --image-size 32 --batch-size 64 --epochs 2     # synthetic
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import mindspore
from mindspore import Parameter, nn, ops
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler
import ms_migrate_helpers as helpers

from data import add_data_arguments, build_loader, default_num_classes
from eval import MODELS, AverageMeter, accuracy, evaluate, load_weights
from losses import build_loss
from schedules import SCHEDULES, build_scheduler


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", choices=sorted(MODELS), default="resnet50")
    parser.add_argument("--weights", default="", help="start from these weights")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--lr", type=float, default=0.256, help="for 256 images a step; scaled")
    parser.add_argument("--momentum", type=float, default=0.875)
    parser.add_argument("--weight-decay", type=float, default=1 / 32768)
    parser.add_argument("--label-smoothing", type=float, default=0.1)
    parser.add_argument("--schedule", choices=sorted(SCHEDULES), default="cosine")
    parser.add_argument("--warmup-epochs", type=int, default=8)
    parser.add_argument("--clip-grad", type=float, default=0.0, help="largest gradient norm")
    parser.add_argument("--amp", action="store_true", help="float16 autocast with loss scaling")
    parser.add_argument("--distributed", action="store_true", help="under torchrun")
    parser.add_argument(
        "--device", default=mindspore.get_context("device_target"), type=helpers.device
    )
    parser.add_argument("--output", default="checkpoints", help="where last.pt and best.pt go")
    parser.add_argument("--resume", default="", help="go on from this checkpoint")
    parser.add_argument("--stop-epoch", type=int, default=0, help="end here, to resume later")
    parser.add_argument("--print-freq", type=int, default=10, help="steps between progress lines")
    parser.add_argument("--log", default="", help="append one JSON line per step to this file")
    add_data_arguments(parser)
    return parser.parse_args()


def setup_distributed(args: argparse.Namespace) -> tuple[str, int, int]:
    """Join the group that torchrun describes in the environment: device, rank and group size."""
    device = helpers.device(args.device)
    if not args.distributed:
        return device, 0, 1
    if helpers.device_type(device) == "cuda":
        device = helpers.device("cuda", int(os.environ["LOCAL_RANK"]))
    helpers.init_process_group()
    return device, helpers.get_rank(), helpers.get_world_size()


def parameter_groups(model: nn.Cell, weight_decay: float) -> list[dict[str, Any]]:
    """Decay kernels only: shrinking the scales and biases of BatchNorm costs accuracy."""
    decay: list[Parameter] = []
    no_decay: list[Parameter] = []
    for parameter in helpers.parameters(model):
        if not parameter.requires_grad:
            continue
        if parameter.ndim <= 1:
            no_decay.append(parameter)
        else:
            decay.append(parameter)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]


def train_one_epoch(
    model: nn.Cell,
    loader: helpers.DataLoader,
    criterion: nn.Cell,
    optimizer: optim.Optimizer,
    scheduler: lr_scheduler.LRScheduler,
    scaler: helpers.GradScaler,
    device: str,
    epoch: int,
    args: argparse.Namespace,
) -> float:
    """One pass over the training data; returns the mean loss."""
    loss_meter, top1 = AverageMeter("loss"), AverageMeter("top-1")
    model.set_train()
    start = time.perf_counter()

    @helpers.autocast(helpers.device_type(device), dtype=mindspore.float16, enabled=args.amp)
    def forward_step(images, target):
        output = model(images)
        loss = criterion(output, target)
        return scaler.scale(loss), output, loss

    grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters, has_aux=True)
    for step, (images, target) in enumerate(loader):
        (_, output, loss), grads = grad_step(images, target)
        if args.clip_grad > 0:
            # The norm means something only after the loss scale is out of the gradients.
            grads = scaler.unscale(grads, optimizer)
            grads = ops.clip_by_global_norm(grads, args.clip_grad)
        scaler.step(optimizer, grads)
        scaler.update()
        lr = helpers.written_number(scheduler.get_last_lr()[0])
        scheduler.step()

        (acc1,) = accuracy(output, target, topk=(1,))
        loss_meter.update(loss.item(), images.shape[0])
        top1.update(acc1, images.shape[0])
        if args.rank != 0:
            continue
        if args.log:
            write_log(args.log, epoch=epoch, step=step, loss=loss.item(), lr=lr)
        if (step + 1) % args.print_freq == 0:
            rate = loss_meter.count * args.world_size / (time.perf_counter() - start)
            print(
                f"epoch {epoch + 1}/{args.epochs}  step {step + 1}/{len(loader)}"
                f"  loss {loss.item():.4f} ({loss_meter.average:.4f})"
                f"  top-1 {top1.average:.2f}%  lr {lr:.5f}  {rate:.1f} images/s",
                flush=True,
            )
    return loss_meter.average


def write_log(path: str, **record: float) -> None:
    """Append one JSON line, so that curves can be compared without parsing the progress lines."""
    with open(path, "a") as stream:
        stream.write(json.dumps(record) + "\n")


def save_checkpoint(checkpoint: dict[str, Any], folder: Path, is_best: bool) -> None:
    """Write last.pt, and best.pt beside it when this epoch is the best so far."""
    folder.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed: a run killed here keeps its previous checkpoint.
    helpers.save(checkpoint, folder / "last.pt.tmp")
    os.replace(folder / "last.pt.tmp", folder / "last.pt")
    if is_best:
        shutil.copyfile(folder / "last.pt", folder / "best.pt")


def main() -> None:
    args = parse_args()
    if args.num_classes is None:
        args.num_classes = default_num_classes(args.data)
    device, args.rank, args.world_size = setup_distributed(args)
    # The same initial weights in every process and every run.
    mindspore.set_seed(args.seed)

    train_loader = build_loader(args, train=True, rank=args.rank, world_size=args.world_size)
    val_loader = build_loader(args, train=False, rank=args.rank, world_size=args.world_size)
    if len(train_loader) == 0:
        raise SystemExit("train.py: fewer training images than one batch; lower --batch-size")

    model = MODELS[args.arch](num_classes=args.num_classes)
    if args.weights:
        load_weights(model, args.weights, device)
    criterion = build_loss(args.label_smoothing)

    # The linear scaling rule: as many times the rate as a step has times 256 images.
    lr = args.lr * args.batch_size * args.world_size / 256
    optimizer = helpers.SGD(
        parameter_groups(model, args.weight_decay), lr=lr, momentum=args.momentum
    )
    steps_per_epoch = len(train_loader)
    scheduler = build_scheduler(
        optimizer,
        args.schedule,
        total_steps=args.epochs * steps_per_epoch,
        warmup_steps=min(args.warmup_epochs, args.epochs - 1) * steps_per_epoch,
    )
    scaler = helpers.GradScaler(helpers.device_type(device), enabled=args.amp)

    start_epoch, best_top1 = 0, 0.0
    if args.resume:
        checkpoint = helpers.load(args.resume)
        if checkpoint["arch"] != args.arch:
            raise SystemExit(f"train.py: {args.resume} holds a {checkpoint['arch']}")
        helpers.load_state_dict(model, checkpoint["model"])
        helpers.load_optimizer_state_dict(optimizer, checkpoint["optimizer"])
        helpers.load_scheduler_state_dict(scheduler, checkpoint["scheduler"])
        scaler.load_state_dict(checkpoint["scaler"])
        start_epoch, best_top1 = checkpoint["epoch"], checkpoint["best_top1"]

    # Checkpoints hold the bare model: they load with or without DistributedDataParallel.
    bare_model = model
    if args.distributed:
        model = helpers.DistributedDataParallel(model)

    for epoch in range(start_epoch, args.stop_epoch or args.epochs):
        # A seed per epoch: a resumed run then sees the order and the crops it would have seen.
        mindspore.set_seed(args.seed + 1000 * args.rank + epoch)
        if isinstance(train_loader.sampler, helpers.DistributedSampler):
            train_loader.sampler.set_epoch(epoch)
        train_loss = train_one_epoch(
            model, train_loader, criterion, optimizer, scheduler, scaler, device, epoch, args
        )
        val_loss, top1, top5 = evaluate(model, val_loader, criterion, device)
        is_best = top1 > best_top1 or epoch == 0
        best_top1 = max(best_top1, top1)
        if args.rank == 0:
            print(
                f"epoch {epoch + 1}/{args.epochs}  train loss {train_loss:.4f}"
                f"  val loss {val_loss:.4f}  top-1 {top1:.2f}%  top-5 {top5:.2f}%",
                flush=True,
            )
            checkpoint = {
                "epoch": epoch + 1,
                "arch": args.arch,
                "model": helpers.state_dict(bare_model),
                "optimizer": helpers.optimizer_state_dict(optimizer),
                "scheduler": helpers.scheduler_state_dict(scheduler),
                "scaler": scaler.state_dict(),
                "best_top1": best_top1,
            }
            save_checkpoint(checkpoint, Path(args.output), is_best)

    if args.distributed:
        helpers.destroy_process_group()


if __name__ == "__main__":
    main()
