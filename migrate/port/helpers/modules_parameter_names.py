"""Names of parameters: MindSpore's, which answer as torch's names when they are searched."""

from mindspore import nn

_NORMS = ("BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm")  # of 1d, 2d, 3d
_OF_NORMS = {"gamma": "weight", "beta": "bias"}
_OF_NORMS |= {"moving_mean": "running_mean", "moving_variance": "running_var"}


class ParameterName(str):
    """MindSpore's name of a parameter: a key as any other string. Programs choose parameters by
    words of torch's names (`"bias" in name`, `name.endswith("weight")`): those are answered as
    torch's name answers them, which for a norm's gamma is weight.
    """

    def __new__(cls, name, theirs=None):
        made = super().__new__(cls, name)
        made.theirs = str(name) if theirs is None else theirs
        return made

    def __contains__(self, part):
        return part in self.theirs

    def __eq__(self, other):
        return str.__eq__(self, other) is True or self.theirs == other

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def endswith(self, *args):
        return self.theirs.endswith(*args)

    def startswith(self, *args):
        return self.theirs.startswith(*args)

    def find(self, *args):
        return self.theirs.find(*args)

    def rfind(self, *args):
        return self.theirs.rfind(*args)

    def count(self, *args):
        return self.theirs.count(*args)

    def split(self, *args, **kwargs):
        return self.theirs.split(*args, **kwargs)

    def rsplit(self, *args, **kwargs):
        return self.theirs.rsplit(*args, **kwargs)

    def lower(self):
        return self.theirs.lower()


def torch_words(module):
    """Parameter -> the last word of its name in torch, where that is another one."""
    words = {}
    for _, cell in module.cells_and_names():
        bases = [b.__name__ for b in type(cell).__mro__ if b.__module__.startswith("mindspore.nn")]
        if any(base.startswith(_NORMS) for base in bases):
            table = _OF_NORMS
        elif isinstance(cell, nn.Embedding):
            table = {"embedding_table": "weight"}
        elif isinstance(cell, nn.PReLU):
            table = {"w": "weight"}
        else:
            continue
        words |= {id(p): table[n] for n, p in cell._params.items() if n in table}
    return words


def parameter_name(name, word):
    """The name with the last word that torch has for it."""
    path, dot, own = name.rpartition(".")
    path = path.removesuffix("bn2d").removesuffix(".")  # inside a batch norm over volumes
    return ParameterName(name, f"{path}{dot if path else ''}{word or own}")
