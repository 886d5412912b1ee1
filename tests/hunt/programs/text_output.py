# %% [16] repr of tensors
def run():
    return repr(torch.tensor([1, 2])), str(torch.tensor([1.5, 2.0])), str(torch.tensor(True)), repr(torch.zeros(2, 2)), f"{torch.tensor([3])}"

# %% [16] a tensor with a dtype that is not the default
def run():
    print(torch.zeros(2, dtype=torch.float64))
    print(torch.tensor([1], dtype=torch.int32), torch.ones(1, dtype=torch.float16))
    print(torch.tensor([]), torch.tensor([[True, False]]))

# %% [16] printed tensors with a label
def run():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    print("x:", x)
    print("max", x.max(), "argmax", x.argmax(dim=1))
    print(f"mean {x.mean()} std {x.std():.3f}")
    print("x = {}".format(x[0]))

# %% [16] small, large and mixed magnitudes
def run():
    print(torch.tensor([1e-5, 1.0]))
    print(torch.tensor([1e6, 2.5]))
    print(torch.tensor([float("nan"), float("inf"), 1.0]))
    print(torch.tensor([1.123456789, -2.0]))

# %% [16] shapes in text
def run():
    x = data(2, 3, 4)
    print("shape", x.shape, x.size(), list(x.shape), tuple(x.shape), x.shape[1:], x.size()[0])
    print(f"{x.shape=}")
    print("%s" % (x.shape,), "{0}".format(x.shape), x.shape.numel())
    return str(x.shape[:2]), repr(x.size())

# %% [16] shapes compared and joined
def run():
    x = data(2, 3)
    return x.shape == (2, 3), x.shape == torch.Size([2, 3]), x.shape != data(3, 2).shape, "x".join(map(str, x.shape)), "x".join(str(n) for n in x.size()), x.size() == x.t().size(), str(list(x.size()))

# %% [16] dtypes in text
def run():
    x = data(2)
    names = [str(t.dtype) for t in (x, x.half(), x.double(), x.int(), x.bool(), x.byte())]
    return names, f"{torch.float32}", "dtype: %s" % x.dtype, str(x.dtype).split(".")[-1], repr(x.dtype), {x.dtype: 1}[torch.float32], "{}".format(x.long().dtype)

# %% [16] types in text
def run():
    x = data(2)
    print(type(x[0].item()), x.type(), x.long().type(), type(x.shape[0]))
    return x.type() == "torch.FloatTensor", isinstance(x, torch.FloatTensor), x.int().type()

# %% [16] a summary of parameters
def run():
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    for name, p in model.named_parameters():
        print(name, p.shape, p.numel(), p.dtype, p.requires_grad)
    total = sum(p.numel() for p in model.parameters())
    print(f"Total: {total:,} ({total / 1e6:.2f}M)")
    return {k: tuple(v.shape) for k, v in model.state_dict().items()}

# %% [16] the text of common layers
def run():
    print(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    print(nn.MaxPool2d(2), nn.Dropout(0.5), nn.Flatten(), nn.Embedding(5, 2))
    print(nn.LSTM(3, 4, batch_first=True), nn.LayerNorm(4), nn.Identity(), nn.Sigmoid())

# %% [16] the text of a model of one's own
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, bias=False)
        self.act = nn.LeakyReLU(0.2)

    def forward(self, x):
        return self.act(self.conv(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(2), Block(2)])
        self.fc = nn.Linear(4, 2)

def run():
    print(Net())
    return str(Block(1))

# %% [16] extra_repr and __repr__
class Scale(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s

    def extra_repr(self):
        return f"s={self.s}"

    def forward(self, x):
        return x * self.s

class Named(nn.Module):
    def __repr__(self):
        return self.__class__.__name__ + "(mine)"

def run():
    return repr(Scale(2)), str(Named()), str(nn.Sequential(Scale(1), Named()))

# %% [16] progress lines of a training script
def run():
    epoch, batch_idx, n, total = 1, 2, 64, 600
    loss = data(4).pow(2).mean()
    print("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(epoch, batch_idx * n, total, 100.0 * batch_idx / 10, loss.item()))
    print("[%d, %5d] loss: %.3f" % (epoch, batch_idx, loss / 3))
    print(f"{epoch:>3}/{total:<5} {loss:>7f} {loss.item():.2e} {loss:.3g}")
    print("loss", round(loss.item(), 4), round(float(loss), 2))

# %% [16] a loss printed as a tensor
def run():
    loss = torch.tensor([1.0, 2.0]).sum()
    print(loss)
    print("loss: " + str(loss), "loss: " + str(loss.item()))
    print([loss, loss], {"loss": loss}, (loss.item(),))

# %% [16] tensors with gradients in text
def run():
    w = torch.ones(2, requires_grad=True)
    y = (w * 2).sum()
    print(w)
    print(y.item(), w.detach())
    print(nn.Parameter(torch.zeros(2)))

# %% [16] logging and f-strings with widths
import logging

def run():
    x = data(3)
    msg = []
    handler = logging.Handler()
    handler.emit = lambda r: msg.append(r.getMessage())
    log = logging.getLogger("hunt")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.info("loss %.3f shape %s", x.mean(), x.shape)
    log.info(f"{x.max():8.4f}|{x.argmax()}|{x.numel():04d}")
    return msg

# %% [16] csv lines and joined numbers
def run():
    x = torch.tensor([1.5, 2.25])
    return ",".join(map(str, x.tolist())), " ".join(f"{v:.2f}" for v in x), ",".join(str(v.item()) for v in x), "|".join("%.1f" % v for v in x), json.dumps({"v": x.tolist(), "m": x.mean().item()})

import json

# %% [16] integers of tensors in text
def run():
    n = (data(10) > 0).sum()
    print(f"{n} of {10}: {n / 10:.1%}, {100 * n / 10:.1f}%")
    print("count", n, n.item(), int(n))
    print("%d/%d" % (n, 10), "{:d} {}".format(n, n), "{:>4}".format(n.item()))

# %% [16] set_printoptions
def run():
    torch.set_printoptions(precision=2, sci_mode=False)
    print(torch.tensor([1.23456, 2.0]))

# %% [16] devices in text
def run():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.ones(1, device=device)
    print(device, x.device, device.type)
    print(f"Using {device} device")
    return str(device) == "cpu", x.is_cuda

# %% [16] the text of an in-place layer
def run():
    return repr(nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.ReLU(inplace=True)))


# %% [16] a leaf is printed as a tensor
def run():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    print(x)
    print(f"{x}", x.detach(), nn.Parameter(torch.ones(2)))


# %% [16] shapes that were put together
def run():
    x = torch.ones(2, 3, 4)
    s = x.shape
    print(s + (5,), x.shape[1:] + (1,), x.size()[:2])


# %% [16] a meter with a format in its text
class Meter:
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.val:.4f} ({self.avg:.4f})"


def run():
    tensors, numbers = Meter(), Meter()
    for i in range(3):
        tensors.update(torch.tensor(float(i)), 2)
        numbers.update(0.5 * i)
    return str(tensors), str(numbers)


# %% [16] a helper that prints whatever it is given
def describe(name, a):
    print(name, a.shape, a.shape[1:], a.dtype)


def run():
    describe("tensor", torch.ones(2, 3))
    describe("mask", torch.ones(2, 3) > 0)


# %% [16] activations in a printed network
def run():
    print(nn.Sequential(nn.GELU(), nn.GELU(approximate="tanh"), nn.LeakyReLU(0.2)))


# %% a model with layers that work in place
def run():
    m = nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU(0.2, inplace=True), nn.Dropout(0.1, True), nn.ELU(inplace=True), nn.ReLU6(True), nn.SiLU(inplace=True), nn.Dropout(0.3), nn.SELU(inplace=False))
    print(m)
    return str(m[1]), repr(m[4])


# %% what load_state_dict returns, as text
def run():
    m, n = fill(nn.Linear(2, 1)), fill(nn.Linear(2, 1, bias=False))
    print(m.load_state_dict(m.state_dict()))
    print(m.load_state_dict(n.state_dict(), strict=False))
    return str(m.load_state_dict({}, strict=False))


# %% the kind of a tensor's device
def run():
    x = data(2)
    table = {"cpu": 1, "cuda": 2}
    return x.device.type, table[x.device.type], f"{x.device.type}", x.device.type == "cpu", x.device.type in ("cuda", "mps")

# %% [16] several results of a helper printed
def histogram(img):
    counts = torch.bincount(img.flatten().long(), minlength=4)
    return counts, img.sum(), img.max()

def run():
    img = torch.from_numpy(np.random.default_rng(3).integers(0, 4, (3, 3), dtype=np.uint8))
    c, s, m = histogram(img)
    print(s, m, c, s.dtype)
    return c, s, m

# %% [16] a pair of a helper in a list printed
def both(x):
    return [x.min(), x.max()]

def run():
    x = torch.from_numpy(np.arange(4.0).astype("float32"))
    low, high = both(x)
    print("range", low, high, both(x))
    return low, high

# %% [16] a layer that tells its own name
class Scale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))

    def extra_repr(self):
        return f"shape={self.gamma.shape}"

    def _get_name(self):
        return "LayerScale"

    def forward(self, x):
        return x * self.gamma

class Named(Scale):
    def _get_name(self):
        return type(self).__name__ + "2"

class Block(nn.Sequential):
    def _get_name(self):
        return "Stage"

def run():
    print(Scale(3), Named(2))
    return str(nn.Sequential(Scale(3), nn.Dropout(0.5))), repr(Block(Named(1)))
