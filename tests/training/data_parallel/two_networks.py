"""A generator and a discriminator, each wrapped by a function, and a mean that is not."""

import copy
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import distributed as dist
from torch import nn, optim
from torch.nn import parallel


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def accumulate(model1, model2, decay=0.9):
    par1, par2 = dict(model1.named_parameters()), dict(model2.named_parameters())
    for k in par1:
        par1[k].data.mul_(decay).add_(par2[k].data, alpha=1 - decay)


def wrap(m):
    return parallel.DistributedDataParallel(m, broadcast_buffers=False)


def init(m, seed):
    rng = np.random.default_rng(seed)
    for p in m.parameters():
        p.data.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32") * 0.5))
    return m


def main(out):
    dist.init_process_group(backend="gloo", init_method="env://")
    rank = dist.get_rank()
    net_g = init(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 4)), 1 + rank)
    net_d = init(nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)), 5 + rank)
    generator, discriminator = wrap(net_g), wrap(net_d)
    g_ema = copy.deepcopy(generator.module)
    g_ema.eval()
    accumulate(g_ema, generator.module, 0)
    g_optim = optim.Adam(generator.parameters(), lr=0.01, betas=(0.0, 0.99))
    d_optim = optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.0, 0.99))
    rng = np.random.default_rng(100 + rank)

    def draw(*shape):
        return torch.from_numpy(rng.standard_normal(shape).astype("float32"))

    losses = []
    for _ in range(4):
        real, z = draw(4, 4), draw(4, 3)
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        fake = generator(z)
        d_loss = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake)).mean()
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()
        requires_grad(generator, True)
        requires_grad(discriminator, False)
        noise = draw(4, 3)
        g_loss = F.softplus(-discriminator(generator(noise))).mean()
        generator.zero_grad()
        g_loss.backward()
        g_optim.step()
        accumulate(g_ema, generator.module)
        losses += [d_loss.item(), g_loss.item()]
    weights = [p.detach().numpy() for m in (net_g, net_d, g_ema) for p in m.parameters()]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
