"""Two optimizers, weights clipped by hand, parameters frozen and thawed; nobody calls train()."""

# ruff: noqa - in the style of their authors

import torch
from shared import fill, toy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

netG = fill(nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 12)), 1)
netD = fill(nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)), 2)
optD = torch.optim.RMSprop(netD.parameters(), lr=0.005)
optG = torch.optim.Adam(netG.parameters(), lr=0.005, betas=(0.5, 0.999))
noise, _ = toy(32, (6,), seed=3)
loader = DataLoader(TensorDataset(toy()[0], noise), batch_size=8)
for epoch in range(2):
    for i, (real, z) in enumerate(loader):
        for p in netD.parameters():
            p.requires_grad = True
        netD.zero_grad()
        score = netD(real)
        real_loss = -score.mean()
        real_loss.backward()
        seen = score.mean().item()
        fake = netG(z).detach()
        score = netD(fake)
        fake_loss = score.mean()
        fake_loss.backward()
        guessed = score.mean().item()
        optD.step()
        for p in netD.parameters():
            p.data.clamp_(-0.1, 0.1)
        if i % 2 == 0:
            for p in netD.parameters():
                p.requires_grad = False
            optG.zero_grad()
            lossG = -netD(netG(z)).mean()
            lossG.backward()
            optG.step()
        losses = (real_loss.item(), fake_loss.item(), seen, guessed, lossG.item())
        print("%.6f %.6f %.6f %.6f %.6f" % losses)
