# %% [15] skip a batch whose loss is NaN
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    losses, skipped = [], 0
    for i in range(4):
        x = data(5, 3, seed=i)
        if i == 2:
            x[0, 0] = float("nan")
        loss = m(x).pow(2).mean()
        if torch.isnan(loss):
            skipped += 1
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return skipped, losses, m

# %% [15] relu keeps NaN
# in: 4
def f(x):
    x = x.clone()
    x[1] = float("nan")
    return F.relu(x), torch.relu(x), x.relu()

# %% [15] clamp keeps NaN
# in: 4
def f(x):
    x = x.clone()
    x[1] = float("nan")
    return x.clamp(-1, 1), x.clamp(min=0), torch.clamp(x, max=0.5), x.clamp_min(0)

# %% [15] max, min, argmax of NaN
# in: 4
def f(x):
    x = x.clone()
    x[2] = float("nan")
    return x.max(), x.min(), x.argmax()

# %% [15] max along a dimension of NaN
# in: 3,4
def f(x):
    x = x.clone()
    x[1, 2] = float("nan")
    return x.max(dim=1)[0], x.min(1).values, x.amax(1)

# %% [15] maximum and minimum of NaN
# in: 4 4
def f(x, y):
    x = x.clone()
    x[1] = float("nan")
    return torch.maximum(x, y), torch.minimum(y, x), torch.max(x, y), torch.min(x, y)

# %% [15] hinge loss of a NaN score
# in: 4
def f(x):
    x = x.clone()
    x[0] = float("nan")
    return F.relu(1.0 - x).mean(), torch.clamp(1 - x, min=0).mean()

# %% [15] raise on a loss that is not finite
def run():
    import math
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    x = data(4, 3)
    x[1, 1] = float("inf")
    x[1, 2] = float("-inf")
    seen = []
    loss = F.cross_entropy(m(x), labels(4, 2))
    if not math.isfinite(loss.item()):
        seen.append("stopped")
    return seen

# %% [15] isnan, isinf, isfinite, any
# in: 4
def f(x):
    x = x.clone()
    x[0] = float("nan")
    x[1] = float("inf")
    return torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.isnan(x).any()

# %% [15] nan_to_num after a division
# in: 4
def f(x):
    y = x / torch.zeros(4)
    z = torch.zeros(4) / torch.zeros(4)
    return torch.nan_to_num(z), torch.nan_to_num(z, nan=1.0), torch.isnan(z).sum(), torch.isinf(y).sum()

# %% [15] assert that activations are not NaN
def run():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
        def forward(self, x):
            h = F.relu(self.fc(x))
            return h.max(dim=1)[0]
    m = fill(Net())
    x = data(2, 3)
    x[0, 0] = float("nan")
    out = m(x)
    return bool(torch.isnan(out).any()), torch.isnan(out)

# %% [15] nan check of gradients before the step
def run():
    m = fill(nn.Sequential(nn.Linear(3, 1), nn.ReLU()))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    skipped = 0
    for i in range(3):
        x = data(4, 3, seed=i)
        if i == 1:
            x[0] = float("nan")
        opt.zero_grad()
        loss = m(x).sum()
        loss.backward()
        if any(torch.isnan(p.grad).any() for p in m.parameters()):
            skipped += 1
            continue
        opt.step()
    return skipped, m

# %% [15] the best score with NaN
def run():
    best = -float("inf")
    for v in [0.5, float("nan"), 0.7]:
        s = torch.tensor(v)
        if s > best:
            best = s.item()
    return best, torch.tensor([1.0, float("nan")]).max().item()

# %% [15] max pooling of NaN
# in: 1,1,4,4
def f(x):
    x = x.clone()
    x[0, 0, 1, 1] = float("nan")
    return F.max_pool2d(x, 2), F.adaptive_max_pool2d(x, 1)

# %% [15] leaky relu, elu, relu6, hardtanh of NaN
# in: 4
def f(x):
    x = x.clone()
    x[0] = float("nan")
    return F.leaky_relu(x, 0.1), F.elu(x), F.relu6(x), F.hardtanh(x)

# %% [15] nn.ReLU layers of NaN
def run():
    m = nn.Sequential(nn.ReLU(), nn.ReLU6())
    x = data(4)
    x[2] = float("nan")
    return m(x), nn.Hardtanh()(x), nn.LeakyReLU()(x)

# %% [15] NaN in logits: softmax and cross entropy
# in: 3,4
def f(x):
    x = x.clone()
    x[1, 1] = float("nan")
    return x.softmax(1), torch.isnan(F.cross_entropy(x, torch.tensor([0, 1, 2])))

# %% [15] a contrastive loss with the diagonal masked by -inf
def run():
    net = fill(nn.Linear(4, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for i in range(2):
        z = F.normalize(net(data(4, 4, seed=i)), dim=1)
        scores = (z @ z.t() / 0.5).masked_fill(torch.eye(4, dtype=torch.bool), float("-inf"))
        loss = F.cross_entropy(scores, torch.tensor([1, 0, 3, 2]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses, net

# %% [15] losses of masked logits with weights, ignored classes and axes
import math

def run():
    x, y = data(3, 4, 5), labels((3, 5), 4)
    x[0, (y[0, 0] + 1) % 4, 0] = -math.inf
    y[1, 1] = 2
    w = torch.tensor([0.1, 0.2, 0.3, 0.4])
    crit, logs = nn.CrossEntropyLoss(weight=w, ignore_index=2), F.log_softmax(x, 1)
    return crit(x, y), F.nll_loss(logs, y), nn.NLLLoss(reduction="sum")(logs, y), F.cross_entropy(x, y, reduction="none")

# %% [15] next tokens of a causal model
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.head = nn.Embedding(6, 4), nn.Linear(4, 6)

    def forward(self, ids, targets):
        logits = self.head(self.emb(ids))
        logits[..., 0] = -float("inf")
        return F.cross_entropy(logits.view(-1, 6), targets.view(-1))

def run():
    m = fill(Model())
    loss = m(labels((2, 5), 6), labels((2, 5), 5) + 1)
    loss.backward()
    return loss, m.head.weight.grad


# %% [15] a row of which all is masked
# in: 2,3,3 2,3:int64:0:2; grad
def f(s, m):
    s = s.masked_fill(m[:, None, :] == 0, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1))


# %% [15] masked rows by a layer, in a program that does not look for NaN
def run():
    x = data(3, 4)
    x[0] = float("-inf")
    x[1, 2] = -np.inf
    return nn.Softmax(dim=-1)(x), F.log_softmax(x, -1), torch.logsumexp(x, dim=1), x.softmax(0)


# %% [15] attention with a padded sentence
def run():
    q = data(2, 3, 4)
    mask = torch.tensor([[[True, True, False]], [[False, False, False]]])
    m = fill(nn.MultiheadAttention(4, 2, batch_first=True))
    out, _ = m(q, q, q, key_padding_mask=~mask[:, 0])
    return F.scaled_dot_product_attention(q, q, q, attn_mask=mask), out


# %% [15] forward algorithm with impossible states
def run():
    alpha = torch.tensor([0.0, float("-inf"), float("-inf")])
    trans = data(3, 3)
    trans[2] = float("-inf")
    for _ in range(2):
        alpha = torch.logsumexp(alpha[None, :] + trans, dim=-1)
    return alpha, alpha.logsumexp(0)


# %% [15] the largest of a group, from minus infinity on
def run():
    idx = torch.tensor([0, 2, 0, 1])
    src = data(4)
    a = torch.full((4,), float("-inf")).scatter_reduce(0, idx, src, reduce="amax")
    b = torch.full((4,), float("inf")).scatter_reduce(0, idx, src, "amin", include_self=True)
    return a, b, (src - a[idx]).exp()


# %% [15] left padding beside a causal mask
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(4, 2, batch_first=True, kdim=3, vdim=3)

    def forward(self, x, y, pad):
        T = x.size(1)
        causal = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
        out, w = self.attn(x, y, y, key_padding_mask=pad, attn_mask=causal)
        return torch.nan_to_num(out), w

def run():
    net = fill(Net())
    pad = torch.tensor([[True, False, False], [False, False, False]])
    out, w = net(data(2, 3, 4), data(2, 3, 3, seed=4), pad)
    return out.detach(), w.detach()

# %% [15] sorted, selected and middle values with NaN
def run():
    x = torch.tensor([[1.0, float("nan"), 3.0, 2.0], [0.5, 0.2, 0.9, 0.1]])
    v, i = x.sort(dim=1)
    t, j = torch.topk(x, 2)
    bad = torch.isnan(t).any(1)
    return v, i, t, j, bad, x.median(), x.median(dim=1)[0], x.argsort(1, descending=True)[:, 0]

# %% [15] activations that must not lose NaN
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Softplus()

    def forward(self, x):
        return self.act(x), F.softplus(x), F.selu(x), F.hardshrink(x), F.threshold(x, 0.1, -1.0)

def run():
    outs = Net()(torch.tensor([1.0, np.nan, -2.0]))
    return outs, [bool((o != o).any()) for o in outs]

# %% [15] a loss that compares itself with itself
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    skipped = 0
    for i in range(3):
        x = data(4, 3, seed=i)
        if i == 1:
            x = x / 0.0 * 0.0
        loss = F.relu(m(x)).clamp(max=5).mean()
        if (loss != loss).item():
            skipped += 1
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
    return skipped, m

# %% [15] squashed actions and their log probabilities
# in: 4,3 4,3
def f(mean, noise):
    x = mean + 3 * noise
    y = torch.tanh(x)
    logp = -0.5 * noise.pow(2) - torch.log(0.5 * (1 - y.pow(2)) + 1e-6)
    return y, logp.sum(-1), noise.mul(4).tanh()

# %% [15] tanh undone
# in: 40
def f(x):
    y = (x * 4).tanh().clamp(-1, 1)
    return torch.atanh(y * 0.999), torch.isfinite(torch.log1p(-F.tanh(x * 4).abs() + 1e-6))
