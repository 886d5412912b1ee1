"""The ImageNet example's way: mp.spawn, ranks computed from the number of devices."""

import argparse
import os
import sys

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.parallel
import torch.optim
import torch.utils.data
import torch.utils.data.distributed
from torch.utils.data import Subset

parser = argparse.ArgumentParser(description="PyTorch ImageNet Training")
parser.add_argument("data", metavar="DIR")
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("-b", "--batch-size", default=8, type=int, help="total batch of all GPUs")
parser.add_argument("--world-size", default=1, type=int, help="number of nodes")
parser.add_argument("--rank", default=0, type=int, help="node rank")
parser.add_argument("--dist-url", default="env://", type=str)
parser.add_argument("--dist-backend", default="gloo", type=str)
parser.add_argument("--gpu", default=None, type=int, help="GPU id to use.")
parser.add_argument("--resume", default="", type=str)
parser.add_argument("--multiprocessing-distributed", action="store_true", default=True)


def device_count():
    """On a machine without GPUs the launcher says how many processes there are."""
    if torch.cuda.is_available():
        return torch.cuda.device_count()
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def main(argv):
    args = parser.parse_args(argv)
    if args.dist_url == "env://" and args.world_size == -1:
        args.world_size = int(os.environ["WORLD_SIZE"])
    args.distributed = args.world_size > 1 or args.multiprocessing_distributed
    ngpus_per_node = device_count()
    if args.multiprocessing_distributed:
        args.world_size = ngpus_per_node * args.world_size
        if os.environ.get("USE_SPAWN", "1") == "1" and "LOCAL_RANK" not in os.environ:
            mp.spawn(main_worker, nprocs=ngpus_per_node, args=(ngpus_per_node, args))
        else:
            main_worker(int(os.environ["LOCAL_RANK"]), ngpus_per_node, args)
    else:
        main_worker(args.gpu, ngpus_per_node, args)


def main_worker(gpu, ngpus_per_node, args):
    args.gpu = gpu
    if args.gpu is not None:
        print(f"Use GPU: {args.gpu} for training")
    if args.distributed:
        if args.dist_url == "env://" and args.rank == -1:
            args.rank = int(os.environ["RANK"])
        if args.multiprocessing_distributed:
            args.rank = args.rank * ngpus_per_node + gpu
        dist.init_process_group(
            backend=args.dist_backend,
            init_method=args.dist_url,
            world_size=args.world_size,
            rank=args.rank,
        )
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    rng = np.random.default_rng(args.rank)
    for p in model.parameters():
        p.data.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    if not torch.cuda.is_available():
        print("using CPU, this will be slow")
        model = torch.nn.parallel.DistributedDataParallel(model)
        args.batch_size = int(args.batch_size / ngpus_per_node)
    elif args.distributed:
        if args.gpu is not None:
            torch.cuda.set_device(args.gpu)
            model.cuda(args.gpu)
            args.batch_size = int(args.batch_size / ngpus_per_node)
            model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu])
        else:
            model.cuda()
            model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        model = torch.nn.DataParallel(model).cuda()
    if torch.cuda.is_available():
        device = torch.device(f"cuda:{args.gpu}" if args.gpu else "cuda")
    else:
        device = torch.device("cpu")
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    cudnn.benchmark = True
    start_epoch = 0
    if args.resume and os.path.isfile(args.resume):
        if args.gpu is None:
            checkpoint = torch.load(args.resume)
        else:
            loc = f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu"
            checkpoint = torch.load(args.resume, map_location=loc)
        start_epoch = checkpoint["epoch"]
        model.load_state_dict(checkpoint["state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    rng = np.random.default_rng(5)
    x = torch.from_numpy(rng.standard_normal((32, 6)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 3, 32))
    dataset = torch.utils.data.TensorDataset(x, y)
    val_dataset = Subset(dataset, list(range(9)))
    train_sampler = torch.utils.data.distributed.DistributedSampler(dataset, shuffle=False)
    val_sampler = torch.utils.data.distributed.DistributedSampler(
        val_dataset, shuffle=False, drop_last=True
    )
    train_loader = torch.utils.data.DataLoader(
        dataset, batch_size=args.batch_size, shuffle=(train_sampler is None), sampler=train_sampler
    )
    val_loader = torch.utils.data.DataLoader(
        val_dataset, batch_size=args.batch_size, sampler=val_sampler
    )
    log = []
    for epoch in range(start_epoch, args.epochs):
        train_sampler.set_epoch(epoch)
        loss = train(train_loader, model, criterion, optimizer, device)
        correct, count = validate(val_loader, model, device, args)
        log.append([loss, correct, count])
        if not args.multiprocessing_distributed or (
            args.multiprocessing_distributed and args.rank % ngpus_per_node == 0
        ):
            torch.save(
                {
                    "epoch": epoch + 1,
                    "state_dict": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                },
                f"{args.data}/checkpoint.pth.tar",
            )
    weights = [p.detach().cpu().numpy() for p in model.parameters()]
    np.savez(f"{args.data}/rank{args.rank}.npz", *weights, losses=np.array(log))
    dist.barrier()
    dist.destroy_process_group()


def train(train_loader, model, criterion, optimizer, device):
    model.train()
    total = 0.0
    for images, target in train_loader:
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def validate(val_loader, model, device, args):
    def run_validate(loader, counts):
        with torch.no_grad():
            for images, target in loader:
                output = model(images.to(device))
                counts[0] += (output.argmax(1) == target.to(device)).sum().item()
                counts[1] += images.size(0)

    counts = [0, 0]
    model.eval()
    run_validate(val_loader, counts)
    totals = torch.tensor(counts, dtype=torch.float32, device=device)
    dist.all_reduce(totals, dist.ReduceOp.SUM, async_op=False)
    correct, count = totals.tolist()
    if len(val_loader.sampler) * args.world_size < len(val_loader.dataset):
        rest = Subset(
            val_loader.dataset,
            range(len(val_loader.sampler) * args.world_size, len(val_loader.dataset)),
        )
        aux_loader = torch.utils.data.DataLoader(rest, batch_size=args.batch_size, shuffle=False)
        counts = [0, 0]
        run_validate(aux_loader, counts)
        correct, count = correct + counts[0], count + counts[1]
    return correct, count


if __name__ == "__main__":
    main(sys.argv[1:])
