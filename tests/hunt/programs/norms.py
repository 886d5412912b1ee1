# %% [19] weight_norm of a Linear
from torch.nn.utils import weight_norm, spectral_norm

def run():
    m = weight_norm(fill(nn.Linear(3, 2)))
    return m(data(2, 3)), [n for n, _ in m.named_parameters()]

# %% [19] weight_norm of a subclass keeps its forward
from torch.nn.utils import weight_norm

class Twice(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2 + 1

def run():
    m = weight_norm(fill(Twice(3, 2)))
    return m(data(2, 3))

# %% [19] spectral_norm of a subclass keeps its forward
from torch.nn.utils import spectral_norm

class SNConv(nn.Conv2d):
    def forward(self, x):
        return F.conv2d(F.pad(x, (1, 1, 1, 1)), self.weight, self.bias) + 3

def run():
    torch.manual_seed(0)
    m = fill(SNConv(2, 2, 3))
    m.eval()
    plain = m(data(1, 2, 4, 4))
    s = spectral_norm(m)
    return plain, s(data(1, 2, 4, 4)).shape, [n for n, _ in s.named_parameters()]

# %% [19] weight_norm of a subclass of Conv1d (causal)
from torch.nn.utils import weight_norm

class CausalConv(nn.Conv1d):
    def __init__(self, i, o, k):
        super().__init__(i, o, k, padding=k - 1)

    def forward(self, x):
        y = super().forward(x)
        return y[:, :, : x.size(2)]

def run():
    m = weight_norm(fill(CausalConv(2, 3, 3)))
    return m(data(1, 2, 5))

# %% [19] weight_norm with dim=None and by name
def run():
    a = nn.utils.weight_norm(fill(nn.Linear(3, 2)), name="weight")
    b = nn.utils.weight_norm(fill(nn.Conv2d(1, 2, 3)), dim=0)
    return a(data(2, 3)), b(data(1, 1, 4, 4)), a.weight_g.shape, b.weight_g.shape

# %% [19] weight_norm in a network that trains
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.utils.weight_norm(nn.Linear(3, 2))

    def forward(self, x):
        return self.fc(x)

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m, [n for n, _ in m.named_parameters()]

# %% [19] remove_weight_norm
def run():
    m = nn.utils.weight_norm(fill(nn.Linear(3, 2)))
    a = m(data(2, 3))
    nn.utils.remove_weight_norm(m)
    return a, m(data(2, 3)), [n for n, _ in m.named_parameters()]

# %% [19] weight_norm applied over modules
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1)))
    for i, l in enumerate(m):
        if isinstance(l, nn.Linear):
            m[i] = nn.utils.weight_norm(l)
    return m(data(2, 3)), [n for n, _ in m.named_parameters()]

# %% [19] a helper with a switch for the norm
def norm(layer, kind):
    if kind == "weight":
        return nn.utils.weight_norm(layer)
    elif kind == "spectral":
        return nn.utils.spectral_norm(layer)
    return layer

def run():
    return norm(fill(nn.Linear(3, 2)), "weight")(data(2, 3)), norm(fill(nn.Linear(3, 2)), "none")(data(2, 3))

# %% [19] parametrizations.weight_norm
from torch.nn.utils.parametrizations import weight_norm

def run():
    m = weight_norm(fill(nn.Linear(3, 2)))
    return m(data(2, 3))

# %% [19] spectral_norm's value after many iterations
def run():
    m = nn.utils.spectral_norm(fill(nn.Linear(4, 4)), n_power_iterations=50)
    m.train()
    for _ in range(3):
        y = m(data(2, 4))
    return y

# %% [0] normalisation layers
def run():
    x = data(2, 4, 3, 3)
    return nn.GroupNorm(2, 4)(x), nn.InstanceNorm2d(4, affine=True)(x), nn.LayerNorm([4, 3, 3])(x), F.normalize(x, dim=1), nn.LocalResponseNorm(2)(x)

# %% [0] norms without weights have no parameters
def run():
    out = []
    for m in (nn.BatchNorm2d(4, affine=False), nn.GroupNorm(2, 4, affine=False), nn.LayerNorm(4, elementwise_affine=False), nn.LayerNorm(4, bias=False), nn.BatchNorm1d(3, affine=False, track_running_stats=False), nn.BatchNorm3d(2, affine=False), nn.BatchNorm1d(3, momentum=None, affine=False)):
        out.append((sum(p.numel() for p in m.parameters()), [n for n, _ in m.named_parameters()], list(m.state_dict()), [n for n, _ in m.named_buffers()]))
    return out

# %% [0] a norm's weight asked for by name and compared with None
def init(m):
    if hasattr(m, "weight") and m.weight is not None:
        nn.init.constant_(m.weight, 0.5)
    if getattr(m, "bias", None) is not None:
        nn.init.constant_(m.bias, 0.25)
    if isinstance(m, nn.BatchNorm1d) and m.weight is None:
        m.eps = 0.1

def run():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.BatchNorm1d(4, affine=False), nn.LayerNorm(4), nn.Linear(4, 2, bias=False), nn.PReLU())
    net.apply(init)
    a, b = nn.BatchNorm1d(2, affine=False), nn.BatchNorm1d(2, track_running_stats=False)
    seen = a.weight is None, a.bias is not None, b.running_mean is None, hasattr(a, "running_var"), hasattr(net[2], "weight"), getattr(net[2], "bias", 3)
    return seen, net(data(5, 3))

# %% [12] a state dict of norms without weights loaded again
def run():
    a = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), nn.LayerNorm(4, elementwise_affine=False)))
    b = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), nn.LayerNorm(4, elementwise_affine=False))
    a(data(5, 3))
    found = b.load_state_dict(a.state_dict())
    b.eval()
    return list(found.missing_keys), list(found.unexpected_keys), b(data(2, 3, seed=4)), len(a.state_dict())


# %% [19] weight_norm of a subclass, trained, printed and removed again
from torch.nn.utils import remove_weight_norm, weight_norm


class Twice(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2 + 1


def run():
    m = weight_norm(fill(Twice(3, 2)))
    a = m(data(2, 3))
    a.sum().backward()
    print(m)
    g = m.weight_g.grad
    remove_weight_norm(m)
    return a.detach(), g, m(data(2, 3)).detach(), [n for n, _ in m.named_parameters()]
