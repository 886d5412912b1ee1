# %% [22] a size that does not fit
def run():
    try:
        data(2, 3) @ data(2, 3)
    except RuntimeError as e:
        return "caught"
    return "none"

# %% [22] a view that does not fit, caught by name
def run():
    out = []
    for shape in ((3, 2), (4, 2)):
        try:
            out.append(data(2, 3).view(*shape).shape)
        except RuntimeError:
            out.append(None)
    return out

# %% [22] broadcasting that fails
def run():
    caught = []
    for other in (data(3), data(4), data(2, 1)):
        try:
            caught.append((data(2, 3) + other).sum())
        except (RuntimeError, ValueError) as error:
            caught.append("no")
    return caught

# %% [22] an index out of range
def run():
    x = data(3)
    out = []
    for i in (0, 2, 3, -4):
        try:
            out.append(x[i].item())
        except IndexError:
            out.append("out")
    return out

# %% [22] out of memory names
def run():
    try:
        y = data(2) * 2
    except torch.cuda.OutOfMemoryError:
        y = None
    try:
        z = data(2) + 1
    except torch.OutOfMemoryError:
        z = None
    except RuntimeError as e:
        if "out of memory" in str(e):
            z = None
        else:
            raise e
    return y, z

# %% [22] an error in a layer
def run():
    net = nn.Linear(3, 2)
    try:
        net(data(2, 4))
    except Exception:
        return "wrong input"
    return "fine"

# %% [22] concatenation of different sizes
def run():
    try:
        return torch.cat([data(2, 3), data(2, 4)], dim=0)
    except RuntimeError:
        return torch.cat([data(2, 3), data(2, 4)], dim=1)

# %% [22] item of many elements
def run():
    out = []
    for x in (data(1), data(2)):
        try:
            out.append(x.item())
        except (ValueError, RuntimeError):
            out.append("many")
    return out

# %% [22] a tensor as a condition
def run():
    out = []
    for x in (torch.tensor([1.0]), torch.tensor([0]), torch.tensor([1, 2])):
        try:
            out.append(bool(x) and 1 or 0)
        except (RuntimeError, ValueError):
            out.append("ambiguous")
    return out

# %% [22] an unsupported conversion raises
# raises
def run():
    x = torch.zeros(3, dtype=torch.int64)
    x += 0.5
    return x

# %% [22] stack of different shapes raises
# raises
def run():
    return torch.stack([data(2), data(3)])

# %% [22] squeeze and unsqueeze out of range raise
# raises
def run():
    return data(2, 3).unsqueeze(4)

# %% [22] a label out of range raises
# raises
def run():
    return F.cross_entropy(data(2, 3), torch.tensor([0, 5])).item()

# %% [22] an embedding index out of range raises
# raises
def run():
    return nn.Embedding(3, 2)(torch.tensor([4])).sum().item()

# %% [22] float targets for nll raise
# raises
def run():
    return F.nll_loss(data(2, 3), data(2))

# %% [22] matmul of different dtypes raises
# raises
def run():
    return data(2, 2) @ data(2, 2).double()

# %% [22] a linear layer on integers raises
# raises
def run():
    return nn.Linear(2, 2)(torch.tensor([[1, 2]]))

# %% [22] chunks, splits that do not add up raise
# raises
def run():
    return data(5).split([2, 2])

# %% [22] numpy of a tensor that needs a gradient raises
# raises
def run():
    w = torch.ones(2, requires_grad=True)
    return (w * 2).numpy()

# %% [22] assertions about tensors
def check(x):
    assert x.dim() == 2, f"expected 2 dims, got {x.dim()}"
    assert torch.isfinite(x).all(), "not finite"
    return x

def run():
    out = []
    for x in (data(2, 2), data(2), torch.tensor([[float("inf")]])):
        try:
            out.append(check(x).sum())
        except AssertionError as e:
            out.append(str(e))
    return out

# %% [22] try around an optional import
try:
    import apex
    HAS = True
except ImportError:
    HAS = False

try:
    from torch.cuda.amp import autocast
except ImportError:
    autocast = None

def run():
    return HAS, autocast is not None

# %% [22] KeyError, TypeError and a finally
def run():
    log = []
    try:
        {"a": data(1)}["b"]
    except KeyError as e:
        log.append(str(e))
    finally:
        log.append("done")
    try:
        torch.zeros(2) + "a"
    except TypeError:
        log.append("type")
    return log

# %% [22] inverse of a singular matrix
def run():
    try:
        return torch.inverse(torch.zeros(2, 2))
    except RuntimeError:
        return "singular"

# %% [22] retry with a smaller batch
def step(n):
    if n > 2:
        raise RuntimeError("CUDA out of memory. Tried to allocate")
    return data(n).sum()

def run():
    n = 8
    while True:
        try:
            loss = step(n)
            break
        except RuntimeError as e:
            if "out of memory" not in str(e):
                raise
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            n //= 2
    return n, loss
