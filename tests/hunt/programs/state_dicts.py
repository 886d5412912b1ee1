# %% [12] zero_ on an entry of state_dict
def run():
    m = fill(nn.Linear(3, 2))
    m.state_dict()["weight"].zero_()
    return m

# %% [12] copy_ into the entries
def run():
    m, n = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=5)
    sd = m.state_dict()
    for k, v in n.state_dict().items():
        sd[k].copy_(v)
    return m

# %% [12] an entry scaled by an operator
def run():
    m = fill(nn.Linear(3, 2))
    sd = m.state_dict()
    sd["bias"] += 1
    sd["weight"].mul_(0.5)
    return m

# %% [12] an entry written by item
def run():
    m = fill(nn.Linear(3, 2))
    sd = m.state_dict()
    sd["weight"][0] = 0
    sd["bias"][:] = 7
    return m

# %% [12] EMA over two state dicts
def run():
    m, ema = fill(nn.Linear(3, 2)), fill(nn.Linear(3, 2), seed=5)
    msd = m.state_dict()
    with torch.no_grad():
        for k, v in ema.state_dict().items():
            v.mul_(0.9).add_(msd[k], alpha=0.1)
    return ema

# %% [12] a changed copy is loaded
def run():
    m = fill(nn.Linear(3, 2))
    sd = {k: v.clone() * 2 for k, v in m.state_dict().items()}
    m.load_state_dict(sd)
    return m, list(sd)

# %% [12] YOLO's ModelEMA
import copy, math

class ModelEMA:
    def __init__(self, model, decay=0.99):
        self.ema = copy.deepcopy(model).eval()
        self.updates = 0
        self.decay = lambda x: decay * (1 - math.exp(-x / 2000))
        for p in self.ema.parameters():
            p.requires_grad_(False)

    def update(self, model):
        with torch.no_grad():
            self.updates += 1
            d = self.decay(self.updates)
            msd = model.state_dict()
            for k, v in self.ema.state_dict().items():
                if v.dtype.is_floating_point:
                    v *= d
                    v += (1.0 - d) * msd[k].detach()

def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    e = ModelEMA(m)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
        e.update(m)
    return [p for p in e.ema.parameters()], e.updates

# %% [12] best weights kept by reference
def run():
    m = fill(nn.Linear(3, 1))
    best = m.state_dict()
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    opt.zero_grad()
    m(data(4, 3)).pow(2).mean().backward()
    opt.step()
    m.load_state_dict(best)
    return m

# %% [12] best weights kept by deepcopy
import copy

def run():
    m = fill(nn.Linear(3, 1))
    best = copy.deepcopy(m.state_dict())
    opt = torch.optim.SGD(m.parameters(), lr=0.5)
    opt.zero_grad()
    m(data(4, 3)).pow(2).mean().backward()
    opt.step()
    changed = [p.clone() for p in m.parameters()]
    m.load_state_dict(best)
    return m, changed

# %% [12] prefixes stripped and loaded
def run():
    m = fill(nn.Linear(3, 1))
    sd = {"module." + k: v for k, v in m.state_dict().items()}
    new = {k.replace("module.", ""): v for k, v in sd.items()}
    n = fill(nn.Linear(3, 1), seed=9)
    n.load_state_dict(new)
    return n, list(sd)

# %% [25] load_state_dict(strict=False).missing_keys
def run():
    m = fill(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))
    sd = {k: v for k, v in m.state_dict().items() if not k.startswith("1")}
    sd["extra"] = torch.zeros(1)
    result = m.load_state_dict(sd, strict=False)
    return list(result.missing_keys), list(result.unexpected_keys)

# %% [25] missing and unexpected unpacked
def run():
    m = fill(nn.Linear(3, 2))
    missing, unexpected = m.load_state_dict({"weight": torch.zeros(2, 3)}, strict=False)
    return missing, unexpected, m

# %% [25] a strict load that fails
# raises
def run():
    m = nn.Linear(3, 2)
    m.load_state_dict({"weight": torch.zeros(2, 3)})
    return m

# %% [25] a wrong shape fails
# raises
def run():
    m = nn.Linear(3, 2)
    m.load_state_dict({"weight": torch.zeros(2, 4), "bias": torch.zeros(2)})
    return m

# %% [25] an overridden _load_from_state_dict
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def _load_from_state_dict(self, state_dict, prefix, *args, **kwargs):
        old = prefix + "linear.weight"
        if old in state_dict:
            state_dict[prefix + "fc.weight"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

def run():
    m = fill(Net())
    sd = dict(m.state_dict())
    sd["linear.weight"] = sd.pop("fc.weight") * 2
    m.load_state_dict(sd)
    return m

# %% [0] names and order of parameters
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)
        self.emb = nn.Embedding(3, 2)
        self.ln = nn.LayerNorm(2)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.bn(self.conv(x)) * self.gate

def run():
    m = Net()
    return [n for n, _ in m.named_parameters()], [n for n, _ in m.named_modules()], [n for n, _ in m.named_children()], [tuple(p.shape) for p in m.parameters()]

# %% [0] keys of state_dict
def run():
    m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Linear(2, 2))
    keys = [k for k in m.state_dict() if "num_batches" not in k]
    return keys

# %% [0] number of parameters
def run():
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2, bias=False))
    return sum(p.numel() for p in m.parameters()), sum(p.numel() for p in m.parameters() if p.requires_grad)

# %% [0] LSTM's names
def run():
    m = nn.LSTM(2, 3, num_layers=2, bidirectional=True)
    return [(n, tuple(p.shape)) for n, p in m.named_parameters()]

# %% [0] MultiheadAttention's and TransformerEncoderLayer's names
def run():
    m = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8)
    return [(n, tuple(p.shape)) for n, p in m.named_parameters()]

# %% [0] optimizer state saved and restored
def run():
    m = fill(nn.Linear(3, 1))
    opt = torch.optim.Adam(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    state = opt.state_dict()
    other = torch.optim.Adam(m.parameters(), lr=0.5)
    other.load_state_dict(state)
    other.zero_grad()
    m(data(4, 3, seed=4)).pow(2).mean().backward()
    other.step()
    return m, other.param_groups[0]["lr"]

# %% [25] half after load_state_dict
def run():
    m = fill(nn.Linear(3, 2))
    n = nn.Linear(3, 2)
    n.load_state_dict(m.state_dict())
    n.half()
    return n.weight.dtype, [p.dtype for p in n.parameters()]

# %% [25] module.double()
def run():
    m = fill(nn.Linear(3, 2)).double()
    return m(data(2, 3).double()), m.weight.dtype

# %% [25] module.float() and to(dtype)
def run():
    m = fill(nn.Linear(3, 2))
    m = m.to(torch.float64)
    a = m(data(2, 3).double())
    m = m.float()
    return a, m(data(2, 3)), next(m.parameters()).dtype

# %% [25] networks in double precision, trained by SGD and Adam
def run():
    out = []
    for kind in ("sgd", "adam", "nesterov"):
        m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))).double()
        if kind == "adam":
            opt = torch.optim.Adam(m.parameters(), lr=0.1)
        else:
            opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=kind == "nesterov", weight_decay=0.01)
        for i in range(3):
            opt.zero_grad()
            loss = m(data(4, 3, seed=i).double()).pow(2).mean()
            loss.backward()
            opt.step()
        out.append((loss.item(), m, m[0].weight.dtype))
    return out

# %% [25] a nested module that renames its entries on loading
class Block(nn.Module):
    _version = 2

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for k in list(state_dict.keys()):
            if k.startswith(prefix + "fc."):
                state_dict[k.replace(prefix + "fc.", prefix + "proj.")] = state_dict.pop(k)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

def run():
    m = fill(Net())
    sd = {k.replace("proj", "fc"): v + 1 for k, v in m.state_dict().items()}
    m.load_state_dict(sd)
    return m


# %% [12] the text of a state dict that does not fit
def run():
    src = fill(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3)))
    sd = src.state_dict()
    sd.pop("1.weight")
    sd["extra"] = torch.zeros(1)
    dst = fill(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3)), 5)
    found = []
    for given in (sd, {"0.weight": torch.zeros(3, 2)}):
        try:
            dst.load_state_dict(given)
        except RuntimeError as e:
            found.append(str(e))
    try:
        fill(nn.Linear(2, 1)).load_state_dict({"weight": torch.zeros(1, 3)}, strict=False)
    except RuntimeError as e:
        found.append("size mismatch" in str(e) and str(e))
    return found, dst[0].weight

# %% [12] a one-dimensional convolution loaded from arrays
def run():
    rng = np.random.default_rng(3)
    m = nn.Sequential(nn.Conv1d(2, 3, 3), nn.ReLU(), nn.Conv1d(3, 2, 1))
    state = {
        "0.weight": torch.tensor(rng.standard_normal((3, 2, 3)).astype("float32")),
        "0.bias": torch.zeros(3),
        "2.weight": torch.tensor(rng.standard_normal((2, 3, 1)).astype("float32")),
        "2.bias": torch.ones(2),
    }
    m.load_state_dict(state)
    return m(data(2, 2, 6))

# %% [12] loading part of a pretrained state dict
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU())
        self.fc = nn.Linear(2, n)

    def forward(self, x):
        return self.fc(self.features(x).mean([2, 3]))

def run():
    src = fill(Net(5))
    dst = fill(Net(3), 4)
    sd = src.state_dict()
    own = dst.state_dict()
    pre = {k: v for k, v in sd.items() if k in own and v.shape == own[k].shape}
    own.update(pre)
    dst.load_state_dict(own)
    r = dst.load_state_dict({"module." + k: v for k, v in pre.items()}, strict=False)
    return sorted(pre), dst, list(r.missing_keys), len(r.unexpected_keys), [tuple(v.shape) for v in own.values()]

# %% [11] flattening parameters to a vector and back
from torch.nn.utils import parameters_to_vector, vector_to_parameters

def flat_grad(ps):
    return torch.cat([p.grad.view(-1) for p in ps])

def run():
    m = fill(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)))
    m(data(4, 2)).pow(2).mean().backward()
    v = parameters_to_vector(m.parameters())
    g = flat_grad(list(m.parameters()))
    old = v.clone().detach()
    vector_to_parameters(v - 0.1 * g, m.parameters())
    new = parameters_to_vector(m.parameters())
    i = 0
    for p in m.parameters():
        n = p.numel()
        p.data.copy_(old[i:i + n].view_as(p))
        i += n
    return g, new.detach(), m

# %% [12, 17] weights of one-dimensional convolutions, listed with their shapes
class Tcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv1d(2, 3, 3, stride=2), nn.BatchNorm1d(3), nn.ReLU())
        self.up = nn.ConvTranspose1d(3, 2, 2, stride=2)

    def forward(self, x):
        return self.up(self.down(x))

def run():
    net = fill(Tcn())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(data(2, 2, 9)).pow(2).mean()
    loss.backward()
    opt.step()
    for name, p in net.named_parameters():
        print(name, tuple(p.shape), p.dim())
    shapes = {k: list(v.shape) for k, v in net.state_dict().items()}
    other = Tcn()
    other.load_state_dict({k: v for k, v in net.state_dict().items()})
    return shapes, [p.detach() for p in net.parameters()], other.state_dict()["up.weight"]

# %% [12] old names of a checkpoint, kept where the shapes agree
class New(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3))
        self.fc = nn.Linear(3, 4)

def run():
    rng = np.random.default_rng(0)
    old = {"body.0.weight": torch.tensor(rng.standard_normal((3, 2, 3)).astype("float32")),
           "body.0.bias": torch.zeros(3), "head.weight": torch.ones(2, 3)}
    net = New()
    own = net.state_dict()
    kept = {}
    for k, v in old.items():
        k = k.replace("body.", "backbone.").replace("head.", "fc.")
        if k in own and v.shape == own[k].shape:
            kept[k] = v
    result = net.load_state_dict(kept, strict=False)
    net.eval()
    return sorted(kept), sorted(result.missing_keys), net.backbone(data(2, 2, 5))

# %% [12, 17] the state of a norm, returned
def run():
    m = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2))
    fill(m)
    m(data(2, 1, 5, 5))
    return m.state_dict()

# %% [12, 17] a snapshot of a model by a function
def snapshot(model):
    return model.state_dict()

def run():
    m = fill(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    m(data(4, 2))
    m(data(4, 2, seed=3))
    return {k: tuple(v.shape) for k, v in snapshot(m).items()}, [*m.state_dict()]

# %% [12, 17] the state mapped and filtered
def run():
    m = fill(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2)))
    m(data(4, 3))
    sd = m.state_dict()
    return list(filter(lambda k: "running" in k or "num" in k, sd)), list(map(str.upper, m.state_dict())), list(zip(sd, range(9)))
