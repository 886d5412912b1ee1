"""A Trainer that wraps the model it was given, saves from one rank and goes on from a snapshot."""

import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


def ddp_setup():
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")


class Numbers(Dataset):
    def __init__(self, size):
        rng = np.random.default_rng(1)
        self.data = [
            (torch.from_numpy(rng.standard_normal(20).astype("float32")), torch.tensor([float(i)]))
            for i in range(size)
        ]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index]


class Trainer:
    def __init__(self, model, train_data, optimizer, save_every, snapshot_path):
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.global_rank = int(os.environ["RANK"])
        self.model = model
        self.train_data = train_data
        self.optimizer = optimizer
        self.save_every = save_every
        self.epochs_run = 0
        self.snapshot_path = snapshot_path
        self.losses = []
        if os.path.exists(snapshot_path):
            self._load_snapshot(snapshot_path)
        self.model = DDP(self.model)

    def _load_snapshot(self, snapshot_path):
        snapshot = torch.load(snapshot_path, map_location="cpu")
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.optimizer.load_state_dict(snapshot["OPTIMIZER"])
        self.epochs_run = snapshot["EPOCHS_RUN"]

    def _run_batch(self, source, targets):
        self.optimizer.zero_grad()
        output = self.model(source)
        loss = F.mse_loss(output, targets)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())

    def _run_epoch(self, epoch):
        self.train_data.sampler.set_epoch(epoch)
        for source, targets in self.train_data:
            self._run_batch(source, targets)

    def _save_snapshot(self, epoch):
        snapshot = {
            "MODEL_STATE": self.model.module.state_dict(),
            "OPTIMIZER": self.optimizer.state_dict(),
            "EPOCHS_RUN": epoch + 1,
        }
        torch.save(snapshot, self.snapshot_path)

    def train(self, max_epochs):
        for epoch in range(self.epochs_run, max_epochs):
            self._run_epoch(epoch)
            if self.global_rank == 0 and epoch % self.save_every == 0:
                self._save_snapshot(epoch)
            torch.distributed.barrier()


def run(epochs, out):
    dataset = Numbers(16)
    model = torch.nn.Linear(20, 1)
    with torch.no_grad():
        model.weight.fill_(0.1 * (1 + int(os.environ["RANK"])))
        model.bias.zero_()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    data = DataLoader(
        dataset, batch_size=4, shuffle=False, sampler=DistributedSampler(dataset, shuffle=False)
    )
    trainer = Trainer(model, data, optimizer, 1, f"{out}/snapshot.pt")
    trainer.train(epochs)
    return trainer


def main(out):
    ddp_setup()
    first = run(1, out)
    trainer = run(3, out)
    weights = [p.detach().numpy() for p in trainer.model.parameters()]
    losses = first.losses + trainer.losses
    np.savez(f"{out}/rank{trainer.global_rank}.npz", *weights, losses=losses)
    torch.distributed.barrier()
    destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
