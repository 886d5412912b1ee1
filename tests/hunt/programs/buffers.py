# %% [17] a buffer changed by item is no parameter
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("queue", torch.zeros(4, 2))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        y = self.fc(x)
        self.queue[0] = y[0].detach()
        return y

def run():
    m = fill(Net())
    before = [n for n, _ in m.named_parameters()]
    m(data(2, 3))
    m(data(2, 3, seed=5))
    return before, [n for n, _ in m.named_parameters()], m.queue, [n for n, _ in m.named_buffers()]

# %% [17] a buffer that is not persistent
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("mask", torch.ones(2), persistent=False)
        self.register_buffer("kept", torch.zeros(2))

    def forward(self, x):
        return self.fc(x) * self.mask + self.kept

def run():
    m = fill(Net())
    return list(m.state_dict().keys()), [n for n, _ in m.named_buffers()], m(data(1, 2))

# %% [17] BatchNorm with momentum None
def run():
    bn = nn.BatchNorm2d(3, momentum=None)
    bn.train()
    for i in range(3):
        bn(data(2, 3, 2, 2, seed=i))
    return [n for n, _ in bn.named_parameters()], bn.running_mean, bn.running_var

# %% [17] BatchNorm with momentum None inside a network
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 1)
        self.bn = nn.BatchNorm2d(3, momentum=None)

    def forward(self, x):
        return self.bn(self.conv(x))

def run():
    m = fill(Net())
    m.train()
    m(data(2, 2, 3, 3))
    m.eval()
    return [n for n, _ in m.named_parameters()], m(data(2, 2, 3, 3))

# %% [17] an exponential average in a buffer
class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ema", torch.zeros(3))

    def forward(self, x):
        if self.training:
            self.ema.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.ema

def run():
    m = Codebook()
    out = [m(data(4, 3, seed=i)) for i in range(3)]
    return out[-1], m.ema, len(list(m.parameters()))

# %% [17] a counter in a buffer
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x):
        self.steps += 1
        return x * self.steps

def run():
    m = Counter()
    m(torch.ones(2))
    return m(torch.ones(2)), m.steps, int(m.steps)

# %% [17] MoCo's queue with a pointer
class Moco(nn.Module):
    def __init__(self, dim=2, K=4):
        super().__init__()
        self.K = K
        self.register_buffer("queue", torch.zeros(dim, K))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        ptr = int(self.queue_ptr)
        self.queue[:, ptr:ptr + n] = keys.T
        self.queue_ptr[0] = (ptr + n) % self.K

    def forward(self, x):
        out = x @ self.queue.clone().detach()
        self.enqueue(x)
        return out

def run():
    m = Moco()
    outs = [m(data(2, 2, seed=i)) for i in range(3)]
    return outs, m.queue, m.queue_ptr, list(m.state_dict())

# %% [17] a buffer set to None and later to a tensor
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", None)

    def forward(self, x):
        if self.cache is None:
            self.cache = torch.arange(x.size(1), dtype=torch.float32)
        return x + self.cache

def run():
    m = Net()
    m(torch.ones(1, 3))
    return m(torch.ones(1, 3))

# %% [17] a buffer replaced by assignment
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        return x - self.mean

def run():
    m = Net()
    m.mean = torch.tensor([1.0, 2.0])
    return m(torch.ones(1, 2)), list(m.state_dict())

# %% [17] register_buffer in a loop with names
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            self.register_buffer(f"anchor{i}", torch.full((2,), float(i)))

    def forward(self, x):
        return x + self.anchor0 + getattr(self, "anchor1")

def run():
    m = Net()
    return m(torch.zeros(2)), [n for n, _ in m.named_buffers()]

# %% [17] positional encoding in a buffer
class PE(nn.Module):
    def __init__(self, d=4, n=6):
        super().__init__()
        pe = torch.zeros(n, d)
        pos = torch.arange(0, n).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * -(np.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]

def run():
    return PE()(torch.zeros(1, 3, 4)), PE().pe.shape

# %% [17] running statistics of a subclass of BatchNorm
class MyBN(nn.BatchNorm1d):
    def forward(self, x):
        y = super().forward(x)
        return y + self.running_mean

def run():
    m = MyBN(3)
    m.train()
    y = m(data(4, 3))
    return y, m.running_mean, m.running_var, [n for n, _ in m.named_parameters()]

# %% [17] track_running_stats=False
def run():
    m = nn.BatchNorm1d(3, track_running_stats=False)
    m.eval()
    return m(data(4, 3)), m.running_mean is None

# %% [17] momentum of the buffers is not trained
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("center", torch.zeros(1, 2))

    def forward(self, x):
        y = self.fc(x)
        self.center = self.center * 0.9 + y.detach().mean(0, keepdim=True) * 0.1
        return y - self.center

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(3, 2, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        out.append(loss.item())
    return out, m.center, [n for n, _ in m.named_parameters()]

# %% [17] batches counted by norms
def run():
    net = fill(nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.Flatten(), nn.BatchNorm1d(12)))
    for i in range(3):
        net(data(4, 2, 2, 2, seed=i))
    net.eval()
    net(data(4, 2, 2, 2))
    return net[1].num_batches_tracked, int(net[3].num_batches_tracked), net[3].num_batches_tracked.item()

# %% [12, 17] every key of a state dict with norms
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.BatchNorm1d(4, affine=False), nn.BatchNorm1d(4, track_running_stats=False)))
    net(data(5, 3))
    return {k: v.clone() for k, v in net.state_dict().items()}, [n for n, _ in net.named_buffers()], len(list(net.buffers()))

# %% [12, 17] counters averaged with the weights
def run():
    a = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    b = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), 3)
    for i in range(4):
        a(data(5, 3, seed=i))
    b(data(5, 3))
    with torch.no_grad():
        target = b.state_dict()
        for key, value in a.state_dict().items():
            if value.dtype.is_floating_point:
                target[key].copy_(target[key] * 0.9 + value * 0.1)
            else:
                target[key].copy_(value)
    return b.state_dict(), b[1].num_batches_tracked

# %% [8, 17] counters reset before the statistics are computed anew
def reset(m):
    if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
        m.running_mean.zero_()
        m.running_var.fill_(1)
        m.num_batches_tracked.zero_()
        m.momentum = None

def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    net(data(5, 3))
    net[1].reset_running_stats()
    seen = net[1].num_batches_tracked.clone(), net[1].running_var.clone()
    net(data(5, 3))
    return seen, net[1].num_batches_tracked, net[1].running_mean


# %% [17] a buffer that is not saved, changed in every call
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("steps", torch.tensor(0), persistent=False)
        self.register_buffer("total", torch.zeros(2), False)

    def forward(self, x):
        self.steps += 1
        self.total = self.total + x.sum(0)
        return self.fc(x)


def run():
    n = fill(Net())
    n(data(3, 2))
    return list(n.state_dict()), [k for k, _ in n.named_buffers()], n.steps, n.total


# %% [17] buffers that are None at first are listed once they are set
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("cache", None)
        self.register_buffer("mask", None)

    def forward(self, x):
        if self.cache is None:
            self.cache = x.mean(0)
        return self.fc(x) - self.cache


def run():
    n = fill(Net())
    before = list(n.state_dict())
    y = n(data(3, 2))
    names = [k for k, _ in n.named_buffers()]
    return before, y.detach(), list(n.state_dict()), names, n.state_dict()["cache"]


# %% [17] a cache of keys in a buffer that is not saved
class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 4, 3))
        self.register_buffer("pos", torch.tensor(0), persistent=False)
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        start, n = int(self.pos), x.size(1)
        self.keys[:, start : start + n] = self.proj(x)
        self.pos += n
        return self.keys[:, : start + n].mean(1)


def run():
    net = fill(Cached())
    with torch.no_grad():
        a, b = net(data(1, 2, 3)), net(data(1, 1, 3, seed=3))
    return a, b, net.pos, list(net.state_dict())


# %% [17] late buffers of parts, and a model that is loaded without them
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", None)
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.seen = x.abs().max(0)[0]
        return x * self.w


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Part(), Part()

    def forward(self, x):
        return self.b(self.a(x))


def run():
    net = Net()
    first = list(net.state_dict())
    net(data(3, 2))
    state = net.state_dict()
    other = Net()
    loaded = other.load_state_dict(state, strict=False)
    return first, list(state), state["b.seen"], sorted(loaded.unexpected_keys)


# %% [17] what is not saved in a part, and a copy of it
import copy


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(1), persistent=False)
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        self.n += 1
        self.mean.lerp_(x.mean(0), 0.5)
        return x - self.mean


def run():
    net = nn.Sequential(nn.Linear(2, 2), Counter())
    fill(net)
    net(data(3, 2))
    twin = copy.deepcopy(net)
    twin(data(3, 2, seed=4))
    names = [name for name, _ in twin.named_buffers()]
    return list(net.state_dict()), list(twin.state_dict()), names, net[1].n, twin[1].n, twin[1].mean

# %% [17] prototypes updated under no_grad in forward
class Proto(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.register_buffer("centers", torch.zeros(n, d))
        self.register_buffer("seen", torch.zeros(n, dtype=torch.bool))
        self.counts = torch.zeros(n)

    @torch.no_grad()
    def update(self, f, y):
        for c in y.unique():
            sel = f[y == c].mean(0)
            if self.seen[c]:
                self.centers[c].mul_(0.5).add_(sel, alpha=0.5)
            else:
                self.centers[c] = sel
                self.seen[c] = True
            self.counts[c] += (y == c).sum()

    def forward(self, f):
        return -torch.cdist(f, self.centers)

def run():
    p = Proto(3, 2)
    for s in range(3):
        p.update(data(5, 2, seed=s), labels(5, 3, seed=s))
    return p.centers, p.seen, p.counts, p(data(2, 2)), list(p.state_dict())

# %% [17] buffers moved, renamed and counted
class Hist(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.register_buffer("edges", torch.linspace(-2, 2, bins + 1))
        self.register_buffer("counts", torch.zeros(bins, dtype=torch.long))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long), persistent=False)
        self.extra = None

    def forward(self, x):
        idx = torch.bucketize(x.flatten(), self.edges[1:-1])
        self.counts += torch.bincount(idx, minlength=len(self.counts))
        self.steps += 1
        self.extra = idx.max()
        return self.counts.float() / self.counts.sum()

def run():
    h = Hist(4)
    a = h(data(3, 3))
    b = h(data(3, 3, seed=7))
    return a, b, h.counts, h.steps, list(h.state_dict()), [n for n, _ in h.named_buffers()], h.extra

# %% [17] statistics reset and a momentum given to a cumulative norm
def run():
    bn = nn.BatchNorm1d(3, momentum=None)
    for k in range(3):
        bn(data(5, 3, seed=k))
    first = bn.running_mean.clone(), bn.num_batches_tracked.clone()
    bn.reset_running_stats()
    bn.momentum = 0.1
    bn(data(5, 3))
    return first, bn.running_mean, bn.running_var, list(bn.state_dict())

# %% [17] statistics of all norms reset
def run():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.BatchNorm2d(2))
    net(data(2, 1, 4, 4))
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.reset_running_stats()
    return net[1].running_mean, net[3].running_var

# %% [17] a cache registered as None between others
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("cache", None)
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("last", None)
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        self.steps += 1
        self.last = x[-1].detach()
        self.cache = x.detach()
        return (x - self.mean) * self.w

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.norm = Norm()

    def forward(self, x):
        return self.norm(self.fc(x))

def run():
    n = fill(Outer())
    n(data(3, 2))
    return list(n.state_dict()), [k for k, _ in n.named_buffers()], n.norm.mean, list(n.norm.state_dict())


# %% [17] a buffer registered by a method that forward calls
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("slopes", torch.tensor([0.5, 0.25]).view(2, 1, 1), persistent=False)
        self.register_buffer("bias", None, persistent=False)
        self.scale = nn.Parameter(torch.ones(1))

    def table(self, n):
        if self.bias is not None and self.bias.shape[-1] >= n:
            return self.bias[..., :n, :n]
        i = torch.arange(n)
        bias = -(i[None, :] - i[:, None]).abs()[None].float() * self.slopes
        self.register_buffer("bias", bias, persistent=False)
        return self.bias

    def forward(self, x):
        return x * self.scale + self.table(x.size(-1))


def run():
    net = Positions()
    out = [net(data(2, n, n)) for n in (3, 2, 4)]
    sum(o.sum() for o in out).backward()
    return [o.detach() for o in out], list(net.state_dict()), net.scale.grad, net.bias.shape
