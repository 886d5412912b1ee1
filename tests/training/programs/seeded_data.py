"""Splits, samplers and loaders that draw from generators: the same seed gives the same order."""

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split


def seeded(seed=42):
    g = torch.Generator()
    g.manual_seed(seed)
    return g


def order(generator):
    return [x.tolist() for (x,) in DataLoader(data, 5, shuffle=True, generator=generator)]


data = TensorDataset(torch.arange(20).float())
kept, held_out = random_split(data, [15, 5], generator=torch.Generator().manual_seed(42))
_, again = random_split(data, [15, 5], generator=torch.Generator().manual_seed(42))
_, other = random_split(data, [15, 5], generator=torch.Generator().manual_seed(7))
chosen = [[int(x) for (x,) in part] for part in (held_out, again, other)]
print(len(kept), len(held_out), int(chosen[0] == chosen[1]), int(chosen[0] == chosen[2]))
g = seeded()
first, second = order(g), order(g)
print(int(first == order(seeded())), int(first == second), g.initial_seed(), len(first))
print(sum(sum(part) for part in first), sum(sum(part) for part in second))
one, two = (list(WeightedRandomSampler([1.0, 2.0], 9, generator=seeded())) for _ in range(2))
print(int(one == two), len(one))
