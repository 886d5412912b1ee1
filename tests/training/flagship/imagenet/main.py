"""Train a network of torchvision's on folders of images: one file, processes by mp.spawn.

main.py DIR --arch resnet18 --multiprocessing-distributed --world-size 1 --rank 0
"""

import argparse
import json
import os
import random
import shutil
import time
import warnings
from enum import Enum

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.parallel
import torch.optim
import torch.utils.data
import torch.utils.data.distributed
import torchvision.datasets as datasets
import torchvision.models as models
import torchvision.transforms as transforms
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import Subset

architectures = sorted(
    key
    for key in models.__dict__
    if key.islower() and not key.startswith("_") and callable(models.__dict__[key])
)

parser = argparse.ArgumentParser(description="classification on ImageNet")
parser.add_argument("data", metavar="DIR", nargs="?", default="imagenet")
parser.add_argument("-a", "--arch", default="resnet18", choices=architectures)
parser.add_argument("-j", "--workers", default=0, type=int)
parser.add_argument("--epochs", default=90, type=int)
parser.add_argument("--start-epoch", default=0, type=int)
parser.add_argument("-b", "--batch-size", default=256, type=int, help="of all GPUs of a node")
parser.add_argument("--lr", "--learning-rate", default=0.1, type=float, dest="lr")
parser.add_argument("--momentum", default=0.9, type=float)
parser.add_argument("--wd", "--weight-decay", default=1e-4, type=float, dest="weight_decay")
parser.add_argument("-p", "--print-freq", default=10, type=int)
parser.add_argument("--resume", default="", type=str, help="checkpoint to go on from")
parser.add_argument("-e", "--evaluate", action="store_true")
parser.add_argument("--pretrained", action="store_true")
parser.add_argument("--world-size", default=-1, type=int, help="number of nodes")
parser.add_argument("--rank", default=-1, type=int, help="number of this node")
parser.add_argument("--dist-url", default="tcp://127.0.0.1:23456", type=str)
parser.add_argument("--dist-backend", default="nccl", type=str)
parser.add_argument("--seed", default=None, type=int)
parser.add_argument("--gpu", default=None, type=int, help="the one GPU to use")
parser.add_argument("--nproc", default=1, type=int, help="processes of a node without GPUs")
parser.add_argument("--multiprocessing-distributed", action="store_true")
parser.add_argument("--dummy", action="store_true", help="random images instead of files")
parser.add_argument("--size", default=224, type=int)
parser.add_argument("--classes", default=1000, type=int)
parser.add_argument("--keep-order", action="store_true")
parser.add_argument("--amp", action="store_true", help="mixed precision on CUDA")
parser.add_argument("--out", default=".")

best_top1 = 0


def main():
    args = parser.parse_args()
    if args.seed is not None:
        random.seed(args.seed)
        torch.manual_seed(args.seed)
        cudnn.deterministic = True
        cudnn.benchmark = False
        warnings.warn("seeded: CUDNN is deterministic, and slower")
    if args.gpu is not None:
        warnings.warn("one GPU is chosen: no data parallelism")
    if args.dist_url == "env://" and args.world_size == -1:
        args.world_size = int(os.environ["WORLD_SIZE"])
    args.distributed = args.world_size > 1 or args.multiprocessing_distributed
    per_node = torch.cuda.device_count() if torch.cuda.is_available() else args.nproc
    if args.multiprocessing_distributed:
        args.world_size = per_node * args.world_size
        mp.spawn(work, nprocs=per_node, args=(per_node, args))
    else:
        work(args.gpu, per_node, args)


def work(gpu, per_node, args):
    global best_top1
    args.gpu = gpu
    if args.gpu is not None:
        print(f"process of GPU {args.gpu}")
    if args.distributed:
        if args.dist_url == "env://" and args.rank == -1:
            args.rank = int(os.environ["RANK"])
        if args.multiprocessing_distributed:
            args.rank = args.rank * per_node + gpu
        dist.init_process_group(
            backend=args.dist_backend,
            init_method=args.dist_url,
            world_size=args.world_size,
            rank=args.rank,
        )

    if args.pretrained:
        model = models.__dict__[args.arch](pretrained=True)
    else:
        model = models.__dict__[args.arch](num_classes=args.classes)
    model, device = placed(model, per_node, args)

    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(
        model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.weight_decay
    )
    scheduler = StepLR(optimizer, step_size=2, gamma=0.1)
    scaler = torch.amp.GradScaler(device.type, enabled=args.amp, init_scale=256.0)
    if args.resume:
        resume(args, model, optimizer, scheduler, scaler, device)

    train_loader, val_loader, train_sampler = build_loaders(args)
    if args.evaluate:
        validate(val_loader, model, criterion, device, args, args.start_epoch)
    else:
        for epoch in range(args.start_epoch, args.epochs):
            if args.distributed:
                train_sampler.set_epoch(epoch)
            train(train_loader, model, criterion, optimizer, scaler, epoch, device, args)
            top1 = validate(val_loader, model, criterion, device, args, epoch)
            scheduler.step()
            is_best = top1 > best_top1
            best_top1 = max(top1, best_top1)
            if not args.multiprocessing_distributed or args.rank % per_node == 0:
                state = {
                    "epoch": epoch + 1,
                    "arch": args.arch,
                    "state_dict": model.state_dict(),
                    "best_acc1": best_top1,
                    "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(),
                    "scaler": scaler.state_dict(),
                }
                save(state, is_best, args.out)
    if args.distributed:
        dist.destroy_process_group()


def placed(model, per_node, args):
    """The model where it is to run, wrapped for several processes or GPUs, and the device."""
    if not torch.cuda.is_available():
        print("using CPU, this will be slow")
        if args.distributed:
            args.batch_size = int(args.batch_size / per_node)
            model = torch.nn.parallel.DistributedDataParallel(model)
        return model, torch.device("cpu")
    if args.distributed and args.gpu is not None:
        torch.cuda.set_device(args.gpu)
        model.cuda(args.gpu)
        args.batch_size = int(args.batch_size / per_node)
        args.workers = (args.workers + per_node - 1) // per_node
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu])
    elif args.distributed:
        model.cuda()
        model = torch.nn.parallel.DistributedDataParallel(model)
    elif args.gpu is not None:
        torch.cuda.set_device(args.gpu)
        model = model.cuda(args.gpu)
    elif args.arch.startswith(("alexnet", "vgg")):
        model.features = torch.nn.DataParallel(model.features)
        model.cuda()
    else:
        model = torch.nn.DataParallel(model).cuda()
    return model, torch.device("cuda" if args.gpu is None else f"cuda:{args.gpu}")


def resume(args, model, optimizer, scheduler, scaler, device):
    global best_top1
    if not os.path.isfile(args.resume):
        print(f"=> no checkpoint found at '{args.resume}'")
        return
    if args.gpu is None or device.type != "cuda":
        checkpoint = torch.load(args.resume, map_location="cpu")
    else:
        checkpoint = torch.load(args.resume, map_location=f"cuda:{args.gpu}")
    args.start_epoch = checkpoint["epoch"]
    best_top1 = checkpoint["best_acc1"]
    if args.gpu is not None and torch.is_tensor(best_top1):
        best_top1 = best_top1.to(device)
    state = checkpoint["state_dict"]
    if not args.distributed:
        state = {name.replace("module.", ""): value for name, value in state.items()}
    model.load_state_dict(state)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    scaler.load_state_dict(checkpoint["scaler"])
    print("=> loaded checkpoint '{}' (epoch {})".format(args.resume, checkpoint["epoch"]))


def build_loaders(args):
    if args.dummy:
        shape = (3, args.size, args.size)
        train_set = datasets.FakeData(64, shape, args.classes, transforms.ToTensor())
        val_set = datasets.FakeData(32, shape, args.classes, transforms.ToTensor())
    else:
        normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
        crop = transforms.RandomResizedCrop(args.size, scale=(1.0, 1.0), ratio=(1.0, 1.0))
        flip = transforms.RandomHorizontalFlip()
        train_set = datasets.ImageFolder(
            os.path.join(args.data, "train"),
            transforms.Compose([crop, flip, transforms.ToTensor(), normalize]),
        )
        whole = transforms.Resize(args.size + 4)
        middle = transforms.CenterCrop(args.size)
        val_set = datasets.ImageFolder(
            os.path.join(args.data, "val"),
            transforms.Compose([whole, middle, transforms.ToTensor(), normalize]),
        )
    train_sampler = val_sampler = None
    if args.distributed:
        train_sampler = torch.utils.data.distributed.DistributedSampler(
            train_set, shuffle=not args.keep_order
        )
        val_sampler = torch.utils.data.distributed.DistributedSampler(
            val_set, shuffle=False, drop_last=True
        )
    options = {"batch_size": args.batch_size, "num_workers": args.workers, "pin_memory": True}
    train_loader = torch.utils.data.DataLoader(
        train_set,
        shuffle=(train_sampler is None and not args.keep_order),
        sampler=train_sampler,
        **options,
    )
    val_loader = torch.utils.data.DataLoader(
        val_set, shuffle=False, sampler=val_sampler, **options
    )
    return train_loader, val_loader, train_sampler


def log(args, **record):
    """One line of JSON a record, by the first process."""
    if not args.distributed or args.rank == 0:
        with open(os.path.join(args.out, "log.jsonl"), "a") as stream:
            stream.write(json.dumps(record) + "\n")


def train(loader, model, criterion, optimizer, scaler, epoch, device, args):
    seconds = Meter("Time", ":6.3f")
    losses = Meter("Loss", ":.4e")
    top1 = Meter("Acc@1", ":6.2f")
    top3 = Meter("Acc@3", ":6.2f")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)

        with torch.autocast(device_type=device.type, dtype=torch.float16, enabled=args.amp):
            output = model(images)
            loss = criterion(output, target)

        acc1, acc3 = accuracy(output, target, topk=(1, 3))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0], images.size(0))
        top3.update(acc3[0], images.size(0))

        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

        seconds.update(time.time() - end)
        end = time.time()
        if i % args.print_freq == 0:
            print(f"Epoch [{epoch}][{i + 1}/{len(loader)}]", seconds, losses, top1, top3, sep="\t")
        log(args, epoch=epoch, loss=loss.item(), lr=optimizer.param_groups[0]["lr"])


def validate(loader, model, criterion, device, args, epoch):
    losses = Meter("Loss", ":.4e", Summary.MEAN)
    top1 = Meter("Acc@1", ":6.2f", Summary.MEAN)
    top3 = Meter("Acc@3", ":6.2f", Summary.MEAN)

    def look_at(batches):
        with torch.no_grad():
            for images, target in batches:
                images = images.to(device, non_blocking=True)
                target = target.to(device, non_blocking=True)
                output = model(images)
                acc1, acc3 = accuracy(output, target, topk=(1, 3))
                losses.update(criterion(output, target).item(), images.size(0))
                top1.update(acc1[0], images.size(0))
                top3.update(acc3[0], images.size(0))

    model.eval()
    look_at(loader)
    if args.distributed:
        for meter in (losses, top1, top3):
            meter.all_reduce(device)
        seen = len(loader.sampler) * args.world_size
        if seen < len(loader.dataset):
            rest = Subset(loader.dataset, range(seen, len(loader.dataset)))
            look_at(torch.utils.data.DataLoader(rest, batch_size=args.batch_size, shuffle=False))
    print(" *", losses.summary(), top1.summary(), top3.summary())
    log(args, epoch=epoch, val_loss=losses.avg, acc1=float(top1.avg), count=int(top1.count))
    return top1.avg


def save(state, is_best, folder):
    path = os.path.join(folder, "checkpoint_{:04d}.pth.tar".format(state["epoch"]))
    torch.save(state, path)
    if is_best:
        shutil.copyfile(path, os.path.join(folder, "model_best.pth.tar"))


class Summary(Enum):
    NONE = 0
    MEAN = 1
    SUM = 2


class Meter:
    """The last value of a quantity, and its mean."""

    def __init__(self, name, fmt=":f", summary_type=Summary.NONE):
        self.name = name
        self.fmt = fmt
        self.summary_type = summary_type
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def all_reduce(self, device):
        total = torch.tensor([self.sum, self.count], dtype=torch.float32, device=device)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)

    def summary(self):
        forms = {Summary.NONE: "", Summary.MEAN: "{name} {avg:.3f}", Summary.SUM: "{sum:.3f}"}
        return forms[self.summary_type].format(**self.__dict__)


def accuracy(output, target, topk=(1,)):
    """The percentage of targets among the k highest scores, for each k."""
    with torch.no_grad():
        _, guesses = output.topk(max(topk), 1, True, True)
        hits = guesses.t().eq(target.view(1, -1).expand_as(guesses.t()))
        shares = []
        for k in topk:
            found = hits[:k].reshape(-1).float().sum(0, keepdim=True)
            shares.append(found.mul_(100.0 / target.size(0)))
        return shares


if __name__ == "__main__":
    main()
