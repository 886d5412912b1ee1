"""The reference trainer: train.py --data-path DIR --model NAME, alone or under a launcher."""

import datetime
import json
import os
import time
import warnings

import presets
import torch
import torch.utils.data
import torchvision
import transforms
import utils
from networks import get_network
from sampler import RepeatedSampler
from torch import nn
from torch.utils.data.dataloader import default_collate
from torchvision.transforms.functional import InterpolationMode


def train_one_epoch(model, criterion, optimizer, loader, device, epoch, args, ema=None, scaler=None):
    model.train()
    meters = utils.Meters(delimiter="  ")
    meters.add("lr", utils.Series(window=1, fmt="{value}"))
    meters.add("img/s", utils.Series(window=10, fmt="{value}"))
    for i, (image, target) in enumerate(
        meters.log_every(loader, args.print_freq, f"Epoch: [{epoch}]")
    ):
        begun = time.time()
        image, target = image.to(device), target.to(device)
        with torch.amp.autocast(device.type, dtype=torch.float16, enabled=scaler is not None):
            output = model(image)
            loss = criterion(output, target)

        optimizer.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            if args.clip_grad_norm is not None:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            if args.clip_grad_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
            optimizer.step()

        if ema and i % args.model_ema_steps == 0:
            ema.update_parameters(model)
            if epoch < args.lr_warmup_epochs:
                ema.n_averaged.fill_(0)  # the average begins anew during the warm-up

        acc1, acc3 = utils.accuracy(output, target, topk=(1, 3))
        count = image.shape[0]
        meters.update(loss=loss.item(), lr=optimizer.param_groups[0]["lr"])
        meters.series["acc1"].update(acc1.item(), n=count)
        meters.series["acc3"].update(acc3.item(), n=count)
        meters.series["img/s"].update(count / (time.time() - begun))
        write_log(args, epoch=epoch, loss=loss.item(), lr=optimizer.param_groups[0]["lr"])


def evaluate(model, criterion, loader, device, args, epoch, kind=""):
    model.eval()
    meters = utils.Meters(delimiter="  ")
    seen = 0
    with torch.inference_mode():
        for image, target in meters.log_every(loader, 100, f"Test: {kind}"):
            image = image.to(device, non_blocking=True)
            target = target.to(device, non_blocking=True)
            output = model(image)
            loss = criterion(output, target)
            acc1, acc3 = utils.accuracy(output, target, topk=(1, 3))
            meters.update(loss=loss.item())
            meters.series["acc1"].update(acc1.item(), n=image.shape[0])
            meters.series["acc3"].update(acc3.item(), n=image.shape[0])
            seen += image.shape[0]
    seen = utils.summed(seen)
    if (
        hasattr(loader.dataset, "__len__")
        and len(loader.dataset) != seen
        and utils.get_rank() == 0
    ):
        warnings.warn(f"{len(loader.dataset)} samples, of which {seen} were counted")
    meters.synchronize()
    print(f"Test: {kind} Acc@1 {meters.acc1.mean:.3f} Acc@3 {meters.acc3.mean:.3f}")
    write_log(
        args,
        epoch=epoch,
        val_loss=meters.loss.mean,
        acc1=meters.acc1.mean,
        count=int(seen),
        kind=kind,
    )
    return meters.acc1.mean


def write_log(args, **record):
    if args.output_dir and utils.get_rank() == 0:
        with open(os.path.join(args.output_dir, "log.jsonl"), "a") as stream:
            stream.write(json.dumps(record) + "\n")


def load_data(args):
    interpolation = InterpolationMode(args.interpolation)
    started = time.time()
    dataset = torchvision.datasets.ImageFolder(
        os.path.join(args.data_path, "train"),
        presets.Training(
            crop_size=args.train_crop_size,
            interpolation=interpolation,
            policy=getattr(args, "auto_augment", None),
            erase=getattr(args, "random_erase", 0.0),
            magnitude=args.ra_magnitude,
        ),
    )
    print("training data after", time.time() - started)
    dataset_test = torchvision.datasets.ImageFolder(
        os.path.join(args.data_path, "val"),
        presets.Evaluation(
            crop_size=args.val_crop_size,
            resize_size=args.val_resize_size,
            interpolation=interpolation,
        ),
    )
    if args.distributed:
        if hasattr(args, "ra_sampler") and args.ra_sampler:
            sampler = RepeatedSampler(dataset, shuffle=args.shuffle, repetitions=args.ra_reps)
        else:
            sampler = torch.utils.data.distributed.DistributedSampler(
                dataset, shuffle=args.shuffle
            )
        test_sampler = torch.utils.data.distributed.DistributedSampler(
            dataset_test, shuffle=False
        )
    else:
        sampler = (
            torch.utils.data.RandomSampler(dataset)
            if args.shuffle
            else torch.utils.data.SequentialSampler(dataset)
        )
        test_sampler = torch.utils.data.SequentialSampler(dataset_test)
    return dataset, dataset_test, sampler, test_sampler


def build_collate(args, classes):
    mixes = []
    if args.mixup_alpha > 0.0:
        mixes.append(transforms.Mixup(classes, p=1.0, alpha=args.mixup_alpha))
    if args.cutmix_alpha > 0.0:
        mixes.append(transforms.Cutmix(classes, p=1.0, alpha=args.cutmix_alpha))
    if not mixes:
        return default_collate
    chosen = transforms.OneOf(mixes)

    def collate_fn(batch):
        return chosen(*default_collate(batch))

    return collate_fn


def build_optimizer(parameters, args):
    name = args.opt.lower()
    if name.startswith("sgd"):
        return torch.optim.SGD(
            parameters,
            lr=args.lr,
            momentum=args.momentum,
            weight_decay=args.weight_decay,
            nesterov="nesterov" in name,
        )
    if name == "rmsprop":
        return torch.optim.RMSprop(
            parameters, lr=args.lr, momentum=args.momentum, eps=0.0316, alpha=0.9
        )
    if name == "adamw":
        return torch.optim.AdamW(parameters, lr=args.lr, weight_decay=args.weight_decay)
    raise RuntimeError(f"no optimizer {args.opt}: SGD, RMSprop and AdamW are known")


def build_schedule(optimizer, args):
    args.lr_scheduler = args.lr_scheduler.lower()
    if args.lr_scheduler == "steplr":
        main = torch.optim.lr_scheduler.StepLR(
            optimizer, step_size=args.lr_step_size, gamma=args.lr_gamma
        )
    elif args.lr_scheduler == "cosineannealinglr":
        main = torch.optim.lr_scheduler.CosineAnnealingLR(
            optimizer, T_max=args.epochs - args.lr_warmup_epochs, eta_min=args.lr_min
        )
    elif args.lr_scheduler == "exponentiallr":
        main = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=args.lr_gamma)
    else:
        raise RuntimeError(f"no schedule {args.lr_scheduler}")
    if args.lr_warmup_epochs == 0:
        return main
    if args.lr_warmup_method == "linear":
        warmup = torch.optim.lr_scheduler.LinearLR(
            optimizer, start_factor=args.lr_warmup_decay, total_iters=args.lr_warmup_epochs
        )
    else:
        warmup = torch.optim.lr_scheduler.ConstantLR(
            optimizer, factor=args.lr_warmup_decay, total_iters=args.lr_warmup_epochs
        )
    return torch.optim.lr_scheduler.SequentialLR(
        optimizer, schedulers=[warmup, main], milestones=[args.lr_warmup_epochs]
    )


def main(args):
    if args.output_dir:
        utils.mkdir(args.output_dir)
    utils.init_distributed_mode(args)
    print(args)
    device = torch.device(args.device)
    if args.use_deterministic_algorithms:
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True)
    else:
        torch.backends.cudnn.benchmark = True

    dataset, dataset_test, sampler, test_sampler = load_data(args)
    loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=sampler,
        num_workers=args.workers,
        pin_memory=True,
        collate_fn=build_collate(args, len(dataset.classes)),
    )
    loader_test = torch.utils.data.DataLoader(
        dataset_test,
        batch_size=args.batch_size,
        sampler=test_sampler,
        num_workers=args.workers,
        pin_memory=True,
    )

    model = get_network(args.model, weights=args.weights, num_classes=len(dataset.classes))
    model.to(device)
    if args.distributed and args.sync_bn:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)

    criterion = nn.CrossEntropyLoss(label_smoothing=args.label_smoothing)
    custom = []
    if args.bias_weight_decay is not None:
        custom.append(("bias", args.bias_weight_decay))
    parameters = utils.weight_decay_groups(
        model, args.weight_decay, norm_weight_decay=args.norm_weight_decay, custom=custom or None
    )
    optimizer = build_optimizer(parameters, args)
    scaler = torch.amp.GradScaler(device.type, init_scale=256.0) if args.amp else None
    lr_scheduler = build_schedule(optimizer, args)

    model_without_ddp = model
    if args.distributed:
        ids = [args.gpu] if device.type == "cuda" else None
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=ids)
        model_without_ddp = model.module

    model_ema = None
    if args.model_ema:
        # The decay holds for batches of 32 that are averaged every 32 steps.
        share = args.world_size * args.batch_size * args.model_ema_steps / args.epochs
        alpha = min(1.0, (1.0 - args.model_ema_decay) * share)
        model_ema = utils.MovingAverage(model_without_ddp, device=device, decay=1.0 - alpha)

    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu", weights_only=True)
        model_without_ddp.load_state_dict(checkpoint["model"])
        if not args.test_only:
            optimizer.load_state_dict(checkpoint["optimizer"])
            lr_scheduler.load_state_dict(checkpoint["lr_scheduler"])
        args.start_epoch = checkpoint["epoch"] + 1
        if model_ema:
            model_ema.load_state_dict(checkpoint["model_ema"])
        if scaler:
            scaler.load_state_dict(checkpoint["scaler"])

    if args.test_only:
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        kept = model_ema if model_ema else model
        evaluate(kept, criterion, loader_test, device, args, args.start_epoch - 1)
        return

    print("Start training")
    started = time.time()
    for epoch in range(args.start_epoch, args.epochs):
        if args.distributed:
            sampler.set_epoch(epoch)
        train_one_epoch(
            model, criterion, optimizer, loader, device, epoch, args, model_ema, scaler
        )
        lr_scheduler.step()
        evaluate(model, criterion, loader_test, device, args, epoch)
        if model_ema:
            evaluate(model_ema, criterion, loader_test, device, args, epoch, kind="EMA")
        if args.output_dir:
            checkpoint = {
                "model": model_without_ddp.state_dict(),
                "optimizer": optimizer.state_dict(),
                "lr_scheduler": lr_scheduler.state_dict(),
                "epoch": epoch,
                "args": vars(args),
            }
            if model_ema:
                checkpoint["model_ema"] = model_ema.state_dict()
            if scaler:
                checkpoint["scaler"] = scaler.state_dict()
            path = os.path.join(args.output_dir, f"model_{epoch}.pth")
            utils.save_on_master(checkpoint, path)
    print(f"Training time {datetime.timedelta(seconds=int(time.time() - started))}")


def get_args_parser(add_help=True):
    import argparse

    parser = argparse.ArgumentParser(description="reference training", add_help=add_help)
    add = parser.add_argument
    add("--data-path", default="/datasets/imagenet", type=str)
    add("--model", default="narrow", type=str)
    add("--device", default="cuda", type=str, help="cuda (the default) or cpu")
    add("-b", "--batch-size", default=32, type=int, help="images a GPU")
    add("--epochs", default=90, type=int)
    add("-j", "--workers", default=0, type=int)
    add("--opt", default="sgd", type=str)
    add("--lr", default=0.1, type=float)
    add("--momentum", default=0.9, type=float)
    add("--wd", "--weight-decay", default=1e-4, type=float, dest="weight_decay")
    add("--norm-weight-decay", default=None, type=float)
    add("--bias-weight-decay", default=None, type=float)
    add("--label-smoothing", default=0.0, type=float)
    add("--mixup-alpha", default=0.0, type=float)
    add("--cutmix-alpha", default=0.0, type=float)
    add("--lr-scheduler", default="steplr", type=str)
    add("--lr-warmup-epochs", default=0, type=int)
    add("--lr-warmup-method", default="constant", type=str)
    add("--lr-warmup-decay", default=0.01, type=float)
    add("--lr-step-size", default=30, type=int)
    add("--lr-gamma", default=0.1, type=float)
    add("--lr-min", default=0.0, type=float)
    add("--print-freq", default=10, type=int)
    add("--output-dir", default=".", type=str)
    add("--resume", default="", type=str)
    add("--start-epoch", default=0, type=int)
    add("--sync-bn", action="store_true")
    add("--test-only", action="store_true")
    add("--auto-augment", default=None, type=str)
    add("--ra-magnitude", default=9, type=int)
    add("--random-erase", default=0.0, type=float)
    add("--no-shuffle", dest="shuffle", action="store_false")
    add("--amp", action="store_true", help="mixed precision of torch.cuda.amp")
    add("--world-size", default=1, type=int)
    add("--dist-url", default="env://", type=str)
    add("--model-ema", action="store_true")
    add("--model-ema-steps", type=int, default=32)
    add("--model-ema-decay", type=float, default=0.99998)
    add("--use-deterministic-algorithms", action="store_true")
    add("--interpolation", default="bilinear", type=str)
    add("--val-resize-size", default=256, type=int)
    add("--val-crop-size", default=224, type=int)
    add("--train-crop-size", default=224, type=int)
    add("--clip-grad-norm", default=None, type=float)
    add("--ra-sampler", action="store_true", help="repeated augmentation")
    add("--ra-reps", default=3, type=int)
    add("--weights", default=None, type=str)
    return parser


if __name__ == "__main__":
    main(get_args_parser().parse_args())
