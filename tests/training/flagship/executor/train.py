"""Train a classifier: the Trainer owns the loop, the Executor runs batches, callbacks watch."""

import argparse
from pathlib import Path

import torch
from core.callbacks import CheckpointSaver, HistoryWriter, LearningRateStepper
from core.distributed import Processes
from core.executor import Executor
from core.loaders import build_loaders
from core.trainer import Trainer
from nets import build_net
from torch import nn, optim


def parse_args():
    parser = argparse.ArgumentParser(description="train on one GPU or many (default device: cuda)")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--net", default="bottleneck", choices=["bottleneck", "plain"])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8, help="images a process")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--accumulate", type=int, default=1, metavar="N")
    parser.add_argument("--clip", type=float, default=None)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--fp16", action="store_true", help="mixed precision of CUDA cores")
    parser.add_argument("--resume", type=Path, default=None)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--keep-order", action="store_true")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    processes = Processes(args.device)
    train_loader, val_loader = build_loaders(
        args.data, args.size, args.batch_size, processes, shuffle=not args.keep_order
    )
    net = build_net(args.net, num_classes=len(train_loader.dataset.classes))
    net = net.to(processes.device)
    if processes.size > 1:
        net = nn.parallel.DistributedDataParallel(
            net,
            device_ids=[processes.local_rank] if processes.device.type == "cuda" else None,
            find_unused_parameters=False,
        )
    optimizer = optim.AdamW(net.parameters(), lr=args.lr, weight_decay=0.05)
    scheduler = optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=args.lr,
        epochs=args.epochs,
        steps_per_epoch=max(1, len(train_loader) // args.accumulate),
    )
    scaler = torch.amp.GradScaler(processes.device.type, init_scale=128.0) if args.fp16 else None
    executor = Executor(
        net,
        nn.CrossEntropyLoss(label_smoothing=0.1),
        processes.device,
        scaler=scaler,
        accumulate=args.accumulate,
    )
    trainer = Trainer(
        executor,
        optimizer,
        processes,
        scaler=scaler,
        clip=args.clip,
        callbacks=[
            LearningRateStepper(scheduler),
            HistoryWriter(args.out / "log.jsonl"),
            CheckpointSaver(args.out, scheduler),
        ],
    )
    if args.resume is not None:
        trainer.load(args.resume, scheduler)
    if args.evaluate:
        print(trainer.evaluate(val_loader))
    else:
        trainer.fit(train_loader, val_loader, args.epochs)
    processes.leave()


if __name__ == "__main__":
    main()
