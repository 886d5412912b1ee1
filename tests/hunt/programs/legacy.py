# %% [18] FloatTensor of a number of unknown type
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bias = nn.Parameter(torch.FloatTensor(n))
        self.weight = nn.Parameter(torch.FloatTensor(n, n))
        nn.init.constant_(self.bias, 0.5)
        nn.init.constant_(self.weight, 0.25)

    def forward(self, x):
        return x @ self.weight + self.bias

def run():
    return Net(3)(torch.ones(2, 3))

# %% [18] LongTensor of a length
def make(n):
    return torch.LongTensor(n).zero_()

def run():
    return make(4), make(0).shape

# %% [18] IntTensor of a quotient
def make(n):
    return torch.IntTensor(n // 2).fill_(3)

def run():
    return make(6)

# %% [18] LongTensor of an array of unknown type
def index(names):
    _, inverse = np.unique(names, return_inverse=True)
    return torch.LongTensor(inverse)

def run():
    return index(["b", "a", "c", "a"])

# %% [18] FloatTensor of a list of unknown type
def load(rows):
    return torch.FloatTensor(rows)

def run():
    return load([[1, 2], [3, 4]]), load([5])

# %% [18] FloatTensor of an array from numpy
def run():
    a = np.arange(6).reshape(2, 3)
    return torch.FloatTensor(a), torch.LongTensor(a[0]), torch.DoubleTensor(a.astype("float32"))

# %% [18] FloatTensor of sizes
def run():
    x = torch.FloatTensor(2, 3).fill_(1.0)
    y = torch.zeros(4).type(torch.FloatTensor)
    return x, y, torch.FloatTensor([1, 2]).dtype, torch.ByteTensor([1, 0]), torch.BoolTensor([True])

# %% [18] torch.Tensor of numbers, lists and sizes
def run():
    return torch.Tensor([1, 2, 3]), torch.Tensor(2, 2).zero_(), torch.Tensor([[1], [2]])

# %% [18] torch.Tensor of a length kept in an attribute
class Memory:
    def __init__(self, size, width):
        self.size = size
        self.buf = torch.Tensor(size, width).fill_(0)
        self.age = torch.LongTensor(self.size).fill_(7)

def run():
    m = Memory(3, 2)
    return m.buf, m.age

# %% [18] new, new_tensor, new_zeros, new_full
def run():
    x = data(2, 3)
    return x.new_zeros(4), x.new_ones(2, 2), x.new_full((2,), 3.0), x.new_tensor([1.0, 2.0]), x.new(2, 2).fill_(1)

# %% [18] LongTensor of one list element and of a tuple
def run():
    lengths = [3, 2]
    return torch.LongTensor(lengths), torch.LongTensor((1, 2)), torch.LongTensor([[1, 2]])

# %% [18] FloatTensor of a shape from another tensor
def make(x):
    return torch.FloatTensor(x.size(0), x.size(1)).fill_(2)

def run():
    return make(data(2, 3)), torch.FloatTensor(data(2, 2).size()).zero_()

# %% [18] a word list as LongTensor, by len
def encode(words, vocab):
    ids = torch.LongTensor(len(words))
    for i, w in enumerate(words):
        ids[i] = vocab[w]
    return ids

def run():
    return encode(["a", "b", "a"], {"a": 3, "b": 5})

# %% [18] HalfTensor, ShortTensor, CharTensor
def run():
    return torch.HalfTensor([1.5]), torch.ShortTensor([1]), torch.CharTensor([2])

# %% [18] a prior chosen by an argument
def noise(size, kind):
    if kind == "zero":
        return torch.FloatTensor(size).zero_()
    return torch.FloatTensor(size).fill_(1)

def run():
    return noise(3, "zero"), noise(2, "one")

# %% [18] autograd Variable
from torch.autograd import Variable

def run():
    x = Variable(torch.FloatTensor([1, 2]), requires_grad=True)
    y = (x * x).sum()
    y.backward()
    return x.grad, y.data

# %% [18] volatile-free legacy loss: loss.data[0] replacement
def run():
    loss = data(3).pow(2).sum()
    return loss.data.item(), float(loss), loss.data.numpy()

# %% [18] cuda flags and types chosen by availability
use_cuda = torch.cuda.is_available()
FloatTensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor
LongTensor = torch.cuda.LongTensor if use_cuda else torch.LongTensor
Tensor = FloatTensor

def run():
    return FloatTensor([1, 2]), LongTensor([3]), Tensor([4.0])


# %% [18] torch.Tensor of a size, a number of unknown type and a tensor
def make(n, like):
    return torch.Tensor(n).zero_(), torch.Tensor(like.size()).shape, torch.Tensor(like.shape).fill_(2), torch.Tensor(like)


def run():
    return make(3, data(2, 2)), make([1, 2], data(3)), torch.Tensor(data(2, 1).size()).shape


# %% [18] new with sizes in a tuple
def run():
    x = data(2, 3)
    shape = (2,) + tuple(x.shape)
    y = x.new(*shape).zero_()
    for a, b in zip(y, [x, x * 2]):
        a[:1].copy_(b[:1])
    k, n = x.shape
    return y, x.new(k, n).fill_(2), x.new(n, *x.shape).zero_().shape
