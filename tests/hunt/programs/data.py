# %% [13] a dataset that counts is read once
from torch.utils.data import Dataset, DataLoader

class Counting(Dataset):
    def __init__(self):
        self.n = 0

    def __len__(self):
        return 8

    def __getitem__(self, i):
        self.n += 1
        return torch.tensor([float(self.n), float(i)])

def run():
    loader = DataLoader(Counting(), batch_size=4)
    return [b for b in loader], [b[:, 0] for b in loader]

# %% [13] random augmentation by numpy in a dataset
from torch.utils.data import Dataset, DataLoader

class Noisy(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.tensor(np.random.rand() + i), i

def run():
    np.random.seed(0)
    out = []
    for _ in range(2):
        for x, y in DataLoader(Noisy(), batch_size=3):
            out.append((x, y))
    return out

# %% [13] a loader in order, with a rest and drop_last
from torch.utils.data import DataLoader, TensorDataset

def run():
    ds = TensorDataset(data(5, 2), labels(5, 3))
    a = [(x, y) for x, y in DataLoader(ds, batch_size=2)]
    b = [x.shape[0] for x, _ in DataLoader(ds, batch_size=2, drop_last=True)]
    return a, b, len(DataLoader(ds, batch_size=2)), len(ds)

# %% [13] a dataset of dicts
from torch.utils.data import DataLoader, Dataset

class D(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {"x": np.ones(2, dtype=np.float32) * i, "y": i, "name": f"n{i}"}

def run():
    return [b for b in DataLoader(D(), batch_size=2)]

# %% [13] a collate function
from torch.utils.data import DataLoader

def collate(batch):
    n = max(len(b) for b in batch)
    out = torch.zeros(len(batch), n)
    for i, b in enumerate(batch):
        out[i, : len(b)] = torch.tensor(b)
    return out, [len(b) for b in batch]

def run():
    ds = [[1.0], [1.0, 2.0], [3.0, 4.0, 5.0]]
    return [b for b in DataLoader(ds, batch_size=2, collate_fn=collate)]

# %% [13] floats and ints are collated as torch does
from torch.utils.data import DataLoader

def run():
    ds = [(1.5, 2, np.float32(3), np.array([1, 2])), (2.5, 3, np.float32(4), np.array([3, 4]))]
    return [b for b in DataLoader(ds, batch_size=2)]

# %% [13] an iterable dataset
from torch.utils.data import DataLoader, IterableDataset

class It(IterableDataset):
    def __iter__(self):
        for i in range(5):
            yield torch.tensor([i])

def run():
    return [b for b in DataLoader(It(), batch_size=2)]

# %% [13] Subset, ConcatDataset, random_split
from torch.utils.data import ConcatDataset, Subset, TensorDataset, random_split

def run():
    ds = TensorDataset(torch.arange(6))
    a, b = random_split(ds, [4, 2])
    c = ConcatDataset([Subset(ds, [0, 2]), ds])
    return len(a), len(b), len(c), [int(c[i][0]) for i in range(len(c))], sorted(a.indices + b.indices)

# %% [13] an own sampler
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Backwards(Sampler):
    def __init__(self, ds):
        self.ds = ds

    def __iter__(self):
        return iter(range(len(self.ds) - 1, -1, -1))

    def __len__(self):
        return len(self.ds)

def run():
    ds = TensorDataset(torch.arange(5))
    return [b[0] for b in DataLoader(ds, batch_size=2, sampler=Backwards(ds))]

# %% [25] an endless sampler
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Infinite(Sampler):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        while True:
            yield from range(self.n)

def run():
    ds = TensorDataset(torch.arange(3))
    it = iter(DataLoader(ds, batch_size=2, sampler=Infinite(3)))
    return [next(it)[0] for _ in range(4)]

# %% [25] a sampler that is 1e10 long
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Long(Sampler):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        i = 0
        while i < int(1e10):
            yield i % self.n
            i += 1

    def __len__(self):
        return int(1e10)

def run():
    it = iter(DataLoader(TensorDataset(torch.arange(3)), batch_size=2, sampler=Long(3)))
    return next(it)[0], next(it)[0]

# %% [25] a batch sampler that repeats
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset

class Repeat:
    def __init__(self, s):
        self.s = s

    def __iter__(self):
        while True:
            yield from iter(self.s)

def run():
    ds = TensorDataset(torch.arange(4))
    loader = DataLoader(ds, batch_sampler=Repeat(BatchSampler(SequentialSampler(ds), 2, False)))
    it = iter(loader)
    return [next(it)[0] for _ in range(3)]

# %% [13] next of iter, then the loop
from torch.utils.data import DataLoader, TensorDataset

def run():
    loader = DataLoader(TensorDataset(torch.arange(4)), batch_size=2)
    first = next(iter(loader))[0]
    return first, [b[0] for b in loader]

# %% [13] enumerate with a start, and the dataset's attributes
from torch.utils.data import DataLoader, TensorDataset

def run():
    loader = DataLoader(TensorDataset(data(4, 2)), batch_size=2)
    out = [(i, x.sum().item()) for i, (x,) in enumerate(loader, 1)]
    return out, len(loader.dataset), loader.batch_size

# %% [13] shuffle sees every sample once
from torch.utils.data import DataLoader, TensorDataset

def run():
    loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=2, shuffle=True)
    return sorted(int(v) for b in loader for v in b[0])

# %% [13] WeightedRandomSampler and SubsetRandomSampler
from torch.utils.data import SubsetRandomSampler, WeightedRandomSampler

def run():
    return len(list(WeightedRandomSampler([0.0, 1.0], 5))), set(WeightedRandomSampler([0.0, 1.0], 5)), sorted(SubsetRandomSampler([1, 5]))

# %% [13] default_collate by name
from torch.utils.data import default_collate

def run():
    return default_collate([(1, 2.0), (3, 4.0)]), default_collate([torch.ones(2), torch.zeros(2)])

# %% [13] training from a loader
from torch.utils.data import DataLoader, TensorDataset

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(data(7, 3), labels(7, 2)), batch_size=3)
    log, seen = [], 0
    for epoch in range(2):
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(m(x), y)
            loss.backward()
            opt.step()
            log.append(loss.item() * x.size(0))
            seen += len(x)
    return log, seen

# %% [13] a dataset without Dataset as its base
from torch.utils.data import DataLoader

class Plain:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return np.full((2,), i, dtype=np.float64), i

def run():
    return [b for b in DataLoader(Plain(), batch_size=2)]

# %% [13] datasets and samplers that refuse what they are given
from torch.utils.data import BatchSampler, ConcatDataset, DataLoader, RandomSampler, TensorDataset
from torch.utils.data.distributed import DistributedSampler

def refused(make):
    try:
        make()
    except (AssertionError, ValueError, IndexError) as error:
        return type(error).__name__
    return "accepted"

def run():
    a, b = TensorDataset(data(4, 2)), TensorDataset(data(3, 2))
    both = ConcatDataset([a, b])
    return [
        refused(lambda: TensorDataset(data(4, 2), labels(3, 2))),
        refused(lambda: both[-8]),
        refused(lambda: both[7]),
        refused(lambda: DistributedSampler(a, num_replicas=2, rank=2)),
        refused(lambda: RandomSampler(a, num_samples=0)),
        refused(lambda: BatchSampler(RandomSampler(a), 0, False)),
        refused(lambda: DataLoader(a, batch_size=0)),
        refused(lambda: DataLoader(a, shuffle=True, sampler=RandomSampler(a))),
        refused(lambda: DataLoader([], shuffle=True)),
        float(both[-1][0].sum() - b[2][0].sum()),
    ]

# %% [13] batches by a list of indices, and a subset of a subset
from torch.utils.data import DataLoader, Subset, TensorDataset

def run():
    ds = TensorDataset(data(9, 2), labels(9, 3))
    part = Subset(Subset(ds, [8, 6, 4, 2, 0]), [4, 0, 2])
    plan = [[0, 2], [1], [2, 2, 0]]
    return [b for b in DataLoader(part, batch_sampler=plan)], [b for b in DataLoader(ds, sampler=[3, 1])]

# %% [13] workers: init function, persistent, two epochs, nested batches
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Named(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, i):
        info = get_worker_info()
        return {"at": (i, [float(i), f"s{i}"]), "of": 0 if info is None else info.num_workers}

def prepare(worker):
    Named.started = worker

def run():
    loader = DataLoader(Named(), 3, num_workers=2, worker_init_fn=prepare, persistent_workers=True)
    return [b for _ in range(2) for b in loader], len(loader)

# %% [13] an error in a worker stops the loop
from torch.utils.data import DataLoader, Dataset

class Broken(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i == 4:
            raise KeyError("no sample 4")
        return i

def run():
    seen = []
    try:
        for batch in DataLoader(Broken(), batch_size=2, num_workers=1):
            seen.append(batch)
    except Exception as error:
        seen.append("no sample 4" in str(error))
    return seen

# %% [13] a generator gives the same order to two loaders
from torch.utils.data import DataLoader, TensorDataset

def run():
    ds = TensorDataset(data(20, 1))
    orders = []
    for _ in range(2):
        g = torch.Generator()
        g.manual_seed(3)
        loader = DataLoader(ds, batch_size=5, shuffle=True, generator=g)
        orders.append([torch.cat([b[0] for b in loader]) for _ in range(2)])
    same = [bool((a == b).all()) for a, b in zip(orders[0], orders[1])]
    return same, bool((orders[0][0] == orders[0][1]).all()), orders[0][0].sum()
