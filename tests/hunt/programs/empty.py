# %% [15] the sum of what a mask selects
def f(x, mask):
    return x[mask].sum(), x[~mask].sum(), x[mask].abs().sum(0)

def run():
    x, none = data(4, 3), torch.zeros(4, dtype=torch.bool)
    return f(x, none), f(x, ~none), f(x, x[:, 0] > 0)

# %% [15] a masked mean that is nan
def masked_mean(values, keep):
    return torch.mean(values[keep])

def run():
    v = data(5)
    out = [masked_mean(v, v > t) for t in (-9.0, 0.0, 9.0)]
    print([torch.isnan(o).item() for o in out])
    return out

# %% [15] any, all and norm of nothing
# in: 4,3
def f(x):
    picked = torch.masked_select(x, x > 100)
    return (picked > 0).any(), (picked > 0).all(), picked.norm(), picked.pow(2).sum().sqrt(), picked.sum(0)

# %% [15] a loss of a layer over no positive
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.box = nn.SmoothL1Loss(reduction="sum")
        self.cls = nn.MSELoss()

    def forward(self, x, y, threshold):
        out = self.fc(x)
        pos = y[:, 0] > threshold
        n = max(int(pos.sum()), 1)
        return self.box(out[pos], y[pos]) / n, self.cls(out[pos], y[pos]), out.abs().mean()

def run():
    net = fill(Net())
    res = []
    for t in (0.0, 50.0):
        b, c, whole = net(data(5, 4), data(5, 4, seed=3), t)
        (b + whole).backward()
        res += [b.item(), c.item(), net.fc.weight.grad.clone()]
        net.zero_grad()
    return res

# %% [15] functional losses of nothing
def run():
    x, y = data(6, 2), data(6, 2, seed=4)
    keep = x[:, 0] > 99
    a, b = x[keep], y[keep]
    return (F.mse_loss(a, b), F.l1_loss(a, b, reduction="sum"), F.smooth_l1_loss(a, b),
            F.binary_cross_entropy_with_logits(a, b.sigmoid(), reduction="sum"),
            F.binary_cross_entropy(a.sigmoid(), b.sigmoid()),
            F.cross_entropy(a, torch.zeros(0, dtype=torch.long), reduction="sum"))

# %% [15] places that may be none
def per_class(scores, target, c):
    idx = (target == c).nonzero(as_tuple=True)[0]
    s = scores[idx]
    return s.sum(), s.mean(), idx.numel(), s.std()

def run():
    t = torch.tensor([0, 0, 2, 2])
    return [per_class(data(4), t, c) for c in range(3)]

# %% [15, 21] a helper of another file is given what a mask selects
from metrics import total

def run():
    x = data(5, 2)
    out = torch.zeros(3)
    for k, t in enumerate((-9, 0, 9)):
        out[k] = total(x[x[:, 0] > t])
    return out

# --- metrics.py
def total(values):
    squares = values ** 2
    return squares.sum() + values.sum(dim=0).max()

# %% [15] torch.where gives the places
# in: 6
def f(x):
    (big,) = torch.where(x > 50)
    small = torch.where(x < 50)[0]
    return x[big].sum(), x[small].sum(), x[big].prod(), (x[big] * 2).mean().isnan()

# %% [15] a tensor that starts with no rows
def run():
    seen = torch.empty(0, 3)
    first = seen.sum(), seen.sum(0), seen.sum(1), (seen == 1).any(), torch.zeros(0).mean()
    for k in range(2):
        seen = torch.cat([seen, data(2, 3, seed=k)])
    return first, seen.sum(), seen.mean(0)

# %% [15] a masked mean in a compiled network
# in: 4,3 4:bool; grad
def f(x, m):
    none = m & ~m
    return x[none].sum() + x[m].sum() + (x[none] > 0).any().float()

# %% [15] Gram matrices over no rows
# in: 4,3
def f(x):
    e = x[x[:, 0] > 99]
    return torch.matmul(e.t(), e), e.t().mm(e), torch.bmm(e.t()[None], e[None])

# %% [15] one-hot codes and counts of nothing
def run():
    y = labels(5, 3)
    none = y[y > 7]
    return F.one_hot(none, 3), torch.bincount(none, minlength=3), F.one_hot(y[y > 0], 3).sum(0)

# %% [15] rows added at no place
def run():
    y, x = labels(5, 3), data(5, 2)
    none, rows = y[y > 7], x[y > 7]
    out = torch.ones(3, 2)
    out.index_add_(0, none, rows)
    return out, torch.zeros(3, 2).scatter_add(0, none.unsqueeze(1).expand(-1, 2), rows)

# %% [15] products and running sums over no rows
def run():
    x = data(5, 2)
    e = x[x.sum(1) > 99]
    return torch.einsum("nd,ne->de", e, e), e.cumsum(0), e.std(0), e.size(), e.unsqueeze(0).shape

# %% [15] statistics by group
class Meter:
    def __init__(self):
        self.values = []

    def add(self, v):
        self.values.append(v.detach())

    def result(self):
        v = torch.cat(self.values)
        good = v[torch.isfinite(v)]
        return good.mean(), good.sum(), good.numel(), good.var()

def run():
    m = Meter()
    m.add(torch.full((3,), float("inf")))
    first = m.result()
    m.add(data(4))
    return first, m.result()

# %% [15] parts of lengths with a zero
def run():
    x = data(5, 2)
    lengths = [2, 0, 3]
    parts = x.split(lengths)
    out = []
    for p in torch.split(x, lengths):
        out.append(p.sum(0))
    return out, [p.mean() for p in parts], [p.shape[0] for p in parts]

# %% [15] windows that end beyond the tensor
def run():
    x = data(6)
    sums = [x[i : i + 3].sum() for i in range(0, 9, 3)]
    n = x.size(0)
    return sums, x[n:].sum(), x[:0].mean(), (x[len(x) :] > 0).any()

# %% [15] a list of selections by class
def run():
    x, y = data(6), torch.tensor([0, 0, 2, 2, 0, 2])
    groups = [x[y == c] for c in range(3)]
    means = torch.stack([g.mean() if len(g) else torch.zeros(()) for g in groups])
    totals = []
    for g in groups:
        totals.append(g.sum())
    return means, totals, [g.numel() for g in groups]

# %% [15] the best class of no rows
def run():
    logits, y = data(4, 3), labels(4, 3)
    for keep in (y > 5, y >= 0):
        rows = logits[keep]
        print(rows.argmax(-1).shape, rows.argmax(1).eq(y[keep]).sum().item(), torch.argmin(rows, dim=1).tolist())
    return rows.argmax(dim=1, keepdim=True)

# %% [15] unique values and largest of nothing
def run():
    y, x = torch.tensor([3, 1, 1, 0]), data(4)
    u, c = torch.unique(y[y > 5], return_counts=True)
    v, i = x[x > 9].topk(min(2, int((x > 9).sum())))
    return u.numel(), c.sum(), v.shape, i.shape, y[y > 5].tolist(), torch.unique(y, return_counts=True)

# %% [15] accuracy of masked tokens
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 6)

    def forward(self, h, y):
        mask = y != -100
        logits = self.out(h[mask])
        loss = F.cross_entropy(logits, y[mask], reduction="sum")
        return loss / mask.sum().clamp(min=1), (logits.argmax(-1) == y[mask]).sum()

def run():
    m = fill(Tagger())
    none = torch.full((2, 3), -100)
    some = none.clone()
    some[0, 1] = 3
    return m(data(2, 3, 4), none), m(data(2, 3, 4), some)

# %% [15] classification losses of nothing, and of something
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.ce = nn.CrossEntropyLoss()

    def forward(self, x, y, keep):
        out = self.fc(x)
        return self.ce(out[keep], y[keep]), F.cross_entropy(out[keep], y[keep], reduction="sum")

def run():
    net = fill(Head())
    x, y = data(5, 3), torch.tensor([0, 3, 1, 2, 0])
    found = []
    for limit in (0.0, 99.0):
        keep = x[:, 0] > limit
        mean, total = net(x, y, keep)
        logs = F.log_softmax(net.fc(x), -1)
        found += [mean, total, F.nll_loss(logs[keep], y[keep], reduction="sum")]
        found.append(F.nll_loss(logs[keep], y[keep]))
        found.append(F.cross_entropy(net.fc(x)[keep], y[keep], reduction="none"))
    loss = found[1] + found[6]
    loss.backward()
    return found, net.fc.weight.grad

# %% [25] factors of no matrices, and of matrices without rows
def run():
    return torch.linalg.cholesky(torch.zeros(0, 3, 3)), torch.linalg.cholesky(torch.zeros(2, 0, 0), upper=True)
