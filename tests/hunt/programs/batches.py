# %% [13] random_split with a generator
from torch.utils.data import random_split, TensorDataset, Subset, DataLoader

def run():
    ds = TensorDataset(torch.arange(10.0))
    a, b = random_split(ds, [7, 3], generator=torch.Generator().manual_seed(0))
    c, d = random_split(range(10), [0.8, 0.2])
    return len(a), len(b), sorted(a.indices + b.indices), len(c), sum(x[0].item() for x in a) + sum(x[0].item() for x in b), isinstance(a, Subset)

# %% [13] Subset and ConcatDataset
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

def run():
    ds = TensorDataset(torch.arange(6.0), torch.arange(6))
    s = Subset(ds, [4, 1, 0])
    c = ConcatDataset([s, ds])
    plus = s + ds
    return [b for b in DataLoader(s, batch_size=2)], len(c), c[0], c[3], c[-1], len(plus), c.cumulative_sizes, s.indices

# %% [13] an iterable dataset
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for k in range(self.n):
            yield torch.tensor([k, k * k]), k

def run():
    return [b for b in DataLoader(Stream(5), batch_size=2)], [b for b in DataLoader(Stream(3), batch_size=None)]

# %% [13] an endless iterable dataset
from itertools import islice
from torch.utils.data import DataLoader, IterableDataset

class Forever(IterableDataset):
    def __iter__(self):
        k = 0
        while True:
            yield np.float32(k)
            k += 1

def run():
    it = iter(DataLoader(Forever(), batch_size=3))
    return next(it), next(it), list(islice(it, 2))

# %% [13] an endless sampler
from torch.utils.data import DataLoader, Sampler, TensorDataset

class Infinite(Sampler):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        i = 0
        while True:
            yield i % self.n
            i += 1

    def __len__(self):
        return 2 ** 31

def run():
    loader = iter(DataLoader(TensorDataset(torch.arange(5.0)), batch_size=4, sampler=Infinite(5)))
    return [next(loader)[0] for _ in range(3)]

# %% [13] a sampler over epochs
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler, BatchSampler

def run():
    xs = list(range(8))
    a = [b for b in DataLoader(xs, batch_size=4, sampler=SequentialSampler(xs))]
    b = sorted(torch.cat([b for b in DataLoader(xs, batch_size=3, sampler=SubsetRandomSampler([1, 3, 5]))]).tolist())
    c = list(BatchSampler(SequentialSampler(xs), 3, False))
    d = list(WeightedRandomSampler([0.0, 1.0], 4))
    e = [b for b in DataLoader(xs, batch_sampler=BatchSampler(SequentialSampler(xs), 3, True))]
    return a, b, c, d, e, len(list(RandomSampler(xs))), len(RandomSampler(xs, replacement=True, num_samples=3))

# %% [13] a batch sampler of one's own
from torch.utils.data import DataLoader, Sampler, TensorDataset

class ByLength(Sampler):
    def __init__(self, lengths, size):
        self.order = sorted(range(len(lengths)), key=lambda i: lengths[i])
        self.size = size

    def __iter__(self):
        for k in range(0, len(self.order), self.size):
            yield self.order[k : k + self.size]

    def __len__(self):
        return (len(self.order) + self.size - 1) // self.size

def run():
    ds = TensorDataset(torch.arange(5.0))
    loader = DataLoader(ds, batch_sampler=ByLength([3, 1, 2, 9, 0], 2))
    return [b[0] for b in loader], len(loader)

# %% [13] a collate that pads and sorts
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

class Texts(Dataset):
    rows = [[1, 2, 3], [4], [5, 6]]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i]), i

def collate(batch):
    batch.sort(key=lambda p: len(p[0]), reverse=True)
    seqs, ys = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(ys)

def run():
    return [b for b in DataLoader(Texts(), batch_size=3, collate_fn=collate)], [b for b in DataLoader(Texts(), 2, collate_fn=lambda b: tuple(zip(*b)))]

# %% [13] default_collate called by hand
from torch.utils.data import default_collate
from torch.utils.data.dataloader import default_collate as dc

def run():
    return default_collate([{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}]), dc([(np.ones(2), "x"), (np.zeros(2), "y")]), default_collate([torch.ones(2), torch.zeros(2)])

# %% [13] batches of numbers, strings and nested tuples
from torch.utils.data import DataLoader

def run():
    rows = [(k, float(k), str(k), (k, [k * 1.0])) for k in range(3)]
    return [b for b in DataLoader(rows, batch_size=2)]

# %% [13] dtypes of a default batch
from torch.utils.data import DataLoader, Dataset

class D(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return np.float64(i), np.int32(i), np.array([i], dtype=np.uint8), i > 0, np.ones(2), torch.tensor(i), float(i)

def run():
    return next(iter(DataLoader(D(), batch_size=2)))

# %% [13] enumerate, len, next and re-iteration
from torch.utils.data import DataLoader, TensorDataset

def run():
    loader = DataLoader(TensorDataset(torch.arange(6.0).view(6, 1), torch.arange(6)), batch_size=4)
    it = iter(loader)
    first = next(it)
    out = []
    while True:
        try:
            x, y = next(it)
        except StopIteration:
            it = iter(loader)
            x, y = next(it)
            out.append(y)
            break
        out.append(y)
    for i, (x, y) in enumerate(loader, 1):
        out.append((i, x.shape))
    return first, out, len(loader), len(loader.dataset), loader.batch_size

# %% [13] cycling through a loader
from itertools import cycle
from torch.utils.data import DataLoader

def run():
    out = []
    for (a, b), _ in zip(zip(cycle(DataLoader(range(3), 2)), DataLoader(range(10, 16), 1)), range(5)):
        out.append((a, b))
    return out

# %% [13] shuffled batches hold every item once
from torch.utils.data import DataLoader, TensorDataset

def run():
    torch.manual_seed(0)
    ds = TensorDataset(torch.arange(9), torch.arange(9) * 2)
    xs, ys = zip(*[(x, y) for x, y in DataLoader(ds, batch_size=4, shuffle=True)])
    x, y = torch.cat(xs), torch.cat(ys)
    return x.sort().values, bool((y == 2 * x).all()), [len(v) for v in xs]

# %% [13] workers and seeds as arguments
from torch.utils.data import DataLoader
import random

def seed_worker(worker_id):
    seed = torch.initial_seed() % 2 ** 32
    np.random.seed(seed)
    random.seed(seed)

def run():
    g = torch.Generator()
    g.manual_seed(0)
    loader = DataLoader(list(range(6)), batch_size=2, num_workers=0, worker_init_fn=seed_worker, generator=g, pin_memory=False, shuffle=True, persistent_workers=False)
    return sorted(torch.cat(list(loader)).tolist())

# %% [13] a dataset with a transform and a target transform
from torch.utils.data import DataLoader, Dataset

class Pairs(Dataset):
    def __init__(self, transform=None, target_transform=None):
        self.x = np.arange(12, dtype=np.float32).reshape(4, 3)
        self.y = [0, 1, 0, 1]
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        x, y = self.x[idx], self.y[idx]
        if self.transform:
            x = self.transform(x)
        if self.target_transform:
            y = self.target_transform(y)
        return x, y

def run():
    ds = Pairs(torch.from_numpy, lambda y: torch.zeros(2).scatter_(0, torch.tensor(y), value=1))
    return [b for b in DataLoader(ds, batch_size=3)], ds[torch.tensor(1)]

# %% [13] a loader of a list of tensors and of a tensor
from torch.utils.data import DataLoader

def run():
    return [b for b in DataLoader([torch.ones(2), torch.zeros(2)], batch_size=2)], [b for b in DataLoader(torch.arange(6).view(3, 2), batch_size=2)], [b for b in DataLoader(np.arange(4), batch_size=3)]

# %% [13] a prefetcher class
from torch.utils.data import DataLoader

class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader)
        self.preload()

    def preload(self):
        try:
            self.batch = next(self.loader)
        except StopIteration:
            self.batch = None

    def next(self):
        b = self.batch
        self.preload()
        return b

def run():
    p = Prefetcher(DataLoader(range(5), batch_size=2))
    out = []
    b = p.next()
    while b is not None:
        out.append(b * 2)
        b = p.next()
    return out

# %% [13] folds by index
from torch.utils.data import DataLoader, Subset, TensorDataset

def run():
    ds = TensorDataset(torch.arange(6.0).view(6, 1), torch.tensor([0, 1, 0, 1, 1, 0]))
    idx = np.arange(6)
    out = []
    for fold in range(3):
        val = idx[fold::3]
        train = np.setdiff1d(idx, val)
        out.append((next(iter(DataLoader(Subset(ds, train), 4)))[0], len(Subset(ds, val.tolist()))))
    return out, ds.tensors[1], ds[2:4]


# %% [13] text in tuples, dicts and pairs
from torch.utils.data import DataLoader, Dataset


class Named(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {"x": torch.full((2,), float(i)), "name": f"img{i}", "pair": (i, "a"), "f": 0.5 * i}


def run():
    found = []
    for batch in DataLoader(Named(), batch_size=2):
        found.append((batch["x"], batch["name"], batch["pair"], batch["f"]))
    tuples = [(np.float32(i), str(i)) for i in range(3)]
    return found, list(DataLoader(tuples, batch_size=2)), list(DataLoader(["a", "b"], batch_size=2))


# %% [13] named tuples stay named
from collections import namedtuple

from torch.utils.data import DataLoader

Sample = namedtuple("Sample", "x y")


def run():
    samples = [Sample(torch.tensor([float(i)]), i) for i in range(4)]
    return [(b.x, b.y, type(b).__name__) for b in DataLoader(samples, batch_size=2)]
