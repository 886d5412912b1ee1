# %% [11] query, key and value from one projection, scaled in place
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.scale = 8 ** -0.5

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q *= self.scale
        k.mul_(2)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v

def run():
    model = fill(Attention()).eval()
    with torch.no_grad():
        return model(data(2, 5, 8))

# %% [11] rows of a permuted projection changed in place
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(12, 36)

    def forward(self, x):
        qkv = self.qkv(x).reshape(2, 3, 3, 2, 6).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        q *= 6 ** -0.5
        v.add_(1)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v

def run():
    model = fill(Heads())
    x = data(2, 3, 12)
    x.requires_grad_()
    out = model(x)
    found = out if isinstance(out, tuple) else (out,)
    total = sum((part.float() ** 2).sum() for part in found)
    total.backward()
    return found, x.grad, [p.grad for p in model.parameters()]

# %% [11] a gated unit over halves
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.half = 4

    def forward(self, x):
        h = self.fc(x)
        a, b = h[:, : self.half], h[:, self.half :]
        b.sigmoid_()
        a += 1
        y = x * 2
        u, w = y[..., :4], y[..., 4:]
        u.add_(1)
        w.clamp_(min=0)
        return a * b, u * w

def run():
    model = fill(Gate()).eval()
    with torch.no_grad():
        return model(data(3, 8))

# %% [11] the values of a sort filtered in place
# in: 3,6
def f(logits):
    values, order = torch.sort(logits, descending=True)
    summed = values.softmax(-1).cumsum(-1)
    out = summed > 0.7
    out[:, 1:] = out[:, :-1].clone()
    out[:, 0] = False
    values[out] = -10.0
    return values.gather(1, order), torch.empty_like(values).scatter_(1, order, values)

# %% [11] results of one operator changed beside each other
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 5)

    def forward(self, x):
        out, (h, c) = self.rnn(x)
        out *= 2
        h += 1
        best, place = out.max(0)
        best *= 3
        top, where = torch.topk(out, 2, dim=-1)
        top *= 0.5
        return out, h, c, best, place, top, where

def run():
    model = fill(Two()).eval()
    with torch.no_grad():
        return model(data(4, 2, 5))

# %% [11] two values of a function of the program
# in: 3,4
def parts(x):
    mean = x.mean(-1, keepdim=True)
    return x - mean, mean

def whole(x):
    y = x + 1
    return y, y.t()

def f(x):
    centred, mean = parts(x)
    centred *= 2
    mean += 1
    y, flipped = whole(x)
    y *= 3
    return centred, mean, y, flipped

# %% [11] parts that overlap see each other
def run():
    x = data(4, 4)
    a, b = x[:3], x[2:]
    a *= 2
    rows = data(1, 4).expand(2, 4)
    first, last = rows[0], rows[1]
    first += 1
    y = data(2, 3)
    p, q = y.unbind(0)
    p.fill_(5)
    z = data(3, 3)
    d, e = z[0], z.t()[0]
    d.zero_()
    return a, b, first, last, p, q, y, d, e, z

# %% [11] slices with a bound that moves
def run():
    x = data(6)
    n = 4
    head = x[:n]
    n = 2
    tail = x[n:]
    tail *= 3
    kept = []
    y = data(5, seed=2)
    before = y[:0]
    for i in range(4, 0, -1):
        y[i:].add_(before.sum())
        before = y[: i + 1]
        kept.append(before.sum())
    return head, tail, x, y, torch.stack(kept)

# %% [1] an optimizer that works on a copy in single precision
class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr, weight_decay=0.1))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data.float()
                state = self.state[p]
                if len(state) == 0:
                    state["avg"] = torch.zeros_like(p.data)
                single = p.data.float()
                state["avg"].mul_(0.9).add_(grad, alpha=0.1)
                single.add_(single, alpha=-group["weight_decay"] * group["lr"])
                single.add_(state["avg"].sign(), alpha=-group["lr"])
                p.data.copy_(single)

def run():
    model = nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.copy_(data(2, 3))
        model.bias.zero_()
    optimizer = Sign(model.parameters())
    losses = []
    for step in range(4):
        optimizer.zero_grad()
        loss = model(data(4, 3, seed=step)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model.weight, model.bias

# %% [10] in-place layers behind functions and classes of other files
# --- blocks.py
class Pre(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(self.act(x))

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Pre(nn.ReLU(inplace=True))

    def forward(self, x):
        return self.inner(x)

def run_block(block, x):
    return block(x)

def rectified(x):
    F.relu_(x)
    return x + 1

# --- main.py
import blocks
from blocks import Outer, run_block

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()
        self.pre = blocks.Pre(nn.ReLU(inplace=True))

    def forward(self, x):
        x = x * 1.0
        y = x + 0.1
        z = x - 0.2
        return self.outer(x), x, self.pre(y), y, blocks.rectified(z), z

def run():
    net = fill(Net())
    x = data(4, 3)
    first = net(x)
    y = data(4, 3, seed=5)
    out = run_block(net.outer, y)
    return first, out, y
