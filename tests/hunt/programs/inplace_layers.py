# %% [10] an activation from a table of layers
ACTS = {"relu": nn.ReLU(inplace=True), "none": nn.Identity()}

class Net(nn.Module):
    def __init__(self, act="relu"):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = ACTS[act]

    def forward(self, x):
        x = x * 1.0
        y = self.fc(self.act(x))
        return y, x

def run():
    return fill(Net())(data(4, 3))

# %% [10] an activation from a function by name
def get_act(name):
    if name == "relu":
        return nn.ReLU(inplace=True)
    elif name == "sigmoid":
        return nn.Sigmoid()
    raise ValueError(name)

class Net(nn.Module):
    def __init__(self, act="relu"):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = get_act(act)

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        return y + h

def run():
    return fill(Net())(data(4, 3))

# %% [10] an activation class made with inplace
class Block(nn.Module):
    def __init__(self, act_layer=nn.ReLU):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = act_layer(inplace=True)

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        return y + h

def run():
    return fill(Block())(data(4, 3)), fill(Block(nn.ReLU6))(data(4, 3))

# %% [10] a partial of an in-place activation
from functools import partial

class Block(nn.Module):
    act_layer = partial(nn.ReLU, inplace=True)

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = self.act_layer()

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        return y + h

class Other(nn.Module):
    def __init__(self, act=partial(nn.ReLU, inplace=True)):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = act()

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        return y + h

def run():
    return fill(Block())(data(4, 3)), fill(Other())(data(4, 3))

# %% [10] an in-place activation in a class attribute and a module global
RELU = nn.ReLU(inplace=True)

class Block(nn.Module):
    act = nn.ReLU(inplace=True)

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        g = x + 0.1
        z = self.fc(RELU(g))
        return y + h, z + g

def run():
    return fill(Block())(data(4, 3))

# %% [10] in-place layers of a list that is passed on
def conv_block(layers):
    return nn.Sequential(*layers)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        parts = [nn.ReLU(True)]
        parts.append(nn.Linear(3, 3))
        self.block = conv_block(parts)
        self.two = nn.Sequential(*[nn.ReLU(True), nn.Linear(3, 3)])

    def forward(self, x):
        h = x * 1.0
        g = x + 0.1
        return self.block(h) + h, self.two(g) + g

def run():
    return fill(Net())(data(4, 3))

# %% [10] a functional in-place activation held as a value
def relu_(x):
    return F.relu(x, inplace=True)

class Net(nn.Module):
    def __init__(self, act=relu_):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = act
        self.other = torch.relu_

    def forward(self, x):
        h = x * 1.0
        g = x + 0.1
        return self.fc(self.act(h)) + h, self.fc(self.other(g)) + g

def run():
    return fill(Net())(data(4, 3))

# %% [10] an in-place activation set from outside
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = None

    def forward(self, x):
        h = x * 1.0
        y = self.fc(self.act(h))
        return y + h

def run():
    net = Net()
    net.act = nn.ReLU(inplace=True)
    other = Net()
    setattr(other, "act", nn.LeakyReLU(0.1, inplace=True))
    return fill(net)(data(4, 3)), fill(other)(data(4, 3))
