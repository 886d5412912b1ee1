"""A reference trainer: the group in utils, the step in engine, the wrapper here, by a flag."""

import argparse

import numpy as np
import torch
import torch.utils.data
import utils
from engine import evaluate, train_one_epoch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.bn = nn.BatchNorm1d(8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x))))


def load_data(args):
    rng = np.random.default_rng(3)
    x = torch.from_numpy(rng.standard_normal((24, 6)).astype("float32"))
    y = torch.from_numpy(rng.integers(0, 3, 24))
    dataset = torch.utils.data.TensorDataset(x, y)
    dataset_test = torch.utils.data.TensorDataset(x[:9], y[:9])
    if args.distributed:
        train_sampler = torch.utils.data.distributed.DistributedSampler(dataset, shuffle=False)
        test_sampler = torch.utils.data.distributed.DistributedSampler(dataset_test, shuffle=False)
    else:
        train_sampler = torch.utils.data.SequentialSampler(dataset)
        test_sampler = torch.utils.data.SequentialSampler(dataset_test)
    return dataset, dataset_test, train_sampler, test_sampler


def main(args):
    utils.init_distributed_mode(args)
    device = torch.device(args.device)
    dataset, dataset_test, train_sampler, test_sampler = load_data(args)
    data_loader = torch.utils.data.DataLoader(
        dataset, batch_size=args.batch_size, sampler=train_sampler, num_workers=0, pin_memory=True
    )
    data_loader_test = torch.utils.data.DataLoader(
        dataset_test, batch_size=args.batch_size, sampler=test_sampler, num_workers=0
    )
    model = Net()
    rng = np.random.default_rng(utils.get_rank())
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    model.to(device)
    if args.distributed and args.sync_bn:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model_without_ddp = model
    if args.distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
        model_without_ddp = model.module
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(
        model_without_ddp.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4
    )
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    log = []
    for epoch in range(args.epochs):
        if args.distributed:
            train_sampler.set_epoch(epoch)
        loss = train_one_epoch(model, criterion, optimizer, data_loader, device, epoch)
        scheduler.step()
        val_loss, correct, seen = evaluate(model, criterion, data_loader_test, device)
        log.append([loss, val_loss, correct, seen])
        utils.save_on_master(
            {"model": model_without_ddp.state_dict(), "epoch": epoch}, f"{args.output_dir}/last.pth"
        )
    weights = [p.detach().cpu().numpy() for p in model_without_ddp.parameters()]
    weights += [model_without_ddp.bn.running_mean.numpy(), model_without_ddp.bn.running_var.numpy()]
    np.savez(f"{args.output_dir}/rank{utils.get_rank()}.npz", *weights, losses=np.array(log))


def get_args_parser():
    parser = argparse.ArgumentParser(description="Classification Training")
    parser.add_argument("output_dir")
    parser.add_argument("--device", default="cpu", type=str, help="device (Use cuda or cpu)")
    parser.add_argument("-b", "--batch-size", default=4, type=int)
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--sync-bn", action="store_true")
    parser.add_argument("--world-size", default=1, type=int)
    parser.add_argument("--dist-url", default="env://", type=str)
    return parser


if __name__ == "__main__":
    main(get_args_parser().parse_args())
