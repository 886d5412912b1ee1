"""Train CIFAR10: cosine schedule, the best checkpoint is kept, --resume goes on from it."""

import argparse
import json
import os

import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms

import models
from models import *
from utils import Cutout, count_parameters, init_params, show_progress

parser = argparse.ArgumentParser(description="PyTorch CIFAR10 Training")
parser.add_argument("--lr", default=0.1, type=float, help="learning rate")
parser.add_argument("--data", default="./data")
parser.add_argument("--out", default="./checkpoint")
parser.add_argument("--net", default="ResNetTiny")
parser.add_argument("--epochs", default=4, type=int)
parser.add_argument("--batch-size", default=16, type=int)
parser.add_argument("--no-augment", action="store_true")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--resume", "-r", default="", help="resume from checkpoint")
parser.add_argument("--evaluate", action="store_true")
args = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
best_acc = 0
start_epoch = 0

distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
local_rank = int(os.environ.get("LOCAL_RANK", 0))
if distributed:
    if device == "cuda":
        torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl" if device == "cuda" else "gloo", init_method="env://")
main_process = not distributed or dist.get_rank() == 0

print("==> Preparing data..")
mean, std = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
transform_train = transforms.Compose(
    [
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean, std),
        Cutout(n_holes=1, length=8),
    ]
)
transform_test = transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, std)])
if args.no_augment:
    transform_train = transform_test

trainset = torchvision.datasets.CIFAR10(
    root=args.data, train=True, download=False, transform=transform_train
)
train_sampler = None
if distributed:
    train_sampler = torch.utils.data.distributed.DistributedSampler(
        trainset, shuffle=not args.no_augment
    )
trainloader = torch.utils.data.DataLoader(
    trainset,
    batch_size=args.batch_size,
    shuffle=train_sampler is None and not args.no_augment,
    sampler=train_sampler,
    num_workers=0,
)
testset = torchvision.datasets.CIFAR10(
    root=args.data, train=False, download=False, transform=transform_test
)
testloader = torch.utils.data.DataLoader(testset, batch_size=20, shuffle=False, num_workers=0)
classes = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

print("==> Building model..")
net = models.__dict__[args.net]()
init_params(net)
net = net.to(device)
print(f"{count_parameters(net)} parameters")
if device == "cuda" and not distributed:
    net = torch.nn.DataParallel(net)
    cudnn.benchmark = True
bare = net
if distributed:
    net = nn.parallel.DistributedDataParallel(net)
    bare = net.module

criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
scaler = torch.amp.GradScaler(device, enabled=args.amp, init_scale=512.0, growth_interval=3)

if args.resume:
    print("==> Resuming from checkpoint..")
    checkpoint = torch.load(args.resume, map_location=device)
    bare.load_state_dict(checkpoint["net"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    scaler.load_state_dict(checkpoint["scaler"])
    best_acc = checkpoint["acc"]
    start_epoch = checkpoint["epoch"] + 1


def log(**record):
    if main_process:
        os.makedirs(args.out, exist_ok=True)
        with open(f"{args.out}/log.jsonl", "a") as stream:
            stream.write(json.dumps(record) + "\n")


def train(epoch):
    print(f"\nEpoch: {epoch}")
    net.train()
    train_loss = 0
    correct = 0
    total = 0
    for batch_idx, (inputs, targets) in enumerate(trainloader):
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16, enabled=args.amp):
            outputs = net(inputs)
            loss = criterion(outputs, targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()
        show_progress(batch_idx, len(trainloader), train_loss / (batch_idx + 1), correct, total)
        log(epoch=epoch, loss=loss.item(), lr=scheduler.get_last_lr()[0])


def test(epoch):
    global best_acc
    net.eval()
    test_loss = 0
    correct = 0
    total = 0
    with torch.no_grad():
        for batch_idx, (inputs, targets) in enumerate(testloader):
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = net(inputs)
            test_loss += F.cross_entropy(outputs, targets, reduction="sum").item()
            _, predicted = torch.max(outputs.data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    acc = 100.0 * correct / total
    log(epoch=epoch, val_loss=test_loss / total, acc1=acc, count=total)
    if args.evaluate or not main_process:
        return
    state = {
        "net": bare.state_dict(),
        "acc": acc,
        "epoch": epoch,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "scaler": scaler.state_dict(),
    }
    torch.save(state, os.path.join(args.out, f"epoch{epoch}.pth"))
    if acc > best_acc:
        print("Saving..")
        torch.save(state, os.path.join(args.out, "ckpt.pth"))
        best_acc = acc


if args.evaluate:
    test(start_epoch - 1)
else:
    for epoch in range(start_epoch, args.epochs):
        if train_sampler is not None:
            train_sampler.set_epoch(epoch)
        train(epoch)
        scheduler.step()
        test(epoch)
if distributed:
    dist.barrier()
    dist.destroy_process_group()
