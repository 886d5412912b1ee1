# %% [16] a 0-d tensor of a numpy number
def run():
    x = data(3)
    c = torch.tensor(np.log(2.0))
    return x - c, x + torch.tensor(np.pi), torch.tensor(np.float64(0.5)) + x, x * c, (x - c).dtype


# %% [16] the mean of a float64 array as a tensor
def normalise(x, mean, std):
    return (x - mean) / std


def run():
    a = np.arange(12.0).reshape(4, 3)
    mean, std = torch.tensor(a.mean()), torch.tensor(a.std())
    x = data(4, 3)
    return normalise(x, mean, std), x - torch.from_numpy(a).mean(), x.sub(mean), torch.sub(x, mean)


# %% [16] maximum, minimum and where with a wider 0-d tensor
def run():
    x = data(3)
    w = torch.tensor(0.1, dtype=torch.float64)
    return (
        torch.max(x, w),
        torch.minimum(x, w),
        torch.where(x > 0, x, w),
        x.clamp(min=w),
        torch.maximum(w, x),
        torch.where(x > 0, w, x),
    )


# %% [16] whole numbers of int32 beside a 0-d int64
def run():
    i = torch.arange(4, dtype=torch.int32)
    n = torch.tensor(3)
    return (
        i + n,
        torch.max(i, n),
        torch.remainder(i, n),
        i % n,
        torch.where(i > 1, i, n),
        i.clamp(max=n),
        i // n,
        torch.add(i, n),
        i.sub(n),
    )


# %% [16] totals of doubles kept on an object
class Scaler:
    def __init__(self, values):
        t = torch.tensor(values, dtype=torch.float64)
        self.mean = t.mean()
        self.std = t.std()
        self.max = t.max()

    def transform(self, x):
        return (x - self.mean) / self.std

    def clip(self, x):
        return torch.min(x, self.max)

    def inverse(self, x):
        return x * self.std + self.mean


def run():
    s = Scaler([1.0, 2.0, 4.0])
    x = data(2, 2)
    y = s.transform(x)
    return y, s.clip(x), s.inverse(y)


# %% [16] a threshold that a loop takes out of a float64 tensor
def run():
    x = data(4)
    ts = torch.linspace(0, 1, 3, dtype=torch.float64)
    out = []
    for t in ts:
        out.append(x + t)
        out.append(torch.max(x, t))
    return out, x - ts[1]


# %% [16] elements of an int64 index beside int32 tensors
def run():
    idx = torch.tensor([3, 1, 2])
    y = torch.ones(3, dtype=torch.int32)
    y = y + idx[0]
    z = torch.zeros(3, dtype=torch.int32)
    z = z + idx.max()
    return y, z, z.dtype


# %% [16] uint8 pictures shifted by 0-d numbers
def run():
    img = torch.tensor([[10, 200], [30, 40]], dtype=torch.uint8)
    m = img.max()
    k = torch.tensor(2)
    return img // k, img * k, img + k, torch.max(img, k), img - m


# %% [16] half beside float 0-d
def run():
    h = data(3).half()
    s = torch.tensor(0.5)
    return h + s, h * s, h / s, torch.max(h, s), h - data(3).mean(), h**s


# %% [16] a learned scale in float64
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor(0.25, dtype=torch.float64))
        self.register_buffer("low", torch.tensor(np.float64(-0.5)))

    def forward(self, x):
        y = x + self.offset
        y = torch.max(y, self.low)
        return y - self.low


def run():
    n = Net()
    return n(data(3)), n.offset.dtype


# %% [16] in place with a wider tensor
def add_all(acc, xs):
    for x in xs:
        acc += x
    return acc


def run():
    acc = torch.zeros(3)
    xs = [torch.arange(3.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64)]
    out = add_all(acc, xs)
    t = torch.zeros(3)
    for x in xs:
        t.add_(x)
        t.mul_(x)
    i = torch.zeros(3, dtype=torch.int32)
    i += torch.arange(3)
    s = torch.zeros(3)
    s -= torch.from_numpy(np.ones(3))
    return out, acc, t, i, s


# %% [16] in place in a method with what callers give
class Acc:
    def __init__(self, n):
        self.total = torch.zeros(n)
        self.count = torch.zeros((), dtype=torch.int32)

    def update(self, x, n):
        self.total += x
        self.count += n


def run():
    a = Acc(3)
    a.update(torch.tensor(np.ones(3)), torch.tensor(2))
    a.update(torch.tensor(np.ones(3)), 1)
    return a.total, a.count


# %% [16] an estimate in double over batches
def run():
    total = torch.zeros((), dtype=torch.float64)
    n = 0
    for s in range(3):
        x = data(10, seed=s)
        total += (x ** 2).sum()
        n += x.numel()
    est = total / n
    std = torch.sqrt(est)
    x = data(2)
    return est, (x - est).dtype, x - est, torch.max(x, est / 2), x + std, x - est.sqrt(), torch.where(x > 0, x, -est)
