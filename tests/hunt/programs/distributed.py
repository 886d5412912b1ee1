# %% [0] DataParallel is the model itself on one device
def run():
    m = nn.DataParallel(fill(nn.Linear(3, 2)))
    return m(data(2, 3)), [n for n, _ in m.module.named_parameters()]

# %% [0] world size without a group
import torch.distributed as dist

def world():
    if not dist.is_available() or not dist.is_initialized():
        return 1, 0
    return dist.get_world_size(), dist.get_rank()

def run():
    return world()

# %% [0] reduce only when distributed
import torch.distributed as dist

def reduce_mean(x):
    if dist.is_available() and dist.is_initialized():
        x = x.clone()
        dist.all_reduce(x)
        x /= dist.get_world_size()
    return x

def run():
    return reduce_mean(data(3))

# %% [0] the main process prints
import os
import torch.distributed as dist

def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0

def run():
    if is_main():
        print("main", int(os.environ.get("WORLD_SIZE_X", 1)))
    return is_main()

# %% [0] devices by availability
def run():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    m = fill(nn.Linear(3, 2)).to(device)
    return m(data(2, 3).to(device)), torch.cuda.device_count()

# %% [0] seeds and flags of cudnn
import random

def run():
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    return np.random.rand(), random.random()

# %% [0] DistributedSampler with replicas by hand
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def run():
    ds = TensorDataset(torch.arange(5))
    s = DistributedSampler(ds, num_replicas=2, rank=1, shuffle=False)
    return [b[0] for b in DataLoader(ds, batch_size=2, sampler=s)], len(s)

# %% [0] unwrap of a model
def unwrap(m):
    return m.module if hasattr(m, "module") else m

def run():
    m = fill(nn.Linear(2, 1))
    return unwrap(m)(data(1, 2)), unwrap(nn.DataParallel(m))(data(1, 2))

# %% [0] autocast off the GPU
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler(enabled=False)
    for i in range(2):
        opt.zero_grad()
        with torch.cuda.amp.autocast(enabled=False):
            loss = m(data(4, 3, seed=i)).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    return m

# %% [0] random tensors have the right shapes and ranges
def run():
    a = torch.rand(100)
    return torch.randn(2, 3).shape, bool((a >= 0).all() and (a < 1).all()), torch.randint(0, 5, (3,)).dtype, sorted(torch.randperm(4).tolist()), torch.rand_like(a).shape, torch.bernoulli(torch.ones(3)), torch.multinomial(torch.tensor([0.0, 1.0]), 1)

# %% [25] a package whose file is run as a script
from pkg.util import scale

def run():
    return scale(data(3))
# --- pkg/__init__.py

# --- pkg/util.py
def scale(x):
    return F.relu(x).masked_fill(x > 1, 0.5).clamp(min=0.1)
