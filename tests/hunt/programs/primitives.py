# %% [5] Sequential of the children without the last
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2, 3)

    def forward(self, x):
        x = self.avgpool(self.conv(x))
        return self.fc(torch.flatten(x, 1))

def run():
    net = fill(Net())
    body = nn.Sequential(*list(net.children())[:-1])
    return body(data(1, 1, 5, 5)), len(list(net.children()))

# %% [5] a hook on the pooling layer
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.avgpool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        return self.avgpool(self.conv(x)).flatten(1)

def run():
    net = fill(Net())
    seen = []
    h = net.avgpool.register_forward_hook(lambda m, i, o: seen.append(o.detach().clone()))
    y = net(data(1, 1, 5, 5))
    h.remove()
    net(data(1, 1, 5, 5))
    return y, seen

# %% [5] the pooling layer is replaced
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(self.avgpool(x).flatten(1))

def run():
    net = fill(Net())
    net.avgpool = nn.AdaptiveMaxPool2d(1)
    return net(data(1, 2, 4, 4)), [n for n, _ in net.named_children()]

# %% [5] names of modules with activations and pools
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flat = nn.Flatten()
        self.drop = nn.Dropout(0.1)
        self.id = nn.Identity()
        self.up = nn.Upsample(scale_factor=2)
        self.sm = nn.Softmax(dim=1)

    def forward(self, x):
        return self.flat(self.pool(self.act(x)))

def run():
    return [n for n, _ in Net().named_modules()], len(list(Net().modules())), Net()(data(1, 2, 3, 3))

# %% [5] pooling set to Identity
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        return self.pool(self.conv(x))

def run():
    n = fill(Net())
    n.pool = nn.Identity()
    return n(data(1, 1, 4, 4)).shape

# %% [5] a model's class imported from another file
from model import Net

def run():
    net = fill(Net())
    feats = nn.Sequential(*list(net.children())[:2])
    return feats(data(1, 1, 4, 4)), [type(c).__name__ == "x" for c in net.children()]
# --- model.py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.gap = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(self.gap(self.conv(x)).view(x.size(0), -1))

# %% [5] isinstance over modules counts pools
def run():
    m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.AdaptiveAvgPool2d(1), nn.ReLU(), nn.MaxPool2d(1))
    return sum(isinstance(l, nn.AdaptiveAvgPool2d) for l in m.modules()), sum(isinstance(l, nn.ReLU) for l in m.modules()), m(data(1, 1, 4, 4)).shape

# %% [5] getattr by name of a pool
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        for name in ["conv", "pool"]:
            x = getattr(self, name)(x)
        return x

def run():
    m = fill(Net())
    return m(data(1, 2, 3, 3)), dict(m.named_children()).keys() == {"pool", "conv"}

# %% [5] feature extraction by _modules
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.relu = nn.ReLU()
        self.pool = nn.AdaptiveAvgPool2d(2)

    def forward(self, x):
        out = {}
        for name, module in self._modules.items():
            x = module(x)
            out[name] = x
        return out

def run():
    return fill(Net())(data(1, 1, 5, 5))

# %% [5] ReLU layers exchanged for others
def swap(m):
    for name, child in m.named_children():
        if isinstance(child, nn.ReLU):
            setattr(m, name, nn.LeakyReLU(0.3))
        else:
            swap(child)

def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 3), nn.ReLU())))
    swap(m)
    return m(data(2, 3))
