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
