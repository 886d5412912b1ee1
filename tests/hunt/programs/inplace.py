# %% [1] SGD by hand on .data
def run():
    m = fill(nn.Linear(3, 2))
    lr = 0.1
    out = []
    for i in range(3):
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        m.zero_grad()
        loss.backward()
        for p in m.parameters():
            p.data -= lr * p.grad.data
        out.append(loss.item())
    return out, m

# %% [1] halve every weight
def run():
    m = fill(nn.Linear(3, 2))
    for p in m.parameters():
        p.data *= 0.5
    return m

# %% [1] target network update
def run():
    net, target = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=9)
    tau = 0.1
    for tp, p in zip(target.parameters(), net.parameters()):
        tp.data *= 1 - tau
        tp.data += tau * p.data
    return target, net

# %% [1] weights scaled between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    out = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        m.weight.data *= 0.9
        out.append(loss.item())
    return out, m

# %% [1] weights normalised under no_grad between steps
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    out = []
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
        with torch.no_grad():
            m.weight /= m.weight.norm()
        out.append(loss.item())
    return out, m

# %% [1] WGAN clamp of .data
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
    opt = torch.optim.RMSprop(m.parameters(), lr=0.05)
    for i in range(2):
        opt.zero_grad()
        loss = -m(data(4, 3, seed=i)).mean()
        loss.backward()
        opt.step()
        for p in m.parameters():
            p.data.clamp_(-0.1, 0.1)
    return m

# %% [1] soft update with copy_
def run():
    net, target = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=9)
    for tp, p in zip(target.parameters(), net.parameters()):
        tp.data.copy_(0.95 * tp.data + 0.05 * p.data)
    return target

# %% [1] exponential average with lerp_
def run():
    net, ema = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=9)
    with torch.no_grad():
        for e, p in zip(ema.parameters(), net.parameters()):
            e.lerp_(p, 0.1)
    return ema

# %% [1] update under no_grad, by subtraction
def run():
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return w.detach()

# %% [1] a bias initialised by item
def run():
    m = nn.LSTM(2, 3)
    fill(m)
    with torch.no_grad():
        m.bias_ih_l0[3:6] = 1.0
        m.bias_hh_l0.data[3:6].fill_(0.5)
    return [p for p in m.parameters()][2:]

# %% [1] a weight row set to zero after each step
def run():
    e = fill(nn.Embedding(4, 2))
    opt = torch.optim.SGD(e.parameters(), lr=0.5)
    for _ in range(2):
        opt.zero_grad()
        e(torch.tensor([0, 1, 3])).pow(2).sum().backward()
        opt.step()
        e.weight.data[0] = 0
    return e

# %% [1] gradient noise added to .grad
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        for p in m.parameters():
            p.grad += 0.01
            p.grad.data.mul_(2)
        opt.step()
    return m

# %% [1] momentum by hand in a list
def run():
    m = fill(nn.Linear(3, 1))
    bufs = [torch.zeros_like(p) for p in m.parameters()]
    for i in range(3):
        m.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        for p, b in zip(m.parameters(), bufs):
            b.mul_(0.9).add_(p.grad)
            p.data.add_(b, alpha=-0.1)
    return m, bufs

# %% [1] attribute of an attribute
class Holder:
    def __init__(self):
        self.state = torch.zeros(3)

class Trainer:
    def __init__(self):
        self.holder = Holder()

    def step(self, x):
        self.holder.state += x
        self.holder.state[0] *= 2

def run():
    t = Trainer()
    s = t.holder.state
    t.step(torch.ones(3))
    t.step(torch.ones(3))
    return t.holder.state, s

# %% [1] p.data assigned anew
def run():
    m = fill(nn.Linear(2, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(3, 2, seed=i)).pow(2).mean().backward()
        opt.step()
        m.weight.data = m.weight.data / m.weight.data.norm()
        for p in m.parameters():
            p.data = p.data * 0.99
    return m

# %% [10] an in-place ReLU at the head of a Sequential
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
        self.skip = nn.Linear(4, 4)

    def forward(self, x):
        residual = self.block(x)
        shortcut = self.skip(x)
        return residual + shortcut

def run():
    m = fill(Block())
    x = data(2, 4)
    y = m(x * 1.0)
    return y

# %% [10] pre-activation block, equal channels
class PreAct(nn.Module):
    def __init__(self, c=3):
        super().__init__()
        self.body = nn.Sequential(nn.ReLU(True), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(True), nn.Conv2d(c, c, 3, padding=1))

    def forward(self, x):
        return x + self.body(x)

def run():
    m = fill(PreAct())
    m.eval()
    return m(data(1, 3, 4, 4) * 1)

# %% [10] NAS cell: states after an in-place op
class Op(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.op = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(c, c, bias=False))

    def forward(self, x):
        return self.op(x)

class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = nn.ModuleList([Op(3) for _ in range(3)])

    def forward(self, s0, s1):
        states = [s0, s1]
        for op in self.ops:
            states.append(op(states[-1]) + states[-2])
        return torch.cat(states, 1)

def run():
    m = fill(Cell())
    return m(data(2, 3) * 1, data(2, 3, seed=4) * 1)

# %% [10] Xception's separable block
class Xblock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.skip = nn.Conv2d(i, o, 1, bias=False) if i != o else None
        rep = []
        rep.append(nn.ReLU(inplace=True))
        rep.append(nn.Conv2d(i, o, 3, padding=1))
        self.rep = nn.Sequential(*rep)

    def forward(self, inp):
        x = self.rep(inp)
        if self.skip is not None:
            skip = self.skip(inp)
        else:
            skip = inp
        x += skip
        return x

def run():
    m = fill(nn.Sequential(Xblock(2, 2), Xblock(2, 3)))
    return m(data(1, 2, 4, 4))

# %% [10] F.relu inplace on an input that is read again
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        h = self.fc(x)
        a = F.relu(h, inplace=True)
        return a + h

def run():
    return fill(Net())(data(2, 3))

# %% [10] an in-place layer kept in a list and in a dict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = nn.ModuleDict({"a": nn.ReLU(inplace=True), "b": nn.LeakyReLU(0.2, inplace=True)})
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        h = self.fc(x)
        y = self.acts["a"](h)
        return h * 2 + y

def run():
    return fill(Net())(data(2, 3))

# %% [10] a function that writes over its argument
def normalise_(x):
    x.sub_(x.mean())
    x.div_(x.std())

def run():
    x = data(5)
    normalise_(x)
    return x

# %% [10] a function whose argument is a part of a tensor
def zero_(t):
    t.zero_()

def run():
    x = data(3, 4)
    zero_(x[0])
    zero_(x[:, 1])
    return x

# %% [16] in-place keeps the left dtype: float32 and float64
def run():
    x = data(3)
    x += torch.ones(3, dtype=torch.float64)
    y = data(3)
    y *= torch.tensor([1.5, 2.0, 3.0], dtype=torch.float64)
    return x, y

# %% [16] in-place keeps the left dtype: half and float
def run():
    h = torch.ones(3).half()
    h += data(3)
    g = torch.ones(3, dtype=torch.float16)
    g.mul_(data(3))
    return h, g

# %% [16] in-place keeps the left dtype: integers
def run():
    a = torch.ones(3, dtype=torch.int32)
    a += torch.tensor([1, 2, 3])
    b = torch.tensor([5, 6], dtype=torch.uint8)
    b -= torch.tensor([1, 2])
    c = torch.zeros(3, dtype=torch.int64)
    c[1:] += torch.ones(2, dtype=torch.int32)
    return a, b, c

# %% [16] a float added to an integer in place raises
# raises
def run():
    a = torch.ones(3, dtype=torch.int64)
    a += 0.5
    return a

# %% [11] chunk, then change a part
def run():
    x = data(2, 4)
    a, b = x.chunk(2, 1)
    a *= 5
    return x, a, b

# %% [11] rows of a loop are views
def run():
    x = data(3, 2)
    for row in x:
        row.fill_(2)
    return x

# %% [11] a name for one of two
def run():
    x, z = data(3), data(3, seed=4)
    c = True
    y = x if c else z
    y += 1
    return x, y, z

# %% [11] contiguous, float and to give the same tensor
def run():
    x = data(3)
    y = x.contiguous()
    y += 1
    z = x.float()
    z *= 2
    w = x.to("cpu")
    w -= 3
    return x, y, z, w

# %% [11] a = b = zeros
def run():
    a = b = torch.zeros(3)
    a += 1
    b[0] = 5
    return a, b

# %% [11] tensors in a list, changed later
def run():
    x = torch.zeros(2)
    history = [x]
    x.add_(1)
    history.append(x)
    x += 1
    return history

# %% [11] tensors in a dict, changed by the dict
def run():
    x = torch.zeros(2)
    d = {"x": x}
    d["x"] += 3
    d["x"][0] = 7
    return x, d

# %% [11] tensors in an attribute, changed later
class Box:
    def __init__(self, t):
        self.t = t

def run():
    x = torch.zeros(2)
    b = Box(x)
    x += 1
    b.t *= 3
    return x, b.t

# %% [11] a default argument that is a tensor
def accumulate(v, total=torch.zeros(2)):
    total += v
    return total

def run():
    accumulate(torch.ones(2))
    return accumulate(torch.ones(2))

# %% [11] from_numpy shares memory
def run():
    a = np.zeros(3, dtype=np.float32)
    t = torch.from_numpy(a)
    t += 1
    t[0] = 5
    return a, t

# %% [11] numpy() shares memory
def run():
    t = torch.zeros(3)
    a = t.numpy()
    t.add_(2)
    a[0] = 9
    return a, t

# %% [11] a loop that reads y in the next round
def run():
    y = torch.zeros(3)
    seen = []
    for i in range(3):
        z = y
        z += i
        seen.append(float(y.sum()))
    return seen, y

# %% [11] view, then write through the view
def run():
    x = data(2, 3)
    v = x.view(-1)
    v[0] = 100.0
    w = x.reshape(6)
    w[1] += 50
    u = x.flatten()
    u[2] = -1
    return x

# %% [11] transpose, then write
def run():
    x = data(2, 3)
    t = x.t()
    t[0] = 7
    p = x.permute(1, 0)
    p[1, 0] = 8
    return x, t, p

# %% [11] squeeze and unsqueeze, then write
def run():
    x = data(1, 3)
    s = x.squeeze(0)
    s[1] = 4
    u = x.unsqueeze(-1)
    u += 1
    return x, s

# %% [11] expand, then read after the base changes
def run():
    b = torch.zeros(1, 3)
    e = b.expand(2, 3)
    b += 2
    return e, b

# %% [11] slices of slices
def run():
    x = torch.zeros(4, 4)
    top = x[:2]
    top[:, 1:3] = 1
    top[0].add_(5)
    x[2:][1] = 3
    return x

# %% [11] split and unbind, then write
def run():
    x = torch.zeros(2, 4)
    parts = x.split(2, dim=1)
    parts[1].fill_(3)
    a, b = x.unbind(0)
    b += 1
    return x

# %% [11] diagonal and narrow, then write
def run():
    x = torch.zeros(3, 3)
    x.diagonal().fill_(1)
    x.narrow(0, 1, 1).add_(2)
    x.select(1, 0).mul_(5)
    return x

# %% [11] detach shares memory
def run():
    x = torch.zeros(3)
    d = x.detach()
    d += 1
    return x, d

# %% [11] a clone does not share
def run():
    x = torch.zeros(3)
    c = x.clone()
    c += 1
    d = x + 0
    d[0] = 2
    return x, c, d

# %% [11] masks of a view
def run():
    x = data(3, 4)
    row = x[1]
    row[row < 0] = 0
    return x

# %% [11] the real and imaginary part of view_as_real
def run():
    x = data(3, 2)
    c = torch.view_as_complex(x)
    return c.real, c.imag, torch.view_as_real(c * 2)

# %% [11] swap of two rows
def run():
    x = data(3, 2)
    x[[0, 1]] = x[[1, 0]]
    tmp = x[2].clone()
    x[2] = x[0]
    x[0] = tmp
    return x

# %% [11] a function that returns its argument changed
def add_one(x):
    x += 1
    return x

def run():
    a = torch.zeros(2)
    b = add_one(a)
    c = add_one(b)
    return a, b, c

# %% [11] an accumulator passed through a class
class Meter:
    def __init__(self, n):
        self.hist = torch.zeros(n)
        self.view = self.hist[1:]

    def update(self, k):
        self.hist[k] += 1
        self.view.mul_(1)

def run():
    m = Meter(4)
    for k in [0, 1, 1, 3]:
        m.update(k)
    return m.hist, m.view

# %% [0] out= arguments
def run():
    x = data(3)
    out = torch.empty(3)
    torch.add(x, 1, out=out)
    y = torch.zeros(3)
    torch.mul(x, 2, out=y)
    return out, y

# %% [0] chained in-place methods
def run():
    x = torch.zeros(3)
    x.add_(1).mul_(3).sub_(0.5)
    return x

# %% [0] in-place on a fresh temporary
# in: 3,4 ; grad
def f(x):
    return x.clone().mul_(2).add_(1).clamp_(min=0)

# %% [0] augmented assignments of a local
# in: 3,4 ; grad
def f(x):
    y = x * 2
    y += x
    y *= 0.5
    y -= 1
    y /= 2
    return y


# %% [16] whole numbers divided in place raise
def run():
    x = torch.tensor([1, 2, 3])
    try:
        x /= x.sum()
    except RuntimeError:
        x = x / x.sum()
    y = torch.zeros(3, dtype=torch.long)
    try:
        y += 0.5
    except RuntimeError:
        y += 1
    return x, y

# %% [1, 11] boxes clipped in their columns by slices with a step
class Boxes:
    def __init__(self, t, size):
        self.t, self.extent = t, size

    def clip(self):
        w, h = self.extent
        self.t[:, 0::2].clamp_(0, w)
        self.t[:, 1::2].clamp_(0, h)
        return self

def clip(boxes, w, h):
    boxes[..., 0::2].clamp_(min=0, max=w)
    return boxes[..., 1::2].clamp_(min=0, max=h)

def run():
    b = Boxes(data(3, 4) * 10, (5, 4)).clip()
    other = data(2, 4, seed=3) * 5
    return b.t, clip(other, 1, 1.5), other

# %% [1] a method returns what it changes in place
class Counter:
    def __init__(self):
        self.buf = torch.zeros(3)
        self.seen = {"a": torch.ones(2)}

    def bump(self):
        return self.buf.add_(1)

    def row(self, i):
        return self.buf[i].add_(3)

    def scale(self, key):
        return self.seen[key].mul_(2)

def flat(p):
    return p.view(-1).add_(1)

def run():
    c = Counter()
    c.bump(), c.row(0), c.scale("a")
    x = torch.ones(2, 2)
    flat(x)
    return c.buf, c.seen, x, c.row(1), c.buf


# %% [10] a change in place beside a later read of the name
def run():
    x = data(4)
    y = x + 1
    pair = [y.clamp_(min=0.5), y]
    return pair[0], y * 1, F.relu(x, inplace=True) + x

# %% [1] changes in the middle of expressions
# in: 2,3 2,3
def f(x, y):
    root = (x * x + 1).clone()
    z = torch.sqrt(root.add_(1)) + 1
    w = y / root.mul_(2)
    first, second = root[0], root.sub_(1)
    return z, w, first, second, root
