# %% [16] a loss in an f-string
def run():
    loss = data(3).pow(2).mean()
    print(f"loss {loss:.4f} {loss.item():.3f}")
    return f"{loss:.2f}"

# %% [25] str.format of a tensor
def run():
    loss = data(3).pow(2).mean()
    return "{:.2f}".format(loss), "{:.3f} {}".format(loss, 2)

# %% [25] the percent operator with a tensor
def run():
    loss = data(3).pow(2).mean()
    return "%.4f" % loss, "%d %.2f" % (3, loss), "%d" % torch.tensor(5)

# %% [25] format() and a nested spec
def run():
    loss = data(3).pow(2).mean()
    w = 3
    return format(loss.item(), ".3f"), f"{loss:.{w}f}", f"{float(loss):8.3f}|", f"{loss:>10.2f}"

# %% [25] format through a meter's template
class Meter:
    def __init__(self, fmt=":.3f"):
        self.fmt = fmt
        self.avg = 0

    def update(self, v):
        self.avg = v

    def __str__(self):
        return ("{avg" + self.fmt + "}").format(**self.__dict__)

def run():
    m = Meter()
    m.update(data(3).mean())
    return str(m)

# %% [0] print of numbers
def run():
    x = data(4)
    print(x.sum().item(), x.shape[0], len(x), x.numel())
    print("epoch %d: %.4f" % (1, x.mean().item()))

# %% [16] print of a small integer tensor
def run():
    print(torch.tensor([1, 2, 3]).tolist(), torch.tensor(5).item())

# %% [16] print of a tensor
def run():
    print(torch.tensor([1.0, 2.0]))
    print(torch.tensor(3))

# %% [16] print of a module
def run():
    print(nn.Linear(3, 2))
    print(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))

# %% [16] print of a device and a size
def run():
    x = data(2, 3)
    print(x.size(), list(x.shape), x.dim(), x.ndim)
    print(str(tuple(x.shape)))

# %% [0] number of parameters with separators
def run():
    m = nn.Linear(10, 200)
    n = sum(p.numel() for p in m.parameters() if p.requires_grad)
    print(f"The model has {n:,} trainable parameters, {n / 1e6:.3f} M")

# %% [0] names and shapes of parameters
def run():
    for name, p in nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).named_parameters():
        print(name, tuple(p.shape), p.requires_grad)

# %% [0] a table of metrics
def run():
    rows = [("a", data(2).mean()), ("b", data(2, seed=3).mean())]
    for name, v in rows:
        print(f"{name:>5} | {v.item():8.4f}")
    print("-" * 10, sep="")

# %% [0] a progress line with a learning rate
def run():
    m = nn.Linear(2, 1)
    opt = torch.optim.SGD(m.parameters(), lr=0.05)
    lr = opt.param_groups[0]["lr"]
    print(f"lr={lr:.2e} {lr}")
    for i, g in enumerate(opt.param_groups):
        print(i, g["lr"], sorted(k for k in g if k in ("lr", "momentum", "weight_decay")))

# %% [16] the name of a class
def run():
    m = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.Linear(1, 1), nn.AdaptiveAvgPool2d(1))
    return [l.__class__.__name__ for l in m], [type(l).__name__ for l in m], str(type(m).__name__)

# %% [16] logging a tensor and a dict
import json

def run():
    stats = {"loss": round(data(3).mean().item(), 4), "n": int(labels(3, 5).sum())}
    return json.dumps(stats)
