# %% [0] a forward hook collects features
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1)))
    feats = {}
    def hook(name):
        def fn(module, inp, out):
            feats[name] = out.detach()
        return fn
    for n, l in m.named_children():
        l.register_forward_hook(hook(n))
    y = m(data(2, 3))
    return y, feats

# %% [21] hooks are called in Graph mode
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

def run():
    m = fill(Net())
    seen = []
    m.a.register_forward_hook(lambda mod, i, o: seen.append(float(o.sum())))
    for i in range(2):
        m(data(2, 3, seed=i))
    return seen

# %% [21] a hook that changes the output
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)))
    m[0].register_forward_hook(lambda mod, i, o: o * 2)
    return m(data(2, 3))

# %% [21] a forward pre-hook
def run():
    m = fill(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)))
    m[1].register_forward_pre_hook(lambda mod, inp: (inp[0] + 1,))
    return m(data(2, 3))

# %% [0] a hook that is removed
def run():
    m = fill(nn.Linear(3, 2))
    calls = []
    h = m.register_forward_hook(lambda mod, i, o: calls.append(1))
    m(data(1, 3))
    h.remove()
    m(data(1, 3))
    return len(calls)

# %% [0] Grad-CAM with a backward hook
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        f = self.conv(x)
        return self.fc(f.mean((2, 3)))

def run():
    m = fill(Net())
    store = {}
    m.conv.register_forward_hook(lambda mod, i, o: store.update(a=o.detach()))
    m.conv.register_full_backward_hook(lambda mod, gi, go: store.update(g=go[0].detach()))
    out = m(data(1, 1, 5, 5))
    out[0, 1].backward()
    return store["a"], store["g"]

# %% [0] a tensor hook scales the gradient
def run():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w.register_hook(lambda g: g * 10)
    (w * w).sum().backward()
    return w.grad

# %% [0] a parameter hook in a training loop
def run():
    m = fill(nn.Linear(3, 1))
    m.weight.register_hook(lambda g: g * 0)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [21] hooks while training
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

def run():
    m = fill(Net())
    seen = []
    m.a.register_forward_hook(lambda mod, i, o: seen.append(o.detach().mean().item()))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(3):
        opt.zero_grad()
        loss = m(data(4, 3, seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
    return seen

# %% [0] apply an initialisation
def init(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        if m.bias is not None:
            m.bias.data.fill_(0.1)
    elif isinstance(m, nn.BatchNorm1d):
        m.weight.data.fill_(2.0)
        m.bias.data.zero_()

def run():
    m = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1, bias=False))
    m.apply(init)
    return m

# %% [21] a list of activations on self
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.log = []

    def forward(self, x):
        y = self.fc(x)
        self.log.append(y.mean())
        return y

def run():
    m = fill(Net())
    m(data(2, 3))
    m(data(2, 3, seed=4))
    return len(m.log), [float(v) for v in m.log]

# %% [21] the attention map stored on self
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
        self.attn = None

    def forward(self, x):
        w = (self.q(x) @ x.transpose(-1, -2)).softmax(-1)
        self.attn = w
        return w @ x

def run():
    m = fill(Attn())
    y = m(data(1, 4, 3))
    return y, m.attn

# %% [21] an attribute without spaces
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc=nn.Linear(3,2)
        self.head=nn.Linear(2,1)
    def forward(self,x):
        self.features=self.fc(x)
        return self.head(self.features)

def run():
    m=fill(Net())
    opt=torch.optim.SGD(m.parameters(),lr=0.1)
    for i in range(2):
        opt.zero_grad()
        loss=m(data(4,3,seed=i)).pow(2).mean()
        loss.backward()
        opt.step()
    return m, m.features

# %% [21] hooks that unpack their arguments
def run():
    net = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))

    def standardize(mod, args):
        (x,) = args
        return ((x - x.mean(0)) / (x.std(0) + 1e-5),)

    seen = []

    def backward(mod, grads_in, grads_out):
        seen.append(grads_out[0].std(0))

    handle = net.register_forward_pre_hook(standardize)
    net[2].register_full_backward_hook(backward)
    out = net(data(5, 3))
    out.pow(2).sum().backward()
    handle.remove()
    return out.detach(), seen, net(data(5, 3)).detach()
