# %% [22] a product of wrong shapes is caught
def run():
    a, b = data(2, 3), data(4, 5)
    try:
        c = a @ b
    except RuntimeError:
        return "caught"
    return c

# %% [22] an out-of-memory skip
def run():
    m = fill(nn.Linear(3, 2))
    done, skipped = 0, 0
    for n in (3, 4, 3):
        try:
            out = m(data(2, n))
            done += 1
        except RuntimeError as e:
            skipped += 1
    return done, skipped

# %% [22] a fallback for a view that fails
def flat(x, n):
    try:
        return x.view(n, n)
    except RuntimeError:
        return x.reshape(-1)

def run():
    return flat(data(2, 3), 4), flat(data(2, 2), 2)

# %% [22] cat of wrong shapes is caught
def run():
    try:
        torch.cat([data(2, 3), data(2, 4)], dim=0)
        return "no error"
    except RuntimeError:
        return "caught"

# %% [22] broadcasting that fails is caught
def run():
    log = []
    for shape in ((3,), (2,), (1,)):
        try:
            log.append((data(2, 3) + data(*shape)).shape[0])
        except RuntimeError:
            log.append("skip")
    return log

# %% [22] an index out of range is caught
def run():
    x = data(3)
    try:
        return x[5]
    except IndexError:
        return "caught"

# %% [22] an embedding index out of range is caught
def run():
    e = fill(nn.Embedding(3, 2))
    try:
        y = e(torch.tensor([5]))
        return float(y.sum())
    except (IndexError, RuntimeError):
        return "caught"

# %% [22] any Exception, then finally
def run():
    log = []
    try:
        y = data(2, 3).mm(data(2, 3))
        log.append(y)
    except Exception:
        log.append("caught")
    finally:
        log.append("end")
    return log

# %% [22] torch.OutOfMemoryError
def run():
    try:
        y = data(2, 2) * 2
    except torch.OutOfMemoryError:
        return None
    return y

# %% [22] torch.cuda.OutOfMemoryError
def run():
    try:
        y = data(2, 2) * 2
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None
    return y

# %% [22] an out-of-memory message in a RuntimeError
def run():
    m = fill(nn.Linear(2, 1))
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    for i in range(2):
        try:
            opt.zero_grad()
            loss = m(data(3, 2, seed=i)).pow(2).mean()
            loss.backward()
            opt.step()
        except RuntimeError as e:
            if "out of memory" in str(e):
                torch.cuda.empty_cache()
            else:
                raise e
    return m

# %% [22] cholesky of a matrix that is not positive
def run():
    try:
        torch.linalg.inv(torch.zeros(2, 2))
        return "no error"
    except RuntimeError:
        return "caught"

# %% [22] numpy errors are caught as before
def run():
    try:
        np.zeros(3) @ np.zeros(4)
    except ValueError:
        return "caught"

# %% [22] a wrong dtype of an index raises
# raises
def run():
    return data(3).gather(0, torch.tensor([0.5]))

# %% [22] assert of shapes in forward
class Net(nn.Module):
    def forward(self, x):
        assert x.shape[1] == 3, f"wrong {x.shape}"
        return x * 2

def run():
    m = Net()
    try:
        m(data(2, 4))
    except AssertionError as e:
        return m(data(2, 3)), str(e)


# %% [22] an index beyond an embedding
def run():
    table = nn.Embedding(3, 2)
    try:
        table(torch.tensor([5]))
        return "no error"
    except IndexError:
        return "index"


# %% [22] several kinds caught at once
def run():
    found = []
    for shape in [(2, 3), (3, 2)]:
        try:
            found.append((torch.ones(2, 3) @ torch.ones(shape)).shape)
        except (RuntimeError, KeyError) as error:
            found.append("caught")
    return found


# %% [22] singular matrices
def run():
    found = []
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    for function in (torch.inverse, torch.linalg.inv, torch.linalg.cholesky):
        try:
            function(a)
            found.append("none")
        except RuntimeError:
            found.append("raised")
    try:
        found.append(torch.linalg.solve(a, torch.ones(2, 1)))
    except RuntimeError:
        found.append("raised")
    return found, torch.inverse(a + torch.eye(2)), a.add(torch.eye(2)).inverse()

# %% [16, 22] a forward that says which shape is wrong
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        if x.dim() != 2 or x.size(-1) != 3:
            raise ValueError(f"expected (N, 3), got {x.shape} of {x.dtype}")
        return self.fc(x)

def run():
    net = fill(Net())
    try:
        return net(data(2, 4))
    except ValueError as e:
        print("caught", e)
        return str(e), net(data(2, 3)), f"{e}"

# %% [16, 22] a check of a shape in a function that a forward calls
def check(x, channels):
    assert x.size(1) == channels, "input has shape {}, channels {}".format(x.size(), channels)
    return x

class Net(nn.Module):
    def forward(self, x):
        return check(x, 2) + check(x, 2)

def run():
    net = Net()
    caught = []
    for n in (2, 3):
        try:
            out = net(data(1, n, 2))
        except AssertionError as error:
            caught.append(error.args[0])
    return out, caught

# %% [16, 22] what is wrong with a part of a shape
class Embed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        B, C, H, W = x.shape
        assert (H, W) == self.size, f"Input image size ({H}*{W}) doesn't match model {self.size}, rest {x.shape[2:]}."
        return x.flatten(2).transpose(1, 2)

def run():
    m = Embed((2, 2))
    try:
        m(data(1, 1, 2, 3))
        message = ""
    except AssertionError as e:
        message = str(e)
    return m(data(1, 3, 2, 2)), message


# %% [22] an error of a view caught in a function that forward calls
def stable(x):
    try:
        y = x.view(-1, 2)
    except RuntimeError:
        y = x.reshape(-1, 1)
    return y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return stable(self.fc(x)) * 2


def run():
    net = fill(Net())
    return net(data(2, 3)).detach(), net(data(3, 3)).detach()
