# %% [16] cumsum of integers and booleans
def run():
    i = torch.tensor([1, 2, 3], dtype=torch.int32)
    return i.cumsum(0), torch.tensor([1, 2], dtype=torch.uint8).cumsum(0), torch.tensor([True, True]).cumsum(0), torch.cumprod(i, 0)

# %% [16] sum and prod of integers
def run():
    i = torch.tensor([1, 2, 3], dtype=torch.int32)
    b = torch.tensor([True, False])
    return i.sum(), i.prod(), b.sum(), torch.tensor([200, 100], dtype=torch.uint8).sum(), b.sum().dtype

# %% [16] str of a dtype
def run():
    x = data(2)
    return str(x.dtype), f"{x.dtype}", repr(torch.int64), str(torch.ones(1).long().dtype)

# %% [16] printed dtypes and shapes
def run():
    x = data(2, 3)
    print(x.dtype, x.shape, tuple(x.size()), x.size())
    print(f"{x.shape} {x.long().dtype}")

# %% [16] shapes in messages
def run():
    x = data(2, 3)
    return str(x.shape), f"shape: {x.shape}", "{}".format(x.size()), "%s" % str(x.shape)

# %% [16] mixed integer arithmetic
def run():
    a, b = torch.tensor([1, 2], dtype=torch.int32), torch.tensor([3, 4])
    u = torch.tensor([250, 10], dtype=torch.uint8)
    return a + b, a * 2, u + 10, u - 20, a + True, u * b

# %% [16] integers and floats
def run():
    a = torch.tensor([1, 2])
    f64 = torch.tensor([0.5, 1.5], dtype=torch.float64)
    return a + 0.5, a * data(2), a + f64, data(2) + f64, data(2).half() + data(2), a / 2, a // 2, a % 2

# %% [16] division of integers
def run():
    a, b = torch.tensor([7, -7]), torch.tensor([2, 2])
    return a / b, a // b, torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc"), a % b, torch.remainder(a, b), torch.fmod(a, b)

# %% [16] comparisons and logical results
def run():
    a = torch.tensor([1, 2, 3])
    return a > 1, (a > 1) & (a < 3), ~(a > 1), (a > 1).float(), (a == 2).int(), a.eq(2), (a > 1) | (a == 1), (a > 1) ^ (a > 2)

# %% [16] mean of integers raises
# raises
def run():
    return torch.tensor([1, 2]).mean()

# %% [16] default dtypes of constructors
def run():
    return torch.tensor([1, 2]), torch.tensor([1.0]), torch.tensor(True), torch.arange(3), torch.zeros(2), torch.full((2,), 3), torch.full((2,), 3.0), torch.tensor(np.array([1.0])), torch.tensor(np.array([1], dtype=np.int32))

# %% [16] 0-d tensors do not promote
def run():
    x = data(3)
    return x * torch.tensor(2.0, dtype=torch.float64), torch.tensor([1, 2]) * torch.tensor(2.5), x.half() * torch.tensor(2.0), torch.tensor([1], dtype=torch.int32) + torch.tensor(5)

# %% [16] argmax, sort and topk indices
def run():
    x = data(3, 4)
    return x.argmax(1), x.sort()[1], x.topk(2)[1], x.argsort(), x.max(1)[1], torch.nonzero(x > 0)

# %% [16] where with numbers
def run():
    x = data(3)
    return torch.where(x > 0, 1.0, 0.0), torch.where(x > 0, 1, 0), torch.where(x > 0, x, 0.0), torch.where(x > 0, x, torch.zeros(1, dtype=torch.float64))

# %% [16] round, floor, ceil, trunc, sign
def run():
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.7])
    return x.round(), x.floor(), x.ceil(), x.trunc(), x.sign(), x.long(), x.int(), x.frac()

# %% [16] pow of integers
def run():
    a = torch.tensor([1, 2, 3])
    return a ** 2, a ** 2.0, 2 ** a, a.float() ** -1, a.pow(3), torch.pow(2.0, a)

# %% [16] sqrt, exp, log of integers
def run():
    a = torch.tensor([1, 4, 9])
    return a.sqrt(), torch.exp(a), torch.log(a), torch.sigmoid(a), torch.sin(a)

# %% [16] type(), type_as, to
def run():
    x = data(2)
    return x.type(torch.int64), x.type_as(torch.ones(1, dtype=torch.float64)), x.to(torch.float16), x.to(torch.ones(1).int()), x.double(), x.bool()

# %% [16] type as a string
def run():
    x = data(2)
    return x.type(), x.long().type()

# %% [16] item, tolist, float, int
def run():
    x = torch.tensor([1, 2])
    return x[0].item(), x.tolist(), float(x[1]), int(data(1)[0] * 0 + 3.9), data(1).item(), torch.tensor(True).item(), bool(torch.tensor(0))

# %% [16] numpy dtypes
def run():
    x = data(2)
    return x.numpy().dtype.name, x.double().numpy().dtype.name, torch.arange(2).numpy().dtype.name, np.asarray(x).dtype.name

# %% [16] stack and cat of one dtype
def run():
    return torch.cat([torch.tensor([1]), torch.tensor([2])]), torch.stack([torch.tensor(1), torch.tensor(2)])

# %% [25] cat of mixed dtypes
def run():
    return torch.cat([torch.tensor([1]), torch.tensor([2.5])]), torch.cat([torch.tensor([1.0]), torch.tensor([2.0], dtype=torch.float64)]), torch.cat([torch.tensor([True]), torch.tensor([3])])

# %% [25] stack and hstack of mixed dtypes
def run():
    return torch.stack([torch.tensor([1]), torch.tensor([2.5])]), torch.hstack([torch.tensor([1], dtype=torch.int32), torch.tensor([2])])

# %% [25] cat of a mask and labels along a dimension
# in: 2,3 2,3:int64:0:4
def f(x, y):
    return torch.cat([x, y], dim=1), torch.cat((y, x), 0)

# %% [25] ones of an empty shape in a variable
def run():
    shape = ()
    x = torch.tensor(3.0)
    return torch.ones(shape), torch.zeros(x.shape), torch.full(shape, 2.0), torch.ones_like(x), x.new_zeros(x.shape)

# %% [25] zeros of an empty list
def make(size):
    return torch.zeros(size), torch.ones(size)

def run():
    return make([]), make([2])

# %% [25] rand and randn of an empty shape
def run():
    s = torch.Size([])
    return torch.rand(s).shape, torch.randn(()).shape, torch.empty(s).shape

# %% [0] one-hot, eye, diag
def run():
    return F.one_hot(torch.tensor([0, 2]), 3), torch.eye(2), torch.diag(torch.tensor([1.0, 2.0])), torch.eye(3)[torch.tensor([1, 0])]

# %% [0] losses and their dtypes
def run():
    x, y = data(4, 3), labels(4, 3)
    return F.cross_entropy(x, y), F.nll_loss(F.log_softmax(x, 1), y), F.mse_loss(x, x * 2), F.l1_loss(x, x * 2), F.smooth_l1_loss(x, x * 3), F.binary_cross_entropy_with_logits(x, torch.ones(4, 3)), F.kl_div(F.log_softmax(x, 1), F.softmax(x, 1), reduction="batchmean")

# %% [0] reductions with keepdim, several dimensions
# in: 2,3,4
def f(x):
    return x.mean((1, 2)), x.sum(dim=-1, keepdim=True), x.std(), x.var(0), x.norm(), x.norm(dim=1), x.std(1, unbiased=False), x.median(), x.prod(1)

# %% [0] einsum, bmm, matmul
# in: 2,3,4 2,4,3
def f(a, b):
    return torch.einsum("bij,bjk->bik", a, b), torch.bmm(a, b), a @ b, torch.matmul(a, b[0]), torch.einsum("bij->bj", a)

# %% [0] shapes: view, permute, squeeze, stack, repeat
# in: 2,3,4
def f(x):
    return x.view(2, -1), x.permute(2, 0, 1), x.transpose(1, 2), x.unsqueeze(1).squeeze(1), torch.stack([x, x], 1), x.repeat(1, 2, 1), x.repeat_interleave(2, 1), x.expand(2, 3, 4), x.flatten(1), x.reshape(-1, 4)

# %% [0] activations
# in: 3,4
def f(x):
    return F.gelu(x), F.silu(x), F.softplus(x), F.leaky_relu(x), torch.tanh(x), F.elu(x), F.selu(x), F.hardswish(x), F.mish(x), F.softmax(x, -1), F.log_softmax(x, 0), F.glu(x), F.logsigmoid(x)

# %% [0] pad in every mode
# in: 1,2,4,4
def f(x):
    return F.pad(x, (1, 1)), F.pad(x, (1, 2, 0, 1), value=3.0), F.pad(x, (1, 1, 1, 1), mode="reflect"), F.pad(x, (1, 1, 1, 1), mode="replicate")

# %% [0] interpolation
# in: 1,2,4,4
def f(x):
    return F.interpolate(x, scale_factor=2), F.interpolate(x, size=(6, 3), mode="bilinear", align_corners=True), F.interpolate(x, size=8, mode="bilinear"), F.interpolate(x, size=(2, 2), mode="area")

# %% [0] clamp, lerp, addmm, baddbmm
def run():
    a, b, c = data(2, 3), data(3, 2), data(2, 2)
    return torch.addmm(c, a, b), torch.addmm(c, a, b, beta=0.5, alpha=2), torch.lerp(c, c * 2, 0.3), torch.addcmul(c, c, c, value=0.5), torch.outer(a[0], a[1]), torch.cross(a, a.flip(0), dim=1)

# %% [25] slogdet().logabsdet
def run():
    m = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    r = torch.slogdet(m)
    s, l = torch.linalg.slogdet(m)
    return r.sign, r.logabsdet, s, l, torch.linalg.slogdet(m).logabsdet

# %% [25] named results of linalg
def run():
    m = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    e = torch.linalg.eigh(m)
    q = torch.linalg.qr(m)
    u = torch.linalg.svd(m)
    return e.eigenvalues, (q.Q @ q.R), u.S, torch.svd(m).S

# %% [25] named results of max, mode, kthvalue, median
def run():
    x = data(3, 4)
    return x.kthvalue(2, dim=1).values, x.median(dim=1).values, x.cummax(1).values, torch.aminmax(x).min, x.max(1).indices

# %% [25] an unbatched Conv2d
def run():
    c = fill(nn.Conv2d(2, 3, 3, padding=1))
    return c(data(2, 5, 5)), fill(nn.Conv1d(2, 3, 3))(data(2, 5))

# %% [25] unbatched pooling and linear layers
def run():
    x = data(2, 4, 4)
    return nn.MaxPool2d(2)(x), F.avg_pool2d(x, 2), nn.AdaptiveAvgPool2d(1)(x), fill(nn.Linear(4, 2))(data(4)), fill(nn.LSTM(2, 3))(data(4, 2))[0]

# %% [25] Embedding(max_norm=)
def run():
    e = nn.Embedding(4, 3, max_norm=0.5)
    fill(e)
    y = e(torch.tensor([0, 2, 2]))
    return y, e.weight

# %% [25] Dropout(1.0)
def run():
    d = nn.Dropout(1.0)
    d.train()
    return d(torch.ones(4)), F.dropout(torch.ones(3), 1.0), nn.Dropout2d(p=1)(torch.ones(1, 2, 2, 2))

# %% [25] dropout of a rate from a list
def run():
    out = []
    for p in np.linspace(0, 1, 2):
        d = nn.Dropout(p)
        out.append(d(torch.ones(3)))
    return out

# %% [25] out_features of a layer in add_module
def run():
    seq = nn.Sequential()
    seq.add_module("z", nn.Linear(3, 5))
    seq.add_module("a", nn.ReLU())
    return seq.z.out_features, seq.z.in_features, seq(data(1, 3)).shape

# %% [25] in_features of the last layer, replaced
def run():
    m = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 5))
    n = m[-1].in_features
    m[-1] = nn.Linear(n, 2)
    fill(m)
    return m(data(2, 3)), m[0].out_features, n

# %% [25] a mask that is None in __init__
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        if self.mask is None or self.mask.size(0) != len(x):
            self.mask = torch.tril(torch.ones(len(x), len(x)))
        return x.masked_fill(self.mask == 0, -1.0)

def run():
    m = Net()
    return m(data(3, 3)), m(data(2, 2)), m.mask.size(0)

# %% [25] a source mask of a language model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.src_mask = None
        self.fc = nn.Linear(2, 2)

    def _mask(self, n):
        mask = (torch.triu(torch.ones(n, n)) == 1).transpose(0, 1)
        return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, 0.0)

    def forward(self, x):
        if self.src_mask is None or self.src_mask.size(0) != x.size(0):
            self.src_mask = self._mask(x.size(0)).to(x.device)
        a = (x @ x.t() + self.src_mask).softmax(-1)
        return self.fc(a @ x)

def run():
    m = fill(Net())
    return m(data(3, 2)), m(data(4, 2)), m.src_mask

# %% [25] a cache that is None, then a tensor
class Cache:
    def __init__(self):
        self.k = None

    def update(self, k):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=1)
        return self.k, self.k.size(1)

def run():
    c = Cache()
    c.update(data(1, 2, 3))
    return c.update(data(1, 1, 3))

# %% [25] nn.Parameter of a view, changed in place
def run():
    base = data(4, 3)
    p = nn.Parameter(base[:2])
    with torch.no_grad():
        p += 1
        p[0] = 0
    return p

# %% [25] inference_mode or no_grad by a flag, as a decorator
def smart(flag=True):
    def decorate(fn):
        return (torch.inference_mode if flag else torch.no_grad)()(fn)
    return decorate

@smart()
def double(x):
    return x * 2

def run():
    return double(data(3))

# %% [16] tensors filled with quotients and powers of whole numbers
def run():
    steps, out = 4, []
    for t in reversed(range(steps)):
        out += [torch.full((2,), t / steps), torch.full((1,), (t + 1) / 2), torch.full((1,), 10 ** -t), torch.full((1,), t // 3)]
    return out, torch.full((2,), 1 / 2), torch.tensor(3 / 4), torch.full((1,), True + True), torch.full((1,), round(7 / 2, 1))

# %% [16] tensors filled with items
def run():
    x, n = data(3), torch.tensor([1, 2])
    return torch.full((2,), x.mean().item()), torch.full((2,), n.sum().item()), x.new_full((2,), n.max().item()), torch.full_like(n, n.max().item()), torch.tensor([x.max().item(), 1])


# %% [16] where of two whole numbers
# in: 3,4
def f(x):
    found = torch.where(x > 0, 1, 0)
    return found, found.dtype, torch.where(x > 0, 1.0, -1.0)


# %% [16] results whose form a switch chooses
# in: 3,4
def f(x):
    mask = x > 0
    rows = mask.nonzero(as_tuple=False)
    return rows.size(0), torch.nonzero(mask, as_tuple=True)[1], mask.nonzero().size(1)


# %% [16] unique with and without its extras
def run():
    x = torch.tensor([3, 1, 3, 2])
    values, inverse = torch.unique(x, return_inverse=True)
    counts = x.unique(return_counts=True)[1]
    return torch.unique(x).size(0), values.size(), inverse.view(2, 2), counts.sum().item()

# %% [16] Python's types as dtypes
def run():
    x = data(2, 3)
    a = torch.ones((2, 2), dtype=bool)
    b = torch.zeros(2, dtype=float)
    c = torch.tensor([1.7, 2.0], dtype=int)
    d = x.to(float)
    e = torch.full((2,), True, dtype=bool)
    g = torch.zeros_like(x, dtype=bool)
    h = x.new_zeros(3, dtype=float)
    return a, b, c, d, e, g, h, torch.arange(3, dtype=float), x.sum(dtype=float), torch.empty(2, dtype=int).fill_(3)

# %% [16] a mask of Python's bool
def f(n):
    mask = torch.ones((2 * n, 2 * n), dtype=bool)
    mask = mask.fill_diagonal_(0)
    for i in range(n):
        mask[i, n + i] = 0
    return mask

def run():
    m = f(2)
    return m, m.sum(), (~m).float(), torch.randn(4, 4)[m].shape

# %% [16] dtypes chosen by a flag
def make(values, whole):
    return torch.tensor(values, dtype=int if whole else float)

def run():
    a, b = make([1, 2], True), make([1, 2], False)
    return a, b, a.dtype, b.dtype

# %% [16] tensors from numpy cast to Python's float
def run():
    x = torch.from_numpy(np.arange(4)).type(torch.float)
    y = torch.as_tensor(np.arange(4), dtype=float)
    z = torch.as_tensor([0, 1, 1], dtype=bool)
    return x, y, z, y.dtype

# %% [16] rounds of a loop from below zero as powers
# in: 3,3; grad
def f(x):
    d = (x[None] - x[:, None]).pow(2).sum(-1)
    band = d.detach().sum() / 6
    return sum([torch.exp(-d / (band * 2 ** (i - 2))) for i in range(4)]) + sum(x.mean() * 2 ** i for i in range(-2, 2))

# %% [16] complex numbers times and over real ones
def run():
    x = data(6)
    f = torch.fft.rfft(x)
    gain = torch.linspace(1, 2, 4)
    return torch.fft.irfft(f * gain), (f / gain).real, (f / 2).imag, (gain * f).abs(), (f / f).real, (1 / f).imag

# %% [16] the imaginary unit
def run():
    t = torch.linspace(0, 1, 5)
    z = torch.exp(1j * t * np.pi)
    w = z * 2j
    return z.real, w.imag, w.abs(), (t * 1j).imag, z.dtype, (t + 1j * t).angle()

# %% [16] a filter in the frequency domain
class Filter(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n // 2 + 1))

    def forward(self, x):
        spectrum = torch.fft.rfft(x, dim=-1, norm="ortho")
        return torch.fft.irfft(spectrum * self.weight, n=x.shape[-1], dim=-1, norm="ortho")

def run():
    m = fill(Filter(6))
    return m(data(2, 6)), m(data(3, 6, seed=4))

# %% [16] activations and losses in half precision keep it
def run():
    x = (data(6) * 8).half()
    p = torch.sigmoid(x.float()).half()
    return F.mish(x), nn.Mish()(x), F.binary_cross_entropy(p, torch.ones(6).half())
