# %% [1, 11] BYOL's momentum encoder
import copy

class BYOL:
    def __init__(self, net):
        self.online = net
        self.target = copy.deepcopy(net)
        for p in self.target.parameters():
            p.requires_grad = False

    def update(self, m):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = t.data * m + o.data * (1.0 - m)

def run():
    b = BYOL(fill(nn.Linear(3, 2)))
    with torch.no_grad():
        for p in b.online.parameters():
            p.add_(1.0)
    b.update(0.9)
    return [p for p in b.target.parameters()]

# %% [1] polyak averaging with mul_ and add_
def run():
    net, target = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=9)
    with torch.no_grad():
        for p, t in zip(net.parameters(), target.parameters()):
            t.data.mul_(0.9)
            t.data.add_(0.1 * p.data)
    return target

# %% [1] weight clipping of a critic by index
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))
    m[0].weight.data.clamp_(-0.1, 0.1)
    m[1].bias.data.fill_(0)
    return m

# %% [1] orthogonal regularisation by hand
def run():
    m = fill(nn.Linear(3, 3))
    with torch.no_grad():
        w = m.weight
        w.copy_(w / w.norm(dim=1, keepdim=True))
    return m

# %% [3] value clipping before the norm
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i) * 3).pow(2).sum().backward()
        nn.utils.clip_grad_value_(m.parameters(), 0.5)
        nn.utils.clip_grad_norm_(m.parameters(), 0.3)
        opt.step()
    return m

# %% [4] a frozen embedding with weight decay
def run():
    e, h = fill(nn.Embedding(4, 3)), fill(nn.Linear(3, 1))
    e.weight.requires_grad_(False)
    opt = torch.optim.SGD([p for p in [*e.parameters(), *h.parameters()] if p.requires_grad], lr=0.1, weight_decay=0.5)
    for _ in range(2):
        opt.zero_grad()
        h(e(torch.tensor([0, 1]))).pow(2).mean().backward()
        opt.step()
    return e.weight, h

# %% [6] predictions kept for the epoch's metric
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    preds, total = [], 0.0
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        out = m(x)
        preds.append(out.argmax(1))
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    return torch.cat(preds), total

# %% [6] running accuracy under no_grad after the step
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    right = 0
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        out = m(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            right += (out.max(1)[1] == y).sum().item()
    return right, m

# %% [8] a U-Net style model in a factory by name
MODELS = {"bn": lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), "ln": lambda: nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))}

def run():
    return [fill(MODELS[k]())(data(4, 3)) for k in ("bn", "ln")]

# %% [8] an ensemble of models
def run():
    models = nn.ModuleList([fill(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), seed=i) for i in range(2)])
    return torch.stack([m(data(4, 3)) for m in models]).mean(0), models[0].training

# %% [8] dropout only in training mode
class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, p=0.5, training=self.training)

def run():
    m = Net()
    y = m(torch.ones(100))
    m.eval()
    return bool((y == 0).any()), m(torch.ones(4))

# %% [11] a feature bank filled by slices
class Bank:
    def __init__(self, n, d):
        self.feats = torch.zeros(n, d)
        self.ptr = 0

    def push(self, x):
        n = len(x)
        self.feats[self.ptr:self.ptr + n] = x
        self.ptr = (self.ptr + n) % len(self.feats)

def run():
    b = Bank(4, 2)
    view = b.feats
    b.push(data(2, 2))
    b.push(data(2, 2, seed=3))
    return b.feats, view, b.ptr

# %% [11] a confusion matrix updated in place
def update(mat, pred, true):
    for p, t in zip(pred, true):
        mat[t.long(), p.long()] += 1

def run():
    mat = torch.zeros(3, 3)
    update(mat, labels(6, 3), labels(6, 3, seed=5))
    return mat, mat.diag().sum() / mat.sum()

# %% [11] the mask changed after it was stored
def run():
    mask = torch.ones(3)
    cfg = {"mask": mask}
    mask[1] = 0
    return cfg["mask"], data(3) * cfg["mask"]

# %% [2] pseudo labels from the model itself
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(2):
        x = data(4, 3, seed=i)
        with torch.no_grad():
            probs = m(x).softmax(1)
            conf, pseudo = probs.max(1)
            keep = conf > 0.5
        loss = (F.cross_entropy(m(x), pseudo, reduction="none") * keep.float()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log

# %% [2] a frozen backbone by no_grad in forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        with torch.no_grad():
            f = torch.relu(self.backbone(x))
        return self.head(f)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [5] features up to a named layer
def run():
    net = fill(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2)))
    feats = []
    x = data(1, 1, 5, 5)
    for name, layer in net.named_children():
        x = layer(x)
        if name in ("1", "3"):
            feats.append(x)
    return feats, x

# %% [7] gumbel temperature on a schedule
class Gumbel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tau = 1.0

    def forward(self, logits):
        return F.softmax(logits / self.tau, dim=-1)

def run():
    g = Gumbel()
    out = []
    for t in range(3):
        g.tau = max(0.1, 1.0 - 0.4 * t)
        out.append(g(data(2, 3)))
    return out

# %% [9] keypoint scores gathered per instance
def run():
    heat = data(2, 3, 4, 5)
    pts = torch.tensor([[1, 2], [0, 3]])
    out = []
    for i, (y, x) in enumerate(pts):
        out.append(heat[i, :, y, x])
    idx = torch.tensor([0, 2])
    return torch.stack(out), heat[1, :, idx, 0], heat[:, 0, idx]

# %% [9] write of a diagonal block for one sample
def run():
    x = torch.zeros(2, 3, 3)
    idx = torch.arange(3)
    for b in range(2):
        x[b, idx, idx] = float(b + 1)
        x[b, :, idx[:1]] += 1
    return x

# %% [12] SWA by state dicts
def run():
    nets = [fill(nn.Linear(3, 2), seed=i) for i in range(3)]
    avg = {k: torch.zeros_like(v) for k, v in nets[0].state_dict().items()}
    for n in nets:
        for k, v in n.state_dict().items():
            avg[k] += v / len(nets)
    m = nn.Linear(3, 2)
    m.load_state_dict(avg)
    return m

# %% [12] federated averaging
import copy

def fedavg(states):
    out = copy.deepcopy(states[0])
    for k in out.keys():
        for s in states[1:]:
            out[k] += s[k]
        out[k] = torch.div(out[k], len(states))
    return out

def run():
    nets = [fill(nn.Linear(3, 2), seed=i) for i in range(3)]
    m = nn.Linear(3, 2)
    m.load_state_dict(fedavg([n.state_dict() for n in nets]))
    return m, nets[0]

# %% [14] CycleGAN-like shared generator loss
def run():
    A, B = fill(nn.Linear(2, 2)), fill(nn.Linear(2, 2), seed=3)
    D = fill(nn.Linear(2, 1), seed=5)
    og = torch.optim.SGD([*A.parameters(), *B.parameters()], lr=0.1)
    od = torch.optim.SGD(D.parameters(), lr=0.1)
    for i in range(2):
        x = data(4, 2, seed=i)
        fake = A(x)
        rec = B(fake)
        lg = F.l1_loss(rec, x) + F.mse_loss(D(fake), torch.ones(4, 1))
        og.zero_grad()
        lg.backward()
        og.step()
        od.zero_grad()
        ld = F.mse_loss(D(fake.detach()), torch.zeros(4, 1)) + F.mse_loss(D(x), torch.ones(4, 1))
        ld.backward()
        od.step()
    return A, B, D

# %% [16] a histogram accumulated in integers
def run():
    hist = torch.zeros(4, dtype=torch.long)
    for i in range(3):
        hist += torch.bincount(labels(5, 4, seed=i), minlength=4)
    return hist, hist.float() / hist.sum()

# %% [16] time steps as floats
def run():
    t = torch.arange(4)
    half = 2
    freqs = torch.exp(-np.log(10000.0) * torch.arange(half).float() / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.sin(), args.cos()], dim=-1)

# %% [21] a gated block with optional inputs
class Block(nn.Module):
    def __init__(self, gate=True):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.gate = nn.Linear(3, 3) if gate else None

    def forward(self, x, skip=None):
        y = self.fc(x)
        if self.gate is not None:
            y = y * torch.sigmoid(self.gate(x))
        if skip is not None:
            y = y + skip
        return y

def run():
    return fill(Block())(data(2, 3)), fill(Block(False))(data(2, 3), data(2, 3, seed=4))

# %% [21] dense connections gathered in a list
class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2 + 2 * i, 2) for i in range(3)])

    def forward(self, x):
        feats = [x]
        for l in self.layers:
            feats.append(torch.relu(l(torch.cat(feats, 1))))
        return torch.cat(feats, 1)

def run():
    m = fill(Dense())
    y = m(data(2, 2))
    y.sum().backward()
    return y.detach(), m.layers[0].weight.grad

# %% [0] label smoothing by hand
def run():
    x, y = data(4, 3), labels(4, 3)
    logp = F.log_softmax(x, dim=-1)
    nll = -logp.gather(dim=-1, index=y.unsqueeze(1)).squeeze(1)
    return (0.9 * nll + 0.1 * -logp.mean(dim=-1)).mean()

# %% [0] focal loss
def run():
    x, y = data(6), (data(6, seed=2) > 0).float()
    bce = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    pt = torch.exp(-bce)
    return (0.25 * (1 - pt) ** 2 * bce).mean()

# %% [0] dice loss
def run():
    p, t = data(2, 1, 4, 4).sigmoid(), (data(2, 1, 4, 4, seed=3) > 0).float()
    inter = (p * t).sum(dim=(1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)).mean()

# %% [0] triplet loss with hard mining
def run():
    x, y = F.normalize(data(6, 3), dim=1), torch.tensor([0, 0, 1, 1, 2, 2])
    d = torch.cdist(x, x)
    same = y[:, None] == y[None, :]
    pos = (d * same.float()).max(1)[0]
    neg = (d + same.float() * 1e3).min(1)[0]
    return F.relu(pos - neg + 0.2).mean()

# %% [0] NT-Xent
def run():
    z = F.normalize(torch.cat([data(3, 4), data(3, 4, seed=2)]), dim=1)
    sim = z @ z.t() / 0.5
    sim.fill_diagonal_(-1e9)
    target = torch.cat([torch.arange(3) + 3, torch.arange(3)])
    return F.cross_entropy(sim, target)

# %% [0] discounted returns
def run():
    rewards, R, out = [1.0, 0.0, 2.0], 0, []
    for r in rewards[::-1]:
        R = r + 0.9 * R
        out.insert(0, R)
    t = torch.tensor(out)
    return (t - t.mean()) / (t.std() + 1e-8)

# %% [0] DQN's temporal difference
def run():
    q, target = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=4)
    opt = torch.optim.Adam(q.parameters(), lr=0.05)
    for i in range(3):
        s, s2 = data(4, 3, seed=i), data(4, 3, seed=i + 7)
        a, r = labels(4, 2, seed=i), data(4, seed=i)
        cur = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            nxt = target(s2).max(1)[0]
        loss = F.smooth_l1_loss(cur, r + 0.9 * nxt)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return q

# %% [0] PPO's clipped objective
def run():
    pi = fill(nn.Linear(3, 2))
    opt = torch.optim.Adam(pi.parameters(), lr=0.05)
    s, a, adv = data(4, 3), labels(4, 2), data(4, seed=3)
    old = F.log_softmax(pi(s), 1).gather(1, a[:, None]).squeeze(1).detach()
    for _ in range(3):
        new = F.log_softmax(pi(s), 1).gather(1, a[:, None]).squeeze(1)
        ratio = torch.exp(new - old)
        loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return pi

# %% [0] a diffusion step
def run():
    net = fill(nn.Linear(3, 2))
    opt = torch.optim.AdamW(net.parameters(), lr=0.01)
    betas = torch.linspace(1e-4, 0.02, 10)
    ac = torch.cumprod(1 - betas, dim=0)
    for i in range(2):
        x, noise = data(4, 2, seed=i), data(4, 2, seed=i + 3)
        t = labels(4, 10, seed=i)
        xt = ac[t].sqrt()[:, None] * x + (1 - ac[t]).sqrt()[:, None] * noise
        loss = F.mse_loss(net(torch.cat([xt, t[:, None].float() / 10], 1)), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net

# %% [0] mixup
def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        lam, idx = 0.3, torch.tensor([3, 2, 1, 0])
        out = m(lam * x + (1 - lam) * x[idx])
        loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return m

# %% [0] beam search over a table
def run():
    logp = F.log_softmax(data(4, 5), dim=-1)
    beams = [([], 0.0)]
    for t in range(4):
        cand = []
        for seq, score in beams:
            top = logp[t].topk(2)
            for v, i in zip(top.values.tolist(), top.indices.tolist()):
                cand.append((seq + [i], score + v))
        beams = sorted(cand, key=lambda c: -c[1])[:2]
    return beams

# %% [0] greedy decoding until the end token
def run():
    emb, rnn, out = fill(nn.Embedding(5, 3)), fill(nn.GRUCell(3, 3)), fill(nn.Linear(3, 5))
    h, tok, seq = torch.zeros(1, 3), torch.tensor([1]), []
    for _ in range(6):
        h = rnn(emb(tok), h)
        tok = out(h).argmax(-1)
        if tok.item() == 0:
            break
        seq.append(tok.item())
    return seq, h

# %% [0] box IoU by hand
def run():
    a = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0]])
    b = torch.tensor([[1.0, 1.0, 2.0, 2.0]])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter)

# %% [0] gram matrix of style transfer
def run():
    f = data(1, 3, 4, 4)
    b, c, h, w = f.size()
    g = f.view(b, c, h * w)
    return torch.bmm(g, g.transpose(1, 2)) / (c * h * w)

# %% [0] total variation of an image
# in: 1,3,5,5 ; grad
def f(x):
    return (x[:, :, 1:, :] - x[:, :, :-1, :]).abs() [:, :, :, :4] + (x[:, :, :, 1:] - x[:, :, :, :-1]).abs()[:, :, :4]

# %% [0] relative position index
def run():
    n = 3
    coords = torch.stack(torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")).flatten(1)
    rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
    rel[:, :, 0] += n - 1
    rel[:, :, 1] += n - 1
    rel[:, :, 0] *= 2 * n - 1
    return rel.sum(-1)

# %% [0] windows of a Swin block
def run():
    x = data(1, 4, 4, 2)
    B, H, W, C = x.shape
    w = x.view(B, H // 2, 2, W // 2, 2, C).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, 2, 2, C)
    return w, torch.roll(x, shifts=(-1, -1), dims=(1, 2))

# %% [0] rotary embeddings
def run():
    x = data(1, 3, 4)
    x1, x2 = x[..., ::2], x[..., 1::2]
    rot = torch.stack((-x2, x1), dim=-1).flatten(-2)
    freqs = torch.outer(torch.arange(3).float(), 1.0 / (100 ** (torch.arange(0, 4, 2).float() / 4)))
    emb = freqs.repeat_interleave(2, -1)
    return x * emb.cos() + rot * emb.sin()

# %% [16] dtypes by names of Python, and a mask of them
class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature
        self.criterion = nn.CrossEntropyLoss(reduction="sum")
        self.similarity = nn.CosineSimilarity(dim=2)

    def mask(self, n):
        N = 2 * n
        m = torch.ones((N, N), dtype=bool)
        m = m.fill_diagonal_(0)
        for i in range(n):
            m[i, n + i] = 0
            m[n + i, i] = 0
        return m

    def forward(self, z_i, z_j):
        n = z_i.shape[0]
        N = 2 * n
        z = torch.cat((z_i, z_j), dim=0)
        sim = self.similarity(z.unsqueeze(1), z.unsqueeze(0)) / self.temperature
        pos = torch.cat((torch.diag(sim, n), torch.diag(sim, -n)), dim=0).reshape(N, 1)
        neg = sim[self.mask(n)].reshape(N, -1)
        labels = torch.zeros(N).long()
        logits = torch.cat((pos, neg), dim=1)
        return self.criterion(logits, labels) / N


def run():
    net = fill(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)))
    crit = NTXent()
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6, eta_min=0, last_epoch=-1)
    log = []
    for e in range(4):
        x = data(4, 5, seed=e)
        opt.zero_grad()
        loss = crit(net(x), net(x + 0.05 * data(4, 5, seed=60)))
        loss.backward()
        opt.step()
        sched.step()
        log.append((loss.item(), sched.get_last_lr()[0]))
    return log, net

# %% [0] layers by names that stand in another file
from registry import MODELS, LOSSES, build_from_cfg
import zoo_models  # noqa: F401

CFG = dict(
    model=dict(type="MLP", dims=[4, 8, 3], act="ReLU"),
    loss=dict(type="Focal", gamma=2.0),
    optimizer=dict(type="SGD", lr=0.1, momentum=0.9, nesterov=True),
    scheduler=dict(type="StepLR", step_size=2, gamma=0.5),
)


def run():
    model = fill(build_from_cfg(CFG["model"], MODELS))
    criterion = build_from_cfg(CFG["loss"], LOSSES)
    o = dict(CFG["optimizer"])
    opt = getattr(torch.optim, o.pop("type"))(model.parameters(), **o)
    s = dict(CFG["scheduler"])
    sched = getattr(torch.optim.lr_scheduler, s.pop("type"))(opt, **s)
    log = []
    for i in range(5):
        loss = criterion(model(data(6, 4, seed=i)), labels(6, 3, seed=i))
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        log.append((loss.item(), opt.param_groups[0]["lr"]))
    return log, model
# --- registry.py
class Registry:
    def __init__(self, name):
        self.name = name
        self._d = {}

    def register(self, cls=None):
        def deco(c):
            self._d[c.__name__] = c
            return c
        return deco(cls) if cls is not None else deco

    def get(self, key):
        return self._d[key]


MODELS, LOSSES = Registry("models"), Registry("losses")


def build_from_cfg(cfg, registry):
    args = cfg.copy()
    return registry.get(args.pop("type"))(**args)
# --- zoo_models.py
from registry import MODELS, LOSSES


@MODELS.register()
class MLP(nn.Module):
    def __init__(self, dims, act):
        super().__init__()
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), getattr(nn, act)()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.net(x)


@LOSSES.register()
class Focal(nn.Module):
    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, y):
        ce = F.cross_entropy(logits, y, reduction="none")
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()
