# %% [1] weights scaled by name in a loop over named_parameters
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    for name, p in m.named_parameters():
        if name.endswith("weight"):
            p.data.mul_(0.5)
        else:
            p.data += 1
    return m

# %% [1] weight decay by hand between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.Adam(m.parameters(), lr=0.05)
    losses = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        for p in m.parameters():
            p.data.add_(p.data, alpha=-0.01)
        losses.append(loss.item())
    return losses, m

# %% [1] an initialiser over modules
def run():
    m = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    for layer in m.modules():
        if isinstance(layer, nn.Linear):
            layer.weight.data.fill_(0.1)
            layer.bias.data.zero_()
    return m

# %% [1] an average of models
class Ema:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] -= (1 - self.decay) * (self.shadow[name] - p.detach())

def run():
    m = fill(nn.Linear(3, 2))
    ema = Ema(m, 0.5)
    with torch.no_grad():
        for p in m.parameters():
            p.add_(1)
    ema.update(m)
    return [ema.shadow[k] for k in sorted(ema.shadow)], m

# %% [1] target network by zip and copy_
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=3)
    with torch.no_grad():
        for t, s in zip(b.parameters(), a.parameters()):
            t.mul_(0.9).add_(s, alpha=0.1)
    return a, b

# %% [1] a helper that clips weights
def clip_weights(model, limit):
    for p in model.parameters():
        p.data.clamp_(-limit, limit)

def run():
    m = fill(nn.Linear(3, 2))
    clip_weights(m, 0.1)
    return m

# %% [1] a gradient is clamped in place
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(2):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).sum()
        loss.backward()
        for p in m.parameters():
            p.grad.data.clamp_(-0.1, 0.1)
        opt.step()
        out.append(loss.item())
    return out, m

# %% [10] relu at the head of a function
# in: 2,3; grad
def head(x):
    y = F.relu(x, inplace=True)
    return y * 2

def f(x):
    x = x * 1.0
    y = head(x)
    return y + x

# %% [10] an in-place layer of a list of layers
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        layers.append(nn.ReLU(inplace=True))
        layers.append(nn.Linear(3, 3))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        x = x * 1.0
        out = self.block(x)
        return out + x

def run():
    return fill(Net())(data(4, 3))

# %% [10] a block from a function
def make(c):
    return nn.Sequential(nn.ReLU(True), nn.Linear(c, c))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = make(3)
        self.b = make(3)

    def forward(self, x):
        x = x - 0.5
        return self.a(x) + self.b(x) + x

def run():
    return fill(Net())(data(4, 3))

# %% [10] a block of another file
# --- blocks.py
class Pre(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.fc = nn.Linear(c, c)

    def forward(self, x):
        x = self.act(x)
        return self.fc(x)

# --- main.py
from blocks import Pre

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = Pre(3)

    def forward(self, x):
        x = x * 1.0
        out = self.pre(x)
        return out, x

def run():
    return fill(Net())(data(4, 3))

# %% [10] an in-place leaky relu at the head
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.LeakyReLU(0.2, inplace=True), nn.Linear(3, 3))

    def forward(self, x):
        x = x * 1.0
        out = self.block(x)
        return out + x

def run():
    return fill(Net())(data(4, 3))

# %% [10] the shortcut is computed first
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))
        self.skip = nn.Linear(3, 3)

    def forward(self, x):
        x = x * 1.0
        shortcut = self.skip(x)
        return self.block(x) + shortcut

def run():
    return fill(Net())(data(4, 3))

# %% [11] a view written by a method
# in: 2,3; grad
def f(x):
    x = x * 1.0
    y = x.view(-1)
    y.mul_(2)
    return x

# %% [11] a row written by an operator
# in: 2,3; grad
def f(x):
    x = x * 1.0
    r = x[0]
    r += 1
    return x * 2

# %% [11] columns written in a loop
# in: 3,4; grad
def f(x):
    x = x * 1.0
    for i in range(4):
        x[:, i] = x[:, i] * (i + 1)
    return x

# %% [11] two names
# in: 2,3; grad
def f(x):
    y = x * 2
    z = y
    z += 1
    return y + z

# %% [11] the base is changed, the view is read
# in: 2,3; grad
def f(x):
    b = x * 1.0
    v = b.t()
    b.add_(1)
    return v * 2

# %% [11] halves exchanged
# in: 2,4; grad
def f(x):
    a, b = x.chunk(2, dim=1)
    a = a * 2
    b += 1
    return torch.cat([b, a], 1)

# %% [11] a list of accumulators
def run():
    sums = [torch.zeros(2) for _ in range(3)]
    alias = sums[1]
    for i, s in enumerate(sums):
        s += i
    sums[1].mul_(4)
    return sums, alias

# %% [11] a dict of running means
def run():
    stats = {"a": torch.zeros(2), "b": torch.ones(2)}
    keep = stats["a"]
    for k in stats:
        stats[k].mul_(0.5).add_(data(2))
    return stats["a"], stats["b"], keep

# %% [11] an attribute filled later
class Meter:
    def __init__(self):
        self.total = torch.zeros(3)
        self.count = 0

    def add(self, x):
        self.total += x
        self.count += 1
        return self.total

def run():
    m = Meter()
    first = m.add(torch.ones(3))
    m.add(torch.ones(3))
    return first, m.total, m.count

# %% [11] a buffer shared by two objects
class Holder:
    def __init__(self, t):
        self.t = t

def run():
    x = torch.zeros(2)
    a, b = Holder(x), Holder(x)
    a.t.add_(1)
    b.t[0] = 7
    return x, a.t, b.t

# %% [11] squeeze of a batch of one
def run():
    x = data(1, 3)
    y = x.squeeze(0)
    y.zero_()
    return x, y

# %% [11] permute and fill
def run():
    x = torch.arange(6.0).view(2, 3)
    y = x.permute(1, 0)
    y[0].fill_(9)
    return x

# %% [11] unbind and add
def run():
    x = data(2, 3)
    first, second = x.unbind(0)
    first.add_(second)
    return x

# %% [11] a global tensor counts
counter = torch.zeros(1)

def tick(n):
    counter.add_(n)

def run():
    tick(1)
    tick(2)
    return counter

# %% [11] numpy sees the tensor
def run():
    t = torch.zeros(3)
    a = t.numpy()
    t[0] = 4
    return a.copy(), t

# %% [11] the tensor sees numpy
def run():
    a = np.zeros(3, dtype="float32")
    t = torch.from_numpy(a)
    a += 2
    return t, a.copy()

# %% [11] a generator of rows
def rows(x):
    for r in x:
        yield r

def run():
    x = data(3, 2)
    for r in rows(x):
        r.clamp_(min=0)
    return x

# %% [11] while loop over a moving view
def run():
    x = torch.arange(8.0)
    rest = x
    while len(rest) > 2:
        rest[0] = -1
        rest = rest[2:]
    return x

# %% [12] a state dict edited by key
def run():
    m = fill(nn.Linear(3, 2))
    sd = m.state_dict()
    sd["weight"][0] = 0
    sd["bias"].add_(1)
    return m

# %% [12] a state dict edited in a loop
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2)))
    for key, value in m.state_dict().items():
        if "bias" in key:
            value.zero_()
        else:
            value *= 2
    return m

# %% [12] a copy of a state dict is no part of the model
def run():
    m = fill(nn.Linear(3, 2))
    sd = {k: v.clone() for k, v in m.state_dict().items()}
    sd["weight"].zero_()
    return m, sd["weight"]

# %% [12] one model's entries into another's
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=5)
    target = b.state_dict()
    for k, v in a.state_dict().items():
        target[k].copy_(v * 2)
    return a, b

# %% [12] an average of state dicts
def run():
    a, b = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=5)
    sa, sb = a.state_dict(), b.state_dict()
    for k in sa:
        sa[k] = (sa[k] + sb[k]) / 2
    b.load_state_dict(sa)
    return a, b

# %% [16] an accumulator of doubles
def run():
    total = torch.zeros(2, dtype=torch.float64)
    for i in range(3):
        total += data(2, seed=i)
    small = torch.zeros(2)
    small += total
    return total, small, str(small.dtype) == str(torch.float32)

# %% [16] counts of integers
def run():
    n = torch.zeros(3, dtype=torch.int32)
    n += torch.tensor([1, 2, 3])
    n.add_(torch.ones(3, dtype=torch.int64))
    m = torch.zeros(3, dtype=torch.uint8)
    m += (n > 2)
    return n, m

# %% [16] half precision with float32
def run():
    h = torch.ones(3).half()
    h *= torch.full((3,), 1.5)
    h -= data(3).half()
    return h

# %% [16] mul_ and sub_ keep the dtype
def run():
    x = torch.ones(3)
    y = torch.full((3,), 2.0, dtype=torch.float64)
    x.mul_(y)
    x.sub_(y * 2)
    return x

# %% [11] as_tensor of an array, and a copy of it
def run():
    a = np.arange(3, dtype=np.float32)
    s = torch.as_tensor(a)
    c = torch.tensor(a)
    n = torch.as_tensor(np.mean([1.0, 2.0]))
    a[0] = 10
    s[1] = 7
    return s, c, a, n, torch.as_tensor([1, 2]), torch.as_tensor(5)

# %% [11] a mask writes into a permuted view
def run():
    y = data(2, 3, 4)
    v = y.permute(0, 2, 1)
    v[v < 0] = 0
    y.view(2, -1)[:, 0].fill_(5)
    return y, v

# %% [11] rows of a flattened view are set by an index tensor
def run():
    canvas = torch.zeros(3, 4)
    flat = canvas.view(-1)
    flat[torch.tensor([1, 5, 7])] = torch.tensor([1.0, 2.0, 3.0])
    flat[[0, 11]] += 4
    return canvas, flat

# %% [11] a view without a name is written by a list
def run():
    grid = torch.ones(2, 6)
    grid.t()[[0, 2]] = -1.0
    grid.reshape(3, 4)[grid.reshape(3, 4) > 0] = 2.0
    for row in grid.unbind(0):
        row[row < 0] = 0.5
    return grid

# %% [8] a name of a comprehension is a tensor elsewhere
def run():
    teachers = [fill(nn.Linear(3, 2), seed=s) for s in range(3)]
    student = fill(nn.Linear(3, 2), seed=7)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    losses = []
    for i in range(3):
        x = data(5, 3, seed=i)
        with torch.no_grad():
            targets = [t(x).softmax(-1) for t in teachers]
        t = torch.stack(targets).mean(0)
        loss = F.mse_loss(student(x).softmax(-1), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses

# %% [25] what load_state_dict says
def run():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2, bias=False)
    print(a.load_state_dict(fill(nn.Linear(2, 2)).state_dict()))
    print(a.load_state_dict(b.state_dict(), strict=False))
    return str(b.load_state_dict(a.state_dict(), strict=False))



# %% [11] a mask and index tensors written to views
def run():
    x = torch.arange(6.0).view(2, 3)
    x.view(-1)[torch.tensor([0, 5])] = -1
    flat = x.view(-1)
    flat[flat > 3] = 0
    x.t()[[0, 1]] += 10
    flat[...] *= 2
    return x, flat


# %% [11] stepped slices and windows written to
def run():
    x = torch.arange(24.0).view(4, 6)
    even = x[::2]
    even.add_(100)
    x.view(-1)[::5].mul_(2)
    x[:, 1::2].zero_()
    windows = x.unfold(1, 2, 2)
    windows[0] = -3.0
    return x, even, windows


# %% [11] as_strided and select written to
def run():
    x = torch.arange(12.0).view(3, 4)
    corner = x.as_strided((2, 2), (4, 1), 1)
    corner.fill_(7)
    one = x.select(0, 2).select(0, 3)
    one.zero_()
    last = x[-1, 0]
    last += 5
    return x, corner, one, last


# %% [11] channels last by permute, written by masks
def run():
    img = torch.zeros(3, 4, 4)
    hwc = img.permute(1, 2, 0)
    hwc[1, 2] = torch.tensor([1.0, 2.0, 3.0])
    hwc[torch.eye(4).bool()] = 5.0
    hwc[..., 0][hwc[..., 1] > 4] = 9
    return img


# %% [11] a view that was taken before the tensor is written to
def run():
    x = torch.zeros(4, 3)
    cols = x.T
    rows = torch.tensor([0, 2])
    x[rows] = 1.0
    x[x.sum(1) > 0, 1:] = 4.0
    return x, cols


# %% [11] a part of boxes, written by lists in a function that is given it
def scale(coords, gain):
    coords[:, [0, 2]] -= 1.0
    coords[:, [1, 3]] *= gain
    return coords


def run():
    det = data(3, 6)
    out = scale(det[:, :4], 2)
    det[:, :4] = out.round()
    det[0] = 7
    return det, out


# %% [11] a view that a method returns, written by a mask
class Grid:
    def __init__(self):
        self.rows = torch.zeros(4, 4)

    def column(self, i):
        return self.rows[:, i]

    def flat(self):
        return self.rows.view(-1)

    def whole(self):
        return self.rows


def run():
    g = Grid()
    c = g.column(1)
    c[torch.tensor([0, 2])] = 5
    f = g.flat()
    f[f == 0] = -1
    g.whole().t()[[1, 2]] = 3
    w = g.whole()
    w += 1
    return g.rows, c, f


# %% [11] a transposed view given to a function of another file
from masks import clear


def run():
    x = data(3, 4)
    y = x.t()
    clear(y, y < 0)
    clear(x.view(-1), torch.tensor([0, 5]))
    return x, y
# --- masks.py
def clear(tensor, where):
    tensor[where] = 0.5


# %% [11] rows and columns given to a function that sorts them by an index
def sort_(row):
    order = row.argsort()
    row[torch.arange(row.numel())] = row[order]


def run():
    x = data(3, 4)
    for row in x:
        sort_(row)
    sort_(x[:, 1])
    sort_(x.view(-1)[2:6])
    return x


# %% [11] a window of a buffer handed through two functions
def outer(window, where):
    inner(window.t(), where)
    return window


def inner(part, where):
    part[where] = -part[where]
    part[[0]] += 1


def run():
    buf = data(4, 4)
    w = buf[1:3]
    out = outer(w, torch.tensor([0, 3]))
    buf += 1
    return buf, w, out


# %% [11] a property that gives a part of what an object holds
class Boxes:
    def __init__(self, t):
        self.t = t

    @property
    def xy(self):
        return self.t[:, :2]

    def scores(self):
        return self.t[:, 4]


def run():
    b = Boxes(data(3, 5))
    s = b.scores()
    s[s < 0] = 0
    xy = b.xy
    xy[torch.tensor([0, 2])] = 9
    b.t[1] = 7
    return b.t, s, xy

# %% [10] VGG features taken from a Sequential in a loop
class Extractor(nn.Module):
    def __init__(self, wanted=("0", "2", "4")):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True), nn.Conv2d(2, 2, 3), nn.ReLU(inplace=True), nn.Conv2d(2, 2, 1))
        self.wanted = wanted

    def forward(self, x):
        feats = []
        for name, layer in self.model._modules.items():
            x = layer(x)
            if name in self.wanted:
                feats.append(x)
        return feats

def run():
    m = fill(Extractor()).eval()
    return m(data(1, 1, 7, 7))

# %% [10] features of named children in a dict
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.1, inplace=True), nn.Linear(4, 2), nn.ELU(inplace=True)))
    outs = {}
    x = data(2, 3)
    for i, (name, child) in enumerate(net.named_children()):
        x = child(x)
        outs[name] = x
    return outs
