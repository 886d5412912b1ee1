# %% [23] whole numbers for floats in layers
def run():
    m = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4, eps=1), nn.LeakyReLU(0), nn.Dropout(0), nn.ELU(1), nn.Softplus(1, 20), nn.Hardtanh(-1, 1))
    return fill(m)(data(2, 4))

# %% [23] numpy numbers as layer sizes
def run():
    n = np.int64(3)
    shape = np.array([2, 3])
    return nn.Linear(n, np.int32(2)).weight.shape, torch.zeros(n).shape, torch.zeros(*shape).shape, data(6).view(n, -1).shape, data(2, 3).reshape(tuple(shape)).shape, torch.ones(int(shape[0]), shape[1]).sum()

# %% [23] tensors as sizes and numbers
def run():
    n = torch.tensor(3)
    x = data(4, 6)
    return torch.arange(n), torch.zeros(n.item(), 2).shape, x[:n], x[n - 1], range(n)[-1], list(range(int(n))), x[:, : n.item()].shape, torch.zeros(int(n)).shape, [0] * n

# %% [23] lists where tuples are meant
def run():
    x = data(2, 3, 6, 6)
    return F.avg_pool2d(x, [2, 2]).shape, F.interpolate(x, size=[3, 3]).shape, nn.Conv2d(3, 2, [3, 1], stride=[1, 1], padding=[1, 0])(x).shape, x.permute([0, 2, 3, 1]).shape, torch.zeros([2, 3]).shape, nn.LayerNorm([6, 6])(x).shape, x.sum([2, 3]).shape, nn.AdaptiveAvgPool2d([1, 2])(x).shape, x.view([2, -1]).shape, torch.randn([2, 1]).shape

# %% [23] bools for numbers and numbers for bools
def run():
    x = data(2, 4)
    return nn.Linear(4, 2, bias=0).bias is None, x.sum(1, 1).shape, x.mean(1, True).shape, nn.LSTM(4, 3, bidirectional=1)(x[None])[0].shape, F.dropout(x, 0.5, 0), x.max(1, 1)[0].shape, torch.sort(x, 1, 1)[0]

# %% [23] negative dimensions and mixed keywords
def run():
    x = data(2, 3, 4)
    return x.transpose(-1, -2).shape, x.sum(axis=-1).shape, torch.cat([x, x], axis=-1).shape, torch.stack((x, x), dim=-1).shape, x.unsqueeze(-2).shape, x.flatten(-2).shape, torch.softmax(x, dim=-2), x.squeeze(-1).shape, x.mean(dim=(-1, -2)), x.max(axis=1).values, x.split(2, -1)[1].shape, torch.unbind(x, -1)[0].shape

# %% [23] everything by keyword
def run():
    x = data(2, 3)
    return torch.sum(input=x, dim=1), torch.add(input=x, other=x, alpha=2), torch.transpose(input=x, dim0=0, dim1=1), torch.where(condition=x > 0, input=x, other=torch.zeros(1)), F.softmax(input=x, dim=1), torch.clamp(input=x, min=0, max=1), torch.matmul(input=x, other=x.t()), torch.argmax(input=x, dim=1, keepdim=True), F.linear(input=x, weight=torch.ones(2, 3)), torch.zeros(size=(2,)), torch.full(size=(2,), fill_value=3.0), F.pad(input=x, pad=(1, 1)), torch.cat(tensors=(x, x), dim=0)

# %% [23] everything by position
def run():
    x = data(2, 3, 6, 6)
    return F.conv2d(x, torch.ones(4, 3, 3, 3), None, 2, 1).shape, F.max_pool2d(x, 2, 2, 0).shape, nn.Conv2d(3, 6, 3, 1, 1, 1, 3, False)(x).shape, nn.ConvTranspose2d(3, 2, 2, 2, 0)(x).shape, nn.BatchNorm2d(3, 1e-5, 0.1, True).eps, F.batch_norm(x, torch.zeros(3), torch.ones(3), None, None, False), torch.arange(0, 6, 2), F.layer_norm(x, [6], None, None, 1e-5).shape, x.narrow(2, 1, 3).shape, nn.GroupNorm(3, 3)(x).shape

# %% [23] a dictionary of settings as keywords
def run():
    cfg = {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "padding": 1, "bias": False}
    norm = dict(eps=1e-3, momentum=0.01)
    layer = nn.Conv2d(**cfg)
    bn = nn.BatchNorm2d(4, **norm)
    args = (4, 2)
    return fill(layer)(data(1, 3, 4, 4)), bn.eps, bn.momentum, nn.Linear(*args).weight.shape, torch.zeros(*(2, 3)).shape, torch.ones(*[2], dtype=torch.int32)

# %% [23] strings that choose
def run():
    acts = {"relu": nn.ReLU(), "gelu": nn.GELU(), "tanh": torch.tanh, "silu": F.silu}
    x = data(3)
    return [acts[k](x) for k in ("relu", "gelu", "tanh", "silu")], getattr(F, "elu")(x), getattr(torch, "sigmoid")(x), F.mse_loss(x, x * 2, reduction="sum"), getattr(nn, "Tanh")()(x)

# %% [23] None and defaults
def run():
    x = data(2, 3)
    return x.sum(dim=None), torch.norm(x, dim=None), F.cross_entropy(x, torch.tensor([0, 1]), weight=None), nn.MaxPool2d(2, stride=None)(data(1, 1, 4, 4)), F.interpolate(data(1, 1, 2, 2), size=None, scale_factor=2).shape, x.std(dim=None), torch.argmax(x, dim=None), F.linear(x, torch.ones(2, 3), None)

# %% [23] Conv1d, Conv3d and unbatched input
def run():
    return fill(nn.Conv1d(2, 3, 3, padding=1))(data(1, 2, 5)), fill(nn.Conv3d(1, 2, 2))(data(1, 1, 3, 3, 3)), fill(nn.Conv2d(2, 3, 3))(data(2, 5, 5)), fill(nn.Conv1d(2, 3, 3))(data(2, 5)), nn.MaxPool2d(2)(data(1, 4, 4)), nn.AvgPool1d(2)(data(2, 4)), fill(nn.ConvTranspose1d(2, 3, 2))(data(1, 2, 4))

# %% [23] padding as words
def run():
    x = data(1, 2, 6, 6)
    return fill(nn.Conv2d(2, 3, 3, padding="same"))(x), fill(nn.Conv2d(2, 3, 3, padding="valid"))(x).shape, fill(nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect"))(x), fill(nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"))(x), F.conv2d(x, torch.ones(1, 2, 3, 3), padding="same").shape

# %% [23] learning rates and decay as whole numbers
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD(m.parameters(), lr=1, momentum=0, weight_decay=0)
    F.mse_loss(m(data(3, 2)), torch.zeros(3, 1)).backward()
    opt.step()
    return m.weight, opt.param_groups[0]["lr"]

# %% [23] a mean over a tuple, a list and several arguments
def run():
    x = data(2, 3, 4)
    return x.mean((0, 1)), x.mean([0, 2]), x.sum((1, 2), keepdim=True), x.var((1, 2)), x.std([1, 2], unbiased=False), torch.amax(x, (0, 1)), x.norm(2, dim=(1, 2)), torch.linalg.norm(x, dim=(1, 2)), x.all(), (x > 0).any(dim=1), x.permute(2, 0, 1).shape, x.permute((2, 0, 1)).shape, x.repeat((1, 2, 1)).shape, x.expand((5, 2, 3, 4)).shape

# %% [23] losses with options
def run():
    x, y = data(4, 3), labels(4, 3)
    t = torch.sigmoid(data(4, 3, seed=3))
    return F.cross_entropy(x, y, label_smoothing=0.1), F.cross_entropy(x, y, ignore_index=1), F.cross_entropy(x, t / t.sum(1, keepdim=True)), F.nll_loss(F.log_softmax(x, 1), y, reduction="none"), F.kl_div(F.log_softmax(x, 1), t, reduction="batchmean"), F.smooth_l1_loss(x, t, beta=0.5), F.huber_loss(x, t), F.binary_cross_entropy(t, t), nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0, 1.0, 1.0]))(x, t), nn.CosineEmbeddingLoss()(x, t, torch.ones(4)), nn.MarginRankingLoss(0.1)(x[:, 0], x[:, 1], torch.ones(4)), F.l1_loss(x, t), nn.TripletMarginLoss()(x, t, x * 2)

# %% [25] Embedding with max_norm and padding
def run():
    e = fill(nn.Embedding(5, 3, max_norm=0.5))
    ids = torch.tensor([1, 3, 1])
    out = e(ids)
    p = fill(nn.Embedding(4, 2, padding_idx=0))
    bag = fill(nn.EmbeddingBag(4, 2, mode="mean"))
    return out, out.norm(dim=1), e.weight[1], p(torch.tensor([0, 1])), bag(torch.tensor([0, 1, 2]), torch.tensor([0, 2])), nn.Embedding.from_pretrained(torch.ones(2, 2))(torch.tensor([1]))

# %% [25] empty shapes and empty tensors
def run():
    shape = ()
    batch = []
    x = torch.empty(0, 3)
    return torch.ones(shape), torch.zeros(*shape), torch.rand(shape).shape, torch.full(shape, 2.0), x.sum(), x.mean(0).shape, torch.cat([x, data(1, 3)]), torch.tensor(batch).shape, x.numel() == 0, torch.ones(shape) + data(2), torch.zeros(0).sum(), torch.randn(*shape).dim()

# %% [25] slogdet, svd and named results
def run():
    a = data(3, 3)
    s = torch.linalg.slogdet(a)
    q = torch.linalg.qr(a)
    m = a.max(dim=1)
    t = a.topk(2)
    return s.logabsdet, s.sign, torch.slogdet(a)[1], (q.Q @ q.R), m.values, m.indices, t.values, t.indices, a.sort().values, torch.linalg.eigh(a + a.T).eigenvalues, a.median(dim=0).values, torch.linalg.svd(a).S, a.min(0).indices, a.mode(0).values.shape, a.cummax(0).values

# %% [25] Dropout of one and of zero
def run():
    x = data(2, 3)
    return nn.Dropout(1.0)(x), F.dropout(x, 1.0), F.dropout(x, p=0.0), nn.Dropout(0.0)(x), nn.Dropout(p=1).eval()(x), F.dropout(x, 1, True), nn.Dropout2d(1.0)(data(1, 2, 2, 2))

# %% [25] a parameter that is registered as None
class Scale(nn.Module):
    def __init__(self, n, affine=True):
        super().__init__()
        if affine:
            self.weight = nn.Parameter(torch.ones(n) * 2)
        else:
            self.register_parameter("weight", None)

    def forward(self, x):
        if self.weight is None:
            return x + 1
        return x * self.weight

def run():
    a, b = Scale(3), Scale(3, affine=False)
    return a(data(2, 3)), b(data(2, 3)), b(data(1, 3)), b.weight is None, len(list(b.parameters())), list(b.state_dict())

# %% [25] a layer of one's own with an optional bias
import math

class MaskedLinear(nn.Module):
    def __init__(self, i, o, bias=True):
        super(MaskedLinear, self).__init__()
        self.weight = nn.Parameter(torch.Tensor(o, i))
        if bias:
            self.bias = nn.Parameter(torch.Tensor(o))
        else:
            self.register_parameter("bias", None)
        self.register_buffer("mask", torch.tril(torch.ones(o, i)))
        self.register_buffer("cache", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.zero_()

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)

def run():
    net = fill(nn.Sequential(MaskedLinear(3, 4, bias=False), nn.ReLU(), MaskedLinear(4, 2)))
    loss = net(data(5, 3)).pow(2).mean()
    loss.backward()
    return loss.item(), [p.grad for p in net.parameters()], [n for n, _ in net.named_parameters()]

# %% [25] a parameter that comes after its None
class Late(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter("scale", None)
        self.fc = nn.Linear(2, 2)

    def build(self, n):
        self.scale = nn.Parameter(torch.full((n,), 3.0))

    def forward(self, x):
        y = self.fc(x)
        return y if self.scale is None else y * self.scale

def run():
    m = fill(Late())
    a = m(data(3, 2))
    m.build(2)
    return a, m(data(3, 2)), sorted(n for n, _ in m.named_parameters())
