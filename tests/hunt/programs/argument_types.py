# %% [23] BatchNorm2d with a whole number for eps
def run():
    bn = nn.BatchNorm2d(4, 4)
    bn.train()
    return bn(data(2, 4, 3, 3))

# %% [23] eps=1 in LayerNorm
def run():
    return nn.LayerNorm(4, eps=1)(data(2, 4)), F.layer_norm(data(2, 4), (4,), eps=1)

# %% [23] lr=1 in SGD
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=1)
    opt.zero_grad()
    m(data(4, 3)).mean().backward()
    opt.step()
    return m

# %% [23] p=0 in Dropout
def run():
    d = nn.Dropout(0)
    d.train()
    return d(data(2, 3)), F.dropout(data(2, 3), p=0), nn.Dropout(p=0)(data(2))

# %% [23] Adam with whole numbers
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=1, betas=(0.0, 0.9), weight_decay=0, eps=1)
    for _ in range(2):
        opt.zero_grad()
        m(data(4, 3)).pow(2).mean().backward()
        opt.step()
    return m

# %% [23] momentum=1 in BatchNorm
def run():
    bn = nn.BatchNorm1d(3, momentum=1)
    bn(data(4, 3))
    return bn.running_mean, bn.running_var

# %% [23] SGD with weight_decay and momentum as whole numbers
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), 1, momentum=1, weight_decay=1)
    for _ in range(2):
        opt.zero_grad()
        m(data(4, 3)).pow(2).mean().backward()
        opt.step()
    return m

# %% [23] numpy numbers as sizes
def run():
    n = np.int64(3)
    m = fill(nn.Linear(n, np.int32(2)))
    k = np.prod([2, 2])
    return m(data(4, 3)), torch.zeros(n, k), data(3, 4).view(k, n)

# %% [23] numpy floats as factors
def run():
    x = data(2, 3)
    s = np.sqrt(2)
    return x * s, x / np.float64(3), s * x, x * np.float32(0.5), x ** np.float64(2)

# %% [23] numpy numbers in a schedule
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=np.float64(0.1), momentum=np.float32(0.5))
    for lr in np.linspace(0.1, 0.01, 3):
        for g in opt.param_groups:
            g["lr"] = lr
        opt.zero_grad()
        m(data(4, 3)).pow(2).mean().backward()
        opt.step()
    return m

# %% [23] lists for tuples
def run():
    x = data(1, 2, 8, 8)
    conv = fill(nn.Conv2d(2, 3, [3, 3], stride=[2, 2], padding=[1, 1]))
    return conv(x), F.avg_pool2d(x, [2, 2]), F.interpolate(x, size=[4, 4]), x.permute([0, 2, 3, 1])

# %% [23] lists in reshape, zeros, ones
def run():
    x = data(2, 6)
    shape = [3, 4]
    return x.view(shape), x.reshape([4, 3]), torch.zeros(shape), torch.ones([2]), x.repeat([1, 2])

# %% [23] bools for numbers
def run():
    x = data(2, 3)
    return x.sum() * True, x * (1 > 0), torch.full((2,), True)

# %% [23] max pooling with floats that are whole by division
def run():
    x = data(1, 2, 8, 8)
    return F.max_pool2d(x, int(4 / 2)), nn.MaxPool2d(2, 2, int(0.5))(x)

# %% [23] scale_factor as a whole number and a float
def run():
    x = data(1, 2, 4, 4)
    return F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)

# %% [23] clamp, pow, leaky relu with whole numbers
# in: 3,4
def f(x):
    return x.clamp(0, 1), x.pow(2), F.leaky_relu(x, 1), x.masked_fill(x > 0, 1), F.elu(x, 1)

# %% [23] Embedding and padding of whole numbers
def run():
    e = fill(nn.Embedding(5, 3, padding_idx=0))
    return e(torch.tensor([0, 4])), F.pad(data(2, 3), [1, 1]), F.pad(data(2, 3), (1, 1), value=1)

# %% [23] smoothing and reduction options of a loss
def run():
    x, y = data(4, 3), labels(4, 3)
    return F.cross_entropy(x, y, label_smoothing=0), nn.CrossEntropyLoss(label_smoothing=0.1)(x, y), F.smooth_l1_loss(x, x * 2, beta=1)

# %% [23] torch numbers as Python numbers
def run():
    n = torch.tensor(3)
    x = data(5, 3)
    return x[:n], torch.zeros(int(n), 2), x[n], list(range(n))

# %% [23] GroupNorm, InstanceNorm with whole eps
def run():
    return nn.GroupNorm(2, 4, eps=1)(data(2, 4, 3)), nn.InstanceNorm2d(4, eps=1)(data(2, 4, 3, 3))

# %% [23] StepLR, gamma=1 and MultiStepLR with a range
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD(m.parameters(), lr=1)
    s = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=1)
    t = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=range(1, 3), gamma=0.5)
    rates = []
    for _ in range(3):
        opt.zero_grad()
        m(data(2, 2)).mean().backward()
        opt.step()
        s.step()
        t.step()
        rates.append(opt.param_groups[0]["lr"])
    return rates

# %% [23] normal and uniform with whole bounds
def run():
    w = torch.empty(50, 40)
    nn.init.uniform_(w, 0, 1)
    v = torch.empty(50, 40)
    nn.init.normal_(v, 0, 1)
    return bool(0 <= w.min() and w.max() <= 1), bool(v.mean().abs() < 0.2), w.shape

# %% [23] a string for the padding and the mode of padding
def run():
    c = fill(nn.Conv2d(2, 3, 3, padding="same"))
    d = fill(nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"))
    return c(data(1, 2, 5, 5)), d(data(1, 2, 6))

# %% [23] float counts in linspace and arange
def run():
    return torch.linspace(0, 1, steps=5), torch.arange(0, 1, 0.25), torch.arange(5.0), torch.logspace(0, 1, 3)

# %% [23] AdaptiveAvgPool2d with None and lists
def run():
    x = data(1, 2, 6, 4)
    return nn.AdaptiveAvgPool2d([3, 2])(x), nn.AdaptiveAvgPool2d((None, 2))(x), F.adaptive_avg_pool2d(x, (1, 1))


# %% [23] ELU with another alpha
# in: 3,4; grad
def f(x):
    return F.elu(x, 0.5) + F.elu(x, alpha=2) + F.celu(x, 0.5) + F.elu(x)


# %% [23] sizes that numpy computed, through a constructor
class Agent(nn.Module):
    def __init__(self, shape, actions):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(np.array(shape).prod(), 8), nn.Tanh(), nn.Linear(8, 1))
        self.actor = nn.Linear(np.prod(shape), actions)
        self.table = nn.Embedding(np.int64(4), np.max(shape))

    def forward(self, x):
        return self.critic(x), self.actor(x)


def run():
    m = fill(Agent((2, 3), np.int64(2)))
    return m(data(4, 6)), m.table.weight.shape


# %% [23] numpy's integers as sizes of tensors
def run():
    n = np.int64(3)
    x = data(4, 6)
    return torch.ones(n, 2).shape, torch.zeros((n, n)).shape, torch.eye(n).shape, x[:n].shape, x.view(-1, n).shape, torch.linspace(0, 1, n), x.repeat(1, np.int32(2)).shape


# %% [23] slices by numpy's numbers out of a function
def box(h, w):
    return np.clip(1, 0, h), np.clip(3, 0, w), np.int64(2)


def run():
    x = data(4, 4)
    b = box(4, 4)
    y1, y2, k = b
    x[b[0] : b[1], k:] = 0
    return x, x[y1:y2], x[:, : b[2]], x[np.int64(1)], x[k], x[k - 1 : k + 1]
