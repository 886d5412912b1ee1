# %% [21] features saved by a hook factory
features = {}

def get_features(name):
    def hook(model, input, output):
        features[name] = output.detach()
    return hook

def run():
    model = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    model[0].register_forward_hook(get_features("first"))
    model[1].register_forward_hook(get_features("act"))
    out = model(data(2, 3))
    return out, features

# %% [21] a hook class with close
class SaveFeatures:
    def __init__(self, module):
        self.hook = module.register_forward_hook(self.hook_fn)
        self.features = None

    def hook_fn(self, module, input, output):
        self.features = output

    def close(self):
        self.hook.remove()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))

def run():
    net = fill(Net())
    sf = SaveFeatures(net.body)
    y = net(data(2, 1, 4, 4))
    shape = sf.features.shape
    sf.close()
    net(data(1, 1, 4, 4))
    return y, sf.features, tuple(shape)

# %% [0] Grad-CAM with full backward hooks
class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.activations, self.gradients = None, None
        layer.register_forward_hook(self._forward)
        layer.register_full_backward_hook(self._backward)

    def _forward(self, module, inp, out):
        self.activations = out

    def _backward(self, module, grad_in, grad_out):
        self.gradients = grad_out[0]

    def __call__(self, x, index=None):
        self.model.eval()
        logits = self.model(x)
        if index is None:
            index = logits.argmax(1).item()
        self.model.zero_grad()
        logits[0, index].backward()
        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(1))
        return cam.detach(), index

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).mean((2, 3)))

def run():
    net = fill(Net())
    cam = GradCAM(net, net.conv)
    return cam(data(1, 1, 4, 4))

# %% [0] Grad-CAM by a tensor hook inside forward
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.fc = nn.Linear(3, 2)
        self.gradients = None

    def activations_hook(self, grad):
        self.gradients = grad

    def forward(self, x):
        x = F.relu(self.conv(x))
        h = x.register_hook(self.activations_hook)
        return self.fc(x.mean((2, 3)))

def run():
    net = fill(Net())
    out = net(data(1, 1, 4, 4))
    out[:, 1].backward()
    return net.gradients

# %% [0] retain_grad of an intermediate
def run():
    x = data(3, 2)
    m = fill(nn.Linear(2, 2))
    h = m(x)
    h.retain_grad()
    loss = torch.tanh(h).sum()
    loss.backward()
    return h.grad, m.weight.grad

# %% [0] saliency by the gradient of the input
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    m.eval()
    x = data(2, 3)
    x.requires_grad_()
    scores = m(x)
    score, _ = torch.max(scores, 1)
    score.sum().backward()
    saliency, _ = torch.max(x.grad.data.abs(), dim=1)
    return saliency, x.grad

# %% [0] integrated gradients
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    x, base = data(1, 3), torch.zeros(1, 3)
    total = torch.zeros_like(x)
    for k in range(1, 5):
        point = (base + (x - base) * k / 4).detach().requires_grad_(True)
        m(point).sum().backward()
        total += point.grad
    return (x - base) * total / 4

# %% [0] guided backpropagation by a Function
class GuidedReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        grad_input[grad_output < 0] = 0
        return grad_input

def run():
    w = data(3, 3)
    x = data(2, 3, seed=4).requires_grad_()
    y = GuidedReLU.apply(x @ w)
    (y * data(2, 3, seed=5)).sum().backward()
    return y.detach(), x.grad

# %% [0] a gradient reversal layer with a coefficient
class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None

class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feature, self.cls, self.dom = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x, alpha):
        f = torch.tanh(self.feature(x))
        return self.cls(f), self.dom(GradReverse.apply(f, alpha))

def run():
    m = fill(DANN())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(3):
        alpha = 2. / (1. + np.exp(-10 * i / 3)) - 1
        c, d = m(data(4, 3, seed=i), alpha)
        loss = F.cross_entropy(c, labels(4, 2, seed=i)) + F.cross_entropy(d, labels(4, 2, seed=5 + i))
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, m

# %% [0] a binarised weight with a straight-through Function
class BinarizeF(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1).float()

class BinLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, BinarizeF.apply(self.weight), self.bias)

def run():
    m = fill(BinLinear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(3):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [0] a Function with several inputs and needs_input_grad
class MyLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias

class Layer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o, i))
        self.bias = nn.Parameter(torch.empty(o))

    def forward(self, x):
        return MyLinear.apply(x, self.weight, self.bias)

def run():
    m = fill(nn.Sequential(Layer(3, 4), nn.Tanh(), Layer(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [0] gradients of parameters masked by a hook
def run():
    m = fill(nn.Linear(3, 2))
    mask = torch.tensor([[1., 0., 1.], [0., 1., 1.]])
    m.weight.register_hook(lambda g: g * mask)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [0] pruning masks applied after each step
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    masks = {n: (p.abs() > 0.3).float() for n, p in m.named_parameters() if "weight" in n}
    opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    for i in range(3):
        opt.zero_grad()
        F.cross_entropy(m(data(4, 3, seed=i)), labels(4, 2)).backward()
        for n, p in m.named_parameters():
            if n in masks:
                p.grad.data.mul_(masks[n])
        opt.step()
        for n, p in m.named_parameters():
            if n in masks:
                p.data.mul_(masks[n])
    return m, {n: int((p == 0).sum()) for n, p in m.named_parameters()}

# %% [0] per-sample gradients in a loop
def run():
    m = fill(nn.Linear(3, 1))
    x = data(4, 3)
    grads = []
    for i in range(4):
        m.zero_grad()
        loss = m(x[i:i + 1]).pow(2).sum()
        loss.backward()
        grads.append(torch.cat([p.grad.view(-1) for p in m.parameters()]).clone())
    g = torch.stack(grads)
    return g, g.norm(dim=1)

# %% [0] Fisher information of EWC
def run():
    m = fill(nn.Linear(3, 2))
    fisher = {n: torch.zeros_like(p) for n, p in m.named_parameters() if p.requires_grad}
    old = {n: p.clone().detach() for n, p in m.named_parameters()}
    for i in range(3):
        m.zero_grad()
        out = F.log_softmax(m(data(1, 3, seed=i)), dim=1)
        F.nll_loss(out, labels(1, 2, seed=i)).backward()
        for n, p in m.named_parameters():
            fisher[n].data += p.grad.data ** 2 / 3
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    log = []
    for i in range(2):
        loss = F.cross_entropy(m(data(4, 3, seed=7 + i)), labels(4, 2, seed=i))
        for n, p in m.named_parameters():
            loss = loss + (fisher[n] * (p - old[n]) ** 2).sum() * 10
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, fisher

# %% [0] the Hessian-vector product by two grads
def run():
    w = data(3).requires_grad_()
    v = torch.ones(3)
    loss = (w ** 3).sum() + w.prod()
    g = torch.autograd.grad(loss, w, create_graph=True)[0]
    hv = torch.autograd.grad((g * v).sum(), w)[0]
    return g.detach(), hv

# %% [0] an R1 penalty on real data
def run():
    D = fill(nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1)))
    opt = torch.optim.Adam(D.parameters(), lr=0.01)
    log = []
    for i in range(2):
        real = data(4, 3, seed=i)
        real.requires_grad = True
        pred = D(real)
        loss = F.softplus(-pred).mean()
        grad_real, = torch.autograd.grad(outputs=pred.sum(), inputs=real, create_graph=True)
        penalty = grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()
        opt.zero_grad()
        (loss + 5.0 * penalty).backward()
        opt.step()
        log.append((loss.item(), penalty.item()))
    return log, D

# %% [0] backward with a gradient argument
def run():
    m = fill(nn.Linear(3, 2))
    x = data(4, 3).requires_grad_(True)
    out = m(x)
    out.backward(torch.ones_like(out) * 0.5)
    return x.grad, m.weight.grad, m.bias.grad

# %% [0] gradient checkpointing
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(2)])

    def forward(self, x):
        for b in self.blocks:
            if self.training:
                x = checkpoint(b, x, use_reentrant=False)
            else:
                x = b(x)
        return x

def run():
    m = fill(Net())
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        m(data(4, 3, seed=i)).pow(2).mean().backward()
        opt.step()
    return m

# %% [21] activations counted by hooks over all modules
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2), nn.Tanh())))
    rows, handles = [], []

    def hook(mod, inp, out):
        rows.append((mod.__class__.__name__, list(inp[0].shape), list(out.shape)))

    for mod in m.modules():
        if len(list(mod.children())) == 0:
            handles.append(mod.register_forward_hook(hook))
    m(data(2, 3))
    for h in handles:
        h.remove()
    m(data(2, 3))
    return rows

# %% [21] a dict of outputs by name with partial
from functools import partial

def save(store, name, module, inputs, output):
    store[name] = output

def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 2)))
    store = {}
    for name, mod in m.named_modules():
        if isinstance(mod, nn.Linear):
            mod.register_forward_hook(partial(save, store, name))
    out = m(data(2, 3))
    return out, sorted(store), store["0"]

# %% [25] gradient ascent on an image by hand
def run():
    m = fill(nn.Conv2d(1, 2, 3))
    m.eval()
    img = torch.zeros(1, 1, 5, 5).requires_grad_(True)
    for _ in range(3):
        loss = -m(img)[0, 1].mean()
        loss.backward()
        with torch.no_grad():
            img -= 0.5 * img.grad / (img.grad.std() + 1e-8)
            img.clamp_(-1, 1)
        img.grad = None
    return img.detach()

# %% [25] an adversarial perturbation through .data and zero_
def run():
    m = fill(nn.Linear(3, 2))
    x, y = data(4, 3), labels(4, 2)
    delta = torch.rand(4, 3) * 0
    delta.requires_grad = True
    for t in range(3):
        loss = nn.CrossEntropyLoss()(m(x + delta), y)
        loss.backward()
        delta.data = (delta + 0.05 * delta.grad.detach().sign()).clamp(-0.1, 0.1)
        delta.grad.zero_()
    return delta.detach(), m(x + delta.detach())

# %% [25] an attack as a class with model.zero_grad and x_adv.grad
class PGD:
    def __init__(self, model, eps=0.1, alpha=0.05, steps=2):
        self.model, self.eps, self.alpha, self.steps = model, eps, alpha, steps

    def __call__(self, x, y):
        x_adv = x.clone().detach()
        for _ in range(self.steps):
            x_adv.requires_grad_()
            with torch.enable_grad():
                loss = F.cross_entropy(self.model(x_adv), y)
            self.model.zero_grad()
            loss.backward()
            x_adv = x_adv.detach() + self.alpha * torch.sign(x_adv.grad.detach())
            x_adv = torch.min(torch.max(x_adv, x - self.eps), x + self.eps)
            x_adv = torch.clamp(x_adv, -2.0, 2.0)
        return x_adv

def run():
    m = fill(nn.Linear(3, 2))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    atk = PGD(m)
    log = []
    for i in range(3):
        x, y = data(4, 3, seed=i), labels(4, 2, seed=i)
        adv = atk(x, y)
        opt.zero_grad()
        loss = F.cross_entropy(m(adv), y)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, adv, m

# %% [25] latent codes optimised beside the network
def run():
    dec = fill(nn.Linear(2, 3))
    z = torch.zeros(4, 2)
    z.requires_grad_(True)
    opt = torch.optim.Adam([{"params": dec.parameters()}, {"params": [z], "lr": 0.1}], lr=0.01)
    target = data(4, 3)
    log = []
    for _ in range(3):
        opt.zero_grad()
        loss = F.mse_loss(dec(z), target)
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log, z.detach(), dec

# %% [25] two scalars fitted with autograd.grad
def run():
    a = torch.tensor(0.5, requires_grad=True)
    b = torch.tensor(-0.5, requires_grad=True)
    x = data(8)
    for _ in range(4):
        loss = ((a * x + b - 2 * x - 1) ** 2).mean()
        ga, gb = torch.autograd.grad(loss, [a, b])
        with torch.no_grad():
            a -= 0.1 * ga
            b -= 0.1 * gb
    return a.item(), b.item()

# %% [25] plain weights in a list, updated by hand
def run():
    rng = np.random.default_rng(3)
    w1 = torch.tensor(rng.standard_normal((3, 4)).astype("float32"), requires_grad=True)
    w2 = torch.tensor(rng.standard_normal((4, 1)).astype("float32"), requires_grad=True)
    x, y = data(5, 3), data(5, 1, seed=4)
    for t in range(3):
        y_pred = x.mm(w1).clamp(min=0).mm(w2)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for w in [w1, w2]:
                w -= 0.01 * w.grad
                w.grad.zero_()
    return w1.detach(), w2.detach(), loss.item()

# %% [0] requires_grad and is_leaf of results
def run():
    x = data(2, 2)
    w = torch.ones(2, 2, requires_grad=True)
    y = x @ w
    z = y.detach()
    with torch.no_grad():
        v = x @ w
    return x.requires_grad, w.requires_grad, y.requires_grad, z.requires_grad, v.requires_grad, w.is_leaf, y.is_leaf

# %% [0] a hook on an intermediate in a training loop
def run():
    m = fill(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    norms = []
    for i in range(2):
        h = m[0](data(4, 3, seed=i))
        h.register_hook(lambda g: norms.append(g.norm().item()))
        loss = m[2](m[1](h)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return norms, m

# %% [0] gradients of two heads compared by autograd.grad over parameters
def run():
    body, a, b = fill(nn.Linear(3, 4)), fill(nn.Linear(4, 1)), fill(nn.Linear(4, 1), seed=5)
    h = torch.tanh(body(data(4, 3)))
    la, lb = a(h).pow(2).mean(), b(h).abs().mean()
    ga = torch.autograd.grad(la, body.parameters(), retain_graph=True)
    gb = torch.autograd.grad(lb, list(body.parameters()))
    va = torch.cat([g.flatten() for g in ga])
    vb = torch.cat([g.flatten() for g in gb])
    return F.cosine_similarity(va, vb, dim=0), va

# %% [5, 10] features of the body by children and hooks in a dict
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        return self.fc(torch.flatten(x, 1))

def run():
    m = fill(Small())
    acts = {}
    def get(name):
        def hook(model, inp, out):
            acts[name] = out.detach()
        return hook
    hs = [l.register_forward_hook(get(n)) for n, l in m.named_children() if n != "fc"]
    y = m(data(2, 1, 5, 5))
    for h in hs:
        h.remove()
    body = nn.Sequential(*list(m.children())[:-1])
    z = body(data(2, 1, 5, 5)).flatten(1)
    m.fc = nn.Identity()
    return y, acts, z, m(data(2, 1, 5, 5)), [n for n, _ in m.named_modules()]
