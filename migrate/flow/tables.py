"""What torch's functions do to memory: which give a view, which may give the tensor itself, which
change it. Everything else in torch computes a new tensor.
"""

from __future__ import annotations

# The result shares the memory of the receiver or first argument, in another shape.
VIEWS = frozenset(
    """
    as_strided chunk detach diagonal dsplit expand expand_as hsplit movedim moveaxis mT narrow
    permute ravel real imag select split split_with_sizes squeeze swapaxes swapdims t T H adjoint
    tensor_split transpose unbind unflatten unfold unsqueeze view view_as view_as_complex
    view_as_real vsplit alias slice_scatter_view atleast_1d atleast_2d atleast_3d broadcast_to
    """.split()  # noqa: SIM905
) - {"slice_scatter_view"}
# A view where the layout allows it, else a copy.
MAYBE_VIEWS = frozenset({"flatten", "reshape", "reshape_as", "rearrange", "broadcast_tensors"})
# Several views that share no element.
DIVIDING = frozenset(
    {"chunk", "dsplit", "hsplit", "split", "split_with_sizes", "tensor_split", "unbind", "vsplit"}
)
# Views whose elements share memory among themselves.
OVERLAPPING = frozenset(
    {"as_strided", "broadcast_tensors", "broadcast_to", "expand", "expand_as", "unfold"}
)
# The tensor itself where nothing has to be done, else a copy.
MAYBE_SAME = frozenset(
    """
    bfloat16 bool byte char conj double float half int long short to type type_as as_tensor asarray
    resolve_conj resolve_neg __array__ dropout alpha_dropout feature_dropout dropout1d dropout2d
    dropout3d
    """.split()  # noqa: SIM905
)
# The tensor itself on one device.
SAME = frozenset({"contiguous", "cpu", "cuda", "pin_memory", "requires_grad_", "detach_"})
# A tensor and an array of numpy over one memory.
NUMPY = frozenset({"as_tensor", "from_numpy", "numpy"})
# Attributes that share memory with their owner.
SHARED_ATTRIBUTES = frozenset({"data", "T", "mT", "H", "mH", "real", "imag"})
# Attributes of tensors that are no memory at all.
PLAIN_ATTRIBUTES = frozenset(
    {"shape", "dtype", "device", "ndim", "is_cuda", "requires_grad", "layout", "itemsize", "name"}
)
# They end in an underscore and change no element.
NOT_IN_PLACE = frozenset(
    {"requires_grad_", "retain_grad_", "share_memory_", "detach_", "rename_", "names_", "_"}
    | {"unscale_"}  # changes gradients
)
# Layers that return what they are given, or a view of it.
SAME_LAYERS = frozenset({"torch.nn.Identity"})
MAYBE_SAME_LAYERS = frozenset(
    {
        "torch.nn.Dropout",
        "torch.nn.Dropout1d",
        "torch.nn.Dropout2d",
        "torch.nn.Dropout3d",
        "torch.nn.AlphaDropout",
        "torch.nn.FeatureAlphaDropout",
    }
)
# Layers that give several new tensors.
TUPLE_LAYERS = frozenset(
    {"torch.nn.GRU", "torch.nn.LSTM", "torch.nn.LSTMCell", "torch.nn.MultiheadAttention"}
    | {"torch.nn.RNN"}
)
VIEW_LAYERS = frozenset({"torch.nn.Flatten", "torch.nn.Unflatten"})
# In-place changes that leave their own result as it is: relu(relu(x)) is relu(x).
IDEMPOTENT = frozenset({"relu", "relu6", "hardtanh", "hardsigmoid_", "abs", "clamp_min"}) - {
    "hardsigmoid_"
}
# Methods of Python's containers that put their arguments into the receiver.
STORING = frozenset({"append", "add", "insert", "extend", "update", "setdefault", "appendleft"})
# Methods of Python's containers that take items out.
REMOVING = frozenset({"pop", "popleft", "popitem", "clear", "remove", "discard"})
# Methods that give a container another order or other items; they return nothing.
REORDERING = frozenset(
    """
    reverse sort rotate move_to_end extendleft subtract difference_update intersection_update
    symmetric_difference_update
    """.split()  # noqa: SIM905
)
# Functions of Python's library and numpy -> which argument gets another order or other items.
REORDERED_ARGUMENTS = {
    "random.shuffle": 0,
    "numpy.random.shuffle": 0,
    "heapq.heapify": 0,
    "heapq.heappush": 0,
    "heapq.heappop": 0,
    "heapq.heapreplace": 0,
    "heapq.heappushpop": 0,
    "bisect.insort": 0,
    "bisect.insort_left": 0,
    "bisect.insort_right": 0,
    "operator.setitem": 0,
    "operator.delitem": 0,
}
# Methods that hand out what the receiver holds.
HOLDING = frozenset(
    """
    get pop popleft items values parameters named_parameters buffers named_buffers children modules
    named_children named_modules state_dict popitem setdefault copy
    """.split()  # noqa: SIM905
)
# Builtins whose result holds what their arguments hold.
REGROUPING = frozenset(
    {"list", "tuple", "dict", "set", "zip", "enumerate", "reversed", "sorted", "iter", "next"}
)
# Builtins whose result is no tensor.
NUMBERS = frozenset(
    {"len", "int", "float", "bool", "str", "range", "isinstance", "hasattr", "type", "id", "repr"}
)
# Functions of Python that make values of their own out of plain ones: `time.time`, `round`. Not in
# it: what loads objects (pickle), calls functions that it is given (functools) or hands on what it
# was given another time (queue).
_PLAIN_MODULES = frozenset(
    """
    base64 bisect calendar cmath collections csv datetime decimal fractions glob hashlib json math
    numbers os pathlib platform pprint random re secrets shutil socket statistics string struct sys
    textwrap time timeit uuid
    """.split()  # noqa: SIM905
)
_PLAIN_BUILTINS = (
    NUMBERS
    | REGROUPING
    | {"abs", "all", "any", "bytes", "chr", "complex", "divmod", "format", "frozenset", "hash"}
    | {"max", "min", "ord", "pow", "round", "sum"}
)


def gives_plain(name: str) -> bool:
    """Whether a function of Python, given plain values, gives a plain value."""
    module, _, last = name.partition(".")
    return module in _PLAIN_MODULES or (module == "builtins" and last in _PLAIN_BUILTINS)


def is_in_place(name: str) -> bool:
    """`add_`, `relu_`: torch's spelling of a change in place."""
    return (
        name.endswith("_")
        and not name.startswith("_")
        and not name.endswith("__")
        and name not in NOT_IN_PLACE
    )
