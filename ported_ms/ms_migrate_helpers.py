"""Pieces with torch's signatures and semantics that the ported code uses. Made by ms-migrate; yours to edit."""

import argparse
import atexit
import collections
import copy
import dis
import functools
import json
import math
import mindspore
import numpy as np
import os
import sys
import tempfile
import types
import warnings
from PIL import Image
from collections import OrderedDict
from collections.abc import MutableMapping
from functools import partial
from mindspore import Parameter, Tensor, _c_dataengine, communication, nn, ops
from mindspore._c_expression.amp import AmpLevel, create_amp_strategy, pop_amp_strategy, push_amp_strategy
from mindspore.common.recompute import _pynative_executor
from mindspore.dataset import dataloader, vision
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler
from pathlib import Path


def save(obj, f):
    """Save nested dicts, lists, options, numbers, strings and tensors as one .ckpt file."""
    tensors = []

    def describe(value):
        if isinstance(value, (Tensor, np.ndarray)):
            kind = "tensor" if isinstance(value, Tensor) else "array"
            data = value.asnumpy() if kind == "tensor" else value
            name = f"{kind}.{len(tensors)}"
            tensors.append({"name": name, "data": Tensor(data)})
            return {kind: name}
        if isinstance(value, argparse.Namespace):
            return {"namespace": describe(vars(value))}
        if isinstance(value, dict):
            return {"dict": [[describe(key), describe(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [describe(item) for item in value]}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"cannot save a {type(value).__name__}: keep tensors, numbers and strings")

    structure = json.dumps(describe(obj)).encode()
    tensors.append({"name": "structure", "data": Tensor(np.frombuffer(structure, np.uint8).copy())})
    if os.path.realpath(f) == os.devnull:
        return  # nothing is kept, and the rename would replace the device itself
    aside = f"{os.fspath(f)}.{os.getpid()}.ckpt"
    mindspore.save_checkpoint(tensors, aside)
    os.replace(aside, f)


_NAMES_IN_TORCH = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}


def _torch_name(name, names):
    """As torch calls it. A lone gamma is a parameter of the program's own, not a norm's."""
    layer, dot, local = name.rpartition(".")
    pair = (f"{layer}{dot}gamma", f"{layer}{dot}beta")
    if name in pair and not all(one in names for one in pair):
        return name
    if local in _NAMES_IN_TORCH and layer.rpartition(".")[2] == "bn2d":
        layer = layer.removesuffix("bn2d").removesuffix(".")
    return f"{layer}{dot}{_NAMES_IN_TORCH.get(local, local)}"


def load(f):
    """Load what `save` wrote; of a plain MindSpore checkpoint, the values by torch's names."""
    with open(f, "rb") as stream:
        if stream.read(2) == b"PK":
            raise ValueError(
                f"{f} is a torch checkpoint: convert it with `ms-migrate weights` first"
            )
    # MindSpore insists on the ending; several processes may load the same file.
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "loaded.ckpt")
        os.symlink(os.path.abspath(f), link)
        values = mindspore.load_checkpoint(link)
    if "structure" not in values:
        return {_torch_name(name, values): value for name, value in values.items()}

    def rebuild(value):
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind in ("tensor", "array"):
            data = values[content].asnumpy()
            return Tensor(data) if kind == "tensor" else data
        if kind == "namespace":
            return argparse.Namespace(**rebuild(content))
        if kind == "dict":
            return {rebuild(key): rebuild(item) for key, item in content}
        items = [rebuild(item) for item in content]
        return tuple(items) if kind == "tuple" else items

    return rebuild(json.loads(values["structure"].asnumpy().tobytes().decode()))


class Sampler:
    """Base of classes that give the indices of one epoch."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class DistributedSampler(Sampler):
    """The indices of this rank: filled up (or cut) so that all ranks have equally many."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0):
        self.dataset = dataset
        self.num_replicas = get_world_size() if num_replicas is None else num_replicas
        self.rank = get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]"
            )
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0
        self.drop_last = False
        share = len(dataset) / self.num_replicas
        self.num_samples = math.ceil(share)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            # Seeded by the epoch alone: every rank must draw the same order.
            indices = (
                np.random.default_rng(self.seed + self.epoch).permutation(len(indices)).tolist()
            )
        while len(indices) < self.total_size:
            indices += indices[: self.total_size - len(indices)]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch


def default_collate(batch):
    """MindSpore's, which would take numpy's float64 for float32 and its int32 for int64, and which
    copies a batch of Tensors twice.
    """
    if batch and all(type(one) is tuple and len(one) == len(batch[0]) for one in batch):
        return [_column(values) for values in zip(*batch, strict=True)]
    return _column(batch)


def _column(values):
    """What all samples of a batch have at one place."""
    if all(isinstance(value, Tensor) and value.dtype == mindspore.float32 for value in values):
        return Tensor.from_numpy(np.stack([value.asnumpy() for value in values]))
    arrays = [_with_arrays(value) for value in values]
    return dataloader.default_collate(tuple(arrays) if isinstance(values, tuple) else arrays)


def default_convert(data):
    """MindSpore's, for numpy's scalars, too."""
    return dataloader.default_convert(_with_arrays(data))


def _with_arrays(sample):
    """A sample with numpy's scalars as arrays without dimensions, which keep their dtype."""
    if isinstance(sample, (np.number, np.bool_)):
        return np.asarray(sample)
    if isinstance(sample, MutableMapping):
        changed = copy.copy(sample)
        changed.update({key: _with_arrays(value) for key, value in sample.items()})
        return changed
    if isinstance(sample, (tuple, list)):
        fields = [_with_arrays(value) for value in sample]
        kind = type(sample)
        return kind(*fields) if hasattr(sample, "_fields") else kind(fields)
    return sample


class DataLoader(dataloader.DataLoader):
    """MindSpore's loader and its worker processes; the order of samples and the seeds of workers
    are drawn when an epoch begins, so that a seed set before counts, as torch's does.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        num_workers=0,
        collate_fn=None,
        *args,
        **options,
    ):
        order = None if shuffle is None else bool(shuffle), sampler, None
        drawn = sampler is None
        if shuffle and drawn:
            if not len(dataset):
                raise ValueError("num_samples should be a positive integer value, but got 0")
            else:
                chosen = dataloader.RandomSampler(dataset)  # draws its seed from numpy's stream
            order = None, chosen, None
        if collate_fn is None:
            alone = batch_size is None
            collate_fn = default_convert if alone else default_collate
        super().__init__(dataset, batch_size, *order, num_workers, collate_fn, *args, **options)

    def __iter__(self):
        if not self.num_workers:
            return super().__iter__()
        seed = np.random.randint(2**31)
        self.generator = np.random.default_rng(seed)
        batches = super().__iter__()
        # Else the end of a worker ends the program once a pipeline of mindspore.dataset ran: its
        # watch finds the worker gone. The loader itself looks whether its workers live.
        _c_dataengine.deregister_worker_pids(id(batches))
        return batches


class Dataset:
    """Base of datasets that give a sample for an index."""

    def __getitem__(self, index):
        raise NotImplementedError


class Subset(Dataset):
    """The samples of a dataset at the given indices."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[one] for one in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class Compose:
    """Apply transforms in turn, to PIL images, then to CHW arrays, which end as a Tensor."""

    def __init__(self, transforms):
        # MindSpore's ToTensor divides float images by 255, too.
        self.transforms = [
            ToTensor() if type(one) is vision.ToTensor else one for one in transforms
        ]
        on_arrays = (vision.Normalize, vision.RandomErasing, vision.Erase)
        layout_changed = False
        for one in self.transforms:
            from_mindspore = type(one).__module__.startswith("mindspore")
            if layout_changed and from_mindspore and not isinstance(one, on_arrays):
                raise TypeError(
                    f"{type(one).__name__} takes images, but comes after ToTensor: "
                    "it would mistake channels for rows. Move ToTensor behind it."
                )
            layout_changed = layout_changed or isinstance(
                one, vision.ToTensor
            )

    def __call__(self, img):
        for transform in self.transforms:
            img = transformed(transform, img)
        if type(img) is np.ndarray and type(transform).__module__.startswith("mindspore"):
            return Tensor.from_numpy(np.ascontiguousarray(img))  # nobody else's: no copy
        return as_tensor(img)


def transformed(transform, img):
    """MindSpore's transforms take arrays; the program's own take Tensors, as torch's do."""
    kind = type(transform)
    arrays = kind.__module__.startswith("mindspore") or of_helpers(kind)
    return transform(as_array_of(img) if arrays else as_tensor(img))


def as_tensor(img):
    """An array as a Tensor; a PIL image stays one."""
    return Tensor(img) if isinstance(img, np.ndarray) else img


def as_array_of(img):
    """A Tensor as an array; a PIL image stays one."""
    return img.asnumpy() if isinstance(img, Tensor) else img


class ToTensor(vision.ToTensor):
    """A PIL image or HWC array as a CHW Tensor: bytes between 0 and 1, other values as they are."""

    def __call__(self, pic):
        kinds = {"I": np.int32, "I;16": np.int16, "F": np.float32}
        mode = getattr(pic, "mode", "")
        array = np.array(pic, kinds.get(mode))
        if mode == "1":
            array = array.astype(np.uint8) * 255
        array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        if array.dtype == np.uint8:
            scaled = np.empty(array.shape, np.float32)
            array = np.divide(array, np.float32(255), out=scaled, dtype=np.float32)
        # Arrays of its own: no second copy.
        return Tensor.from_numpy(np.ascontiguousarray(array))


class ToPILImage:
    """A CHW Tensor, CHW float array or HWC uint8 array as a PIL image."""

    def __init__(self):
        self.mode = None

    def __call__(self, pic):
        array = pic.asnumpy() if isinstance(pic, Tensor) else np.asarray(pic)
        if array.ndim == 3 and (isinstance(pic, Tensor) or array.dtype.kind == "f"):
            array = array.transpose(1, 2, 0)
        if array.dtype.kind == "f":
            array = (array * 255).astype(np.uint8)
        return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array, None)


IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class VisionDataset(Dataset):
    """Base of image datasets: applies the transforms to image and target."""

    def __init__(self, root=None, transform=None):
        self.root = root
        self.transforms = None
        self.transform = transform
        self.target_transform = None

    def transformed(self, image, target):
        if self.transforms is not None:
            return self.transforms(image, target)
        if self.transform is not None:
            image = as_tensor(self.transform(image))
        return image, target


def default_loader(path):
    """An image file as an RGB PIL image."""
    with Image.open(path) as image:
        return image.convert("RGB")


class DatasetFolder(VisionDataset):
    """One folder a class; classes and files in alphabetical order."""

    def __init__(self, root, loader, extensions=None, transform=None):
        super().__init__(root, transform=transform)
        self.loader = loader
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = []
        for name in self.classes:
            found = 0
            for folder, _, files in sorted(os.walk(Path(root) / name, followlinks=True)):
                for path in (os.path.join(folder, file) for file in sorted(files)):
                    fits = _ends_with(path, extensions)
                    if fits:
                        self.samples.append((path, self.class_to_idx[name]))
                        found += 1
            if not found:
                raise FileNotFoundError(f"no valid file in class {name}")
        self.targets = [target for _, target in self.samples]

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self.transformed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


def _ends_with(path, extensions):
    return path.lower().endswith(tuple(extensions))


class ImageFolder(DatasetFolder):
    """DatasetFolder of image files."""

    def __init__(self, root, transform=None, loader=default_loader):
        super().__init__(root, loader, IMG_EXTENSIONS, transform=transform)
        self.imgs = self.samples


_ACCELERATORS = ("ascend", "npu", "cuda", "gpu", "xpu", "mps", "hpu")


def _kind(name):
    """cpu, accelerator, or another name of torch's (meta)."""
    first = name.partition(":")[0].lower()
    return "accelerator" if first in _ACCELERATORS else first


class device(str):
    """torch.device: MindSpore's name of a device, equal to torch's names of the same kind.

    Of an accelerator it is the one that the process has.
    """

    def __new__(cls, type, index=None):
        if not isinstance(type, str):
            type, index = "cuda", type
        if index is None:
            index = device_index(type)
        name, kind = type.partition(":")[0], _kind(type)
        if kind == "accelerator":
            name = mindspore.get_context("device_target")
            if name == "CPU":
                warnings.warn(f"{type} is wanted, and MindSpore runs on the CPU", stacklevel=2)
                index = None
        elif kind == "cpu":
            name, index = "CPU", None
        return str.__new__(cls, name if index is None else f"{name}:{index}")

    def __eq__(self, other):
        if not isinstance(other, str):
            return NotImplemented
        numbers = {device_index(self), device_index(other)} - {None}
        return _kind(self) == _kind(other) and len(numbers) < 2

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(_kind(self))

    def __contains__(self, part):
        return str.__contains__(self, part) or _kind(part) == _kind(self)

    def startswith(self, prefix, *limits):
        prefixes = prefix if isinstance(prefix, tuple) else (prefix,)
        return any(_kind(one) == _kind(self) for one in prefixes) or str.startswith(
            self, prefix, *limits
        )

    def __str__(self):
        return self._text()

    def __format__(self, spec):
        return format(self._text(), spec)

    def __repr__(self):
        index = device_index(self)
        return f"device(type={self._text().partition(':')[0]!r}" + (
            ")" if index is None else f", index={index})"
        )

    def _text(self):
        """torch's name of the CPU; an accelerator is called by its own."""
        return "cpu" if _kind(self) == "cpu" else str.__str__(self)


def device_type(name):
    """torch's device.type, of MindSpore's names too: equals "cuda" on every accelerator."""
    kind = str.partition(name, ":")[0]
    return "cpu" if kind == "CPU" else str.__new__(device, kind)


def device_index(name):
    """The number in a device name such as cuda:1, None without one."""
    number = str.partition(name, ":")[2]
    return int(number) if number else None


# One process has one device: asked once, because Graph mode cannot ask.
ON_ACCELERATOR = mindspore.get_context("device_target") != "CPU"


def constant_pad(input, pad, value=0):
    """Pad with one value; the widths come in pairs, from the last axis on, none below zero."""
    widths = ()
    for place in range(input.ndim):
        given = 2 * place < len(pad)
        widths = ((pad[2 * place], pad[2 * place + 1]) if given else (0, 0), *widths)
    padded = ops.Pad(widths)(input)
    if value is None or value == 0:
        return padded
    inside = ops.Pad(widths)(ops.ones(input.shape, mindspore.int32)) > 0
    return ops.where(inside, padded, ops.full((), value, dtype=padded.dtype))


def topk(input, k, dim=-1, largest=True, sorted=True):
    """torch's topk; MindSpore gives the positions as int32."""
    if input.ndim == 0:
        return input.copy(), ops.zeros((), mindspore.int64)
    if isinstance(k, int) and k == 0:
        shape = [0 if axis == dim % input.ndim else n for axis, n in enumerate(input.shape)]
        return ops.zeros(tuple(shape), input.dtype), ops.zeros(tuple(shape), mindspore.int64)
    values, indices = ops.topk(input, k, dim=dim, largest=largest, sorted=sorted)
    return values, indices.astype(mindspore.int64)


def scatter(input, dim, index, src):
    """torch's scatter: src may be a number, or a tensor larger than index."""
    shape, number = input.shape, isinstance(src, (int, float, bool))
    if input.ndim == 0:
        input, index, dim = input.reshape((1,)), index.reshape((-1,)), 0
        src = src if number else src.reshape((-1,))
    elif index.ndim == 0:  # one place of a vector
        index, src = index.reshape((1,)), src if number else src.reshape((-1,))
    if number:
        src = ops.full_like(index, src, dtype=input.dtype)
    elif src.shape != index.shape:
        place = ()
        for size in index.shape:
            place += (slice(0, size),)
        src = src[place]
    result = ops.tensor_scatter_elements(input, index, src, axis=dim)
    return result.reshape(shape)


# What ops.MaxPool takes on every device.
_POOLED = (mindspore.float16, mindspore.float32)


def _pool_sizes(value):
    """One number for every pooled axis."""
    if isinstance(value, int):
        return (value,) * 2
    return (value[0],) * 2 if len(value) == 1 else tuple(value)


def _pool_stride(stride, kernel):
    """torch's stride is the kernel size unless given."""
    if stride is None or (not isinstance(stride, int) and len(stride) == 0):
        return kernel
    return _pool_sizes(stride)


def _with_batch(x):
    """Add the batch axis that MindSpore's pooling needs."""
    return x if x.ndim == 2 + 2 else x.expand_dims(0)


def _without_batch(x, like):
    """Undo `_with_batch`."""
    return x if like.ndim == 2 + 2 else x.squeeze(0)


def _max_windows(input, kernel, stride, padding):
    """Max pooling of a batch over two or three axes. Padded with -inf first: MindSpore's own padded
    pooling runs on the AI CPU of an Ascend, and the one with positions takes float16 alone there.
    """
    ndim = len(kernel)
    if input.dtype not in _POOLED:
        pool = ops.max_pool2d if ndim == 2 else ops.max_pool3d
        return pool(input, kernel, stride, padding, ceil_mode=False)
    pads = ()
    for axis in range(ndim - 1, -1, -1):
        after = padding[axis]
        pads += (padding[axis], after)
    if pads != (0, 0) * ndim:
        input = constant_pad(input, pads, float("-inf"))
    if ndim == 3:
        return ops.MaxPool3D(kernel_size=kernel, strides=stride, pad_mode="valid")(input)
    return ops.MaxPool(kernel_size=kernel, strides=stride, pad_mode="valid")(input)


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """torch's max_pool2d."""
    kernel = _pool_sizes(kernel_size)
    strides = _pool_stride(stride, kernel)
    pads = _pool_sizes(padding)
    batch = _with_batch(input)
    return _without_batch(_max_windows(batch, kernel, strides, pads), input)


def of_helpers(value):
    """Whether a class or function is a helper, wherever the helpers of this program come from."""
    home = value.__module__ or ""
    module = home.rpartition(".")[2]
    return module in ("ms_migrate_helpers", "ms_migrate_runtime") or home.startswith("migrate.emit")


class GlobalAvgPool2d(nn.AdaptiveAvgPool2d):
    """The mean over the last two axes, kept as axes of size 1."""

    def __init__(self):
        super().__init__(1)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, (-2, -1))


class CrossEntropyLoss(nn.CrossEntropyLoss):
    """nn.CrossEntropyLoss for class indices of any integer type, or class probabilities."""

    def __init__(self, ignore_index=-100):
        super().__init__(None, ignore_index, "mean", 0.0)

    def construct(self, input, target):
        if target.ndim != input.ndim:
            target = target.astype("int32")
        return ops.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


def parameters(module, recurse=True):
    """The parameters, without the running statistics."""
    pairs = module.parameters_and_names(expand=recurse)
    for name, parameter in pairs:
        if not _is_buffer(name, parameter):
            yield parameter


_RUNNING = ("moving_mean", "moving_variance", "running_mean", "running_var", "num_batches_tracked")
_NAMES_OF_NORMS = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


def in_torch_order(pairs):
    """By layer where MindSpore orders recurrent weights by kind, and running statistics last:
    programs count on the order as on the names.
    """
    first = {}
    for place, (name, _) in enumerate(pairs):
        first.setdefault(name.rpartition(".")[0], place)

    def key(pair):
        path, _, local = pair[0].rpartition(".")
        return first[path], _is_buffer(*pair)

    return sorted(pairs, key=key)


def torch_names(module, names):
    """torch's name for each of MindSpore's."""
    found = {}
    for name in names:
        path, dot, local = name.rpartition(".")
        found[name] = f"{path}{dot}{_NAMES_OF_NORMS.get(local, local)}"
    return found


def _is_buffer(name, parameter):
    return name.endswith(_RUNNING) or not isinstance(parameter, Parameter)


def _with_torch_names(module, pairs):
    names = torch_names(module, [name for name, _ in pairs])
    return [(".".join(filter(None, ("", names[name]))), value) for name, value in pairs]


def named_buffers(module):
    """torch's names and the buffers, the running statistics among them."""
    pairs = [
        (name, parameter)
        for name, parameter in module.parameters_and_names(expand=True)
        if _is_buffer(name, parameter)
    ]
    pairs += module.named_buffers("", True, True)
    yield from _with_torch_names(module, pairs)


def own_state(module):
    """MindSpore's state dict, without what torch's layers do not have."""
    state = nn.Cell.state_dict(module)
    return state


def state_dict(module, prefix=""):
    """Parameters and buffers by torch's names; what has its own way answers for itself."""
    own = own_state(module)
    names = torch_names(module, own)
    ordered = in_torch_order(list(own.items()))
    return OrderedDict((prefix + names[name], value) for name, value in ordered)


def _pool_arguments(kernel_size, stride, pooled):
    """torch strides by the kernel and pads every side; MindSpore must be told both."""
    arguments = {
        "kernel_size": kernel_size if isinstance(kernel_size, int) else tuple(kernel_size),
        "stride": stride if isinstance(stride, int) else tuple(stride or ()),
    }
    if stride is None:
        arguments["stride"] = arguments["kernel_size"]
    plain = {"padding": 0, "dilation": 1, "return_indices": False, "ceil_mode": False}
    plain.update({"count_include_pad": True, "divisor_override": None})
    if any(value != plain[name] for name, value in pooled.items()):
        tuples = {n: tuple(v) if isinstance(v, list) else v for n, v in pooled.items()}
        arguments.update(tuples, pad_mode="pad")
    return arguments


class MaxPool2d(nn.MaxPool2d):
    """nn.MaxPool2d with torch's arguments."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__(**_pool_arguments(kernel_size, stride, {}))
        self.window, self.step = kernel_size, stride
        self.edges = padding

    def construct(self, x):
        return max_pool2d(x, self.window, self.step, self.edges)


class ParamGroup(MutableMapping):
    """One group of an optimizer. MindSpore keeps its learning rate in a Parameter."""

    def __init__(self, group):
        self.group = group
        self.beta1 = None

    def __getitem__(self, key):
        value = self.group[key]
        return written_number(value)

    def __setitem__(self, key, value):
        value = value.asnumpy().item() if isinstance(value, Tensor) else value
        if isinstance(self.group.get(key), Parameter):
            # Not set_data: after that a compiled update goes on with the old value.
            ops.assign(self.group[key], Tensor(value, self.group[key].dtype))
            self.group[key].written = value
        else:
            self.group[key] = value

    def __delitem__(self, key):
        del self.group[key]

    def __iter__(self):
        return iter(self.group)

    def __len__(self):
        return len(self.group)

    def __repr__(self):
        return repr(dict(self))


def written_number(value):
    """The number as the program wrote it: 1, or 0.0002 where float32 has 0.00019999999494757503."""
    if not isinstance(value, Tensor):
        return value
    number = value.asnumpy()[()]
    written = getattr(value, "written", None)
    if written is not None and np.float32(written) == number:  # a schedule may have changed it
        return written
    return float(str(number)) if isinstance(number, np.floating) else number.item()


def param_groups(optimizer):
    """The groups of an optimizer, as torch gives them."""
    groups = optimizer.param_groups
    return [ParamGroup(group) for group in groups]


def _negative(gradient):
    return -gradient


def with_unique_names(params):
    """The parameters, or groups of them, for an optimizer: it refuses two of one name, as two
    networks of one class have them, so later ones get a number.
    """
    if isinstance(params, Tensor):
        raise TypeError("params of an optimizer must be a list of tensors or dicts, not a tensor")
    params = [{**one, "params": _listed(one)} if isinstance(one, dict) else one for one in params]
    flat = [p for one in params for p in (one["params"] if isinstance(one, dict) else [one])]
    owners = {}
    for parameter in flat:
        name, number = parameter.name, 2
        while owners.setdefault(parameter.name, parameter) is not parameter:
            parameter.name = f"{name}_{number}"
            number += 1
    return params


def _listed(group):
    found = group["params"]
    found = [found] if isinstance(found, Tensor) else list(found)
    return found


class MappedOptimizer(optim.Optimizer):
    """Calls `update` once a group; that maps one function over the parameters.

    MindSpore's own optimizers loop. The compiler unrolls a loop: that takes many seconds for the
    parameters of a ResNet-50, and does not compile for five hundred.
    """

    def __init__(self, params, defaults):
        super().__init__(with_unique_names(params), defaults)
        self.wide = False
        self.settings = tuple(name for name in defaults if name not in ("lr", "maximize"))
        self.state_step = Parameter(Tensor(0, mindspore.float32), name="state_step")

    def _build_single_lr(self, learning_rate, name):
        """The rate as a Parameter that knows how it was written: `lr=1` reads as 1, not 1.0."""
        made = super()._build_single_lr(learning_rate, name)
        if isinstance(learning_rate, (int, float)):
            made.written = learning_rate
        return made

    def moments(self, name, init="zeros"):
        """A Parameter for each parameter, to remember something in."""
        made = self.parameters.clone(prefix=name, init=init)
        kinds = vars(self).setdefault("_moment_kinds", {})
        kinds[id(made[0])] = (name, init)  # a Cell may keep a copy of the tuple
        return made

    def step(self, closure=None):
        """A step with the gradients at the parameters, for code that knows no type of this."""
        loss = None if closure is None else closure()
        found = [getattr(parameter, "grad", None) for parameter in self.parameters]
        self(mindspore.mutable(with_zeros(self.parameters, found)))
        return loss

    def construct(self, gradients):
        ops.assign_add(self.state_step, 1.0)
        for number, group in enumerate(self.param_groups):
            lr = self.lrs[number]
            if isinstance(group.get("lr"), float):
                lr = ops.cast(group.get("lr"), mindspore.float32)
            start, end = self.group_start_id[number], self.group_start_id[number + 1]
            settings = tuple([group.get(name) for name in self.settings])
            # A plain tuple would be taken for constants where this itself is not compiled.
            own = mindspore.mutable(gradients[start:end])
            if group.get("maximize"):
                own = self.hyper_map(_negative, own)
            self.update(own, number, lr, *settings)
        return True


class LambdaLR(lr_scheduler.LambdaLR):
    """Multiply the first learning rate by a function of the epoch, an int as in torch."""

    def get_lr(self):
        epoch = int(self.last_epoch)
        return [
            lr * factor(epoch) for factor, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


def _sgd(kernel, lr, momentum, param, grad, buffer, stat):
    return kernel(param, grad, lr, buffer, momentum, stat)


class SGD(MappedOptimizer):
    """Stochastic gradient descent with torch's momentum, dampening and weight decay."""

    def __init__(self, params, lr=0.001, momentum=0):
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "dampening": float(0),
            "weight_decay": 0,
            "nesterov": False,
            "maximize": False,
        }
        super().__init__(params, defaults)
        self.momentum_buffer = self.moments("momentum_buffer")
        # One until the first step, which takes the gradient as it is: no dampening.
        self.first = self.moments("first", "ones")

    @mindspore.jit
    def update(self, gradients, number, lr, momentum, dampening, weight_decay, nesterov):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        momentum = ops.cast(momentum, mindspore.float32)
        kernel = ops.SGD(float(dampening), weight_decay, nesterov)
        step = partial(_sgd, kernel, lr, momentum)
        buffers, first = self.momentum_buffer[start:end], self.first[start:end]
        self.hyper_map(step, self.parameters[start:end], gradients, buffers, first)
        return True


_NO_MOMENTS = ("parameters", "lrs", "beta1s")


def _rows(optimizer):
    """What an optimizer remembers of each parameter, by torch's name."""
    found = {}
    for name, row in vars(optimizer).items():
        if name in _NO_MOMENTS or not isinstance(row, (tuple, list)):
            continue
        if len(row) != len(optimizer.parameters) or not all(isinstance(p, Parameter) for p in row):
            continue
        # In Graph mode a Cell keeps copies of tuples: the Parameters in them are the same.
        if all(row[0] is not other[0] for other in (optimizer.parameters, *found.values())):
            found[name] = row
    return found


def optimizer_state_dict(optimizer):
    """torch's form: the moments of each parameter by its place, and the settings of the groups."""
    rows = _rows(optimizer)
    step = getattr(optimizer, "state_step", None)
    steps = None
    if steps is None and step is not None:
        steps = [float(step.asnumpy())] * len(optimizer.parameters)
    state = {}
    for place, parameter in enumerate(optimizer.parameters):
        kept = {name: Tensor(row[place].asnumpy()) for name, row in rows.items()}
        if steps is not None:
            kept["step"] = Tensor(float(steps[place]), mindspore.float32)
        if kept:
            state[place] = kept
    groups, first = [], 0
    for group in param_groups(optimizer):
        size = len(group["params"])
        settings = {name: group[name] for name in group if name != "params"}
        groups.append({**settings, "params": list(range(first, first + size))})
        first += size
    return {"state": state, "param_groups": groups}


def load_optimizer_state_dict(optimizer, state_dict):
    """Put back what optimizer_state_dict gave, or torch's own, converted."""
    order = [place for group in state_dict["param_groups"] for place in group["params"]]
    if len(order) != len(optimizer.parameters):
        raise ValueError(
            f"moments of {len(order)} parameters, and there are {len(optimizer.parameters)}"
        )
    for group, saved in zip(param_groups(optimizer), state_dict["param_groups"], strict=True):
        if saved.get("amsgrad"):
            raise ValueError("the checkpoint is of an optimizer with amsgrad=True")
        for name in set(saved) & set(group) - {"params"}:
            group[name] = _like(group[name], saved[name])
    rows, kinds, steps = _rows(optimizer), vars(optimizer).get("_moment_kinds", {}), []
    for number, place in enumerate(order):
        saved = state_dict["state"].get(place, state_dict["state"].get(str(place), {}))
        kept = {name: value for name, value in saved.items() if value is not None}
        adam = False
        if adam:
            kept.pop("max_exp_avg_sq", None)
        if "momentum_buffer" in kept:
            kept.setdefault("first", 0.0)  # 1 until the buffer has a value
        if hasattr(optimizer, "state_step"):  # one of the program's own counts in its state
            steps.append(float(kept.pop("step", 0.0)))
        for name, row in rows.items():
            _, start = kinds.get(id(row[0]), (name, "zeros"))
            if name in kept or start is not None:
                start = {"zeros": 0.0, "ones": 1.0}.get(start, start)
                _assign(row[number], kept.pop(name, start), name, place)
        kept.pop("first", None)
        if any(np.ndim(value) for value in kept.values()):  # numbers follow from the steps taken
            raise ValueError(f"{type(optimizer).__name__} has no {', '.join(sorted(kept))}")
    _count_on(optimizer, steps)


def _like(old, new):
    """A setting in the form that the optimizer has it in."""
    if isinstance(old, tuple):  # torch's None is a value that is computed here
        return tuple(was if now is None else now for was, now in zip(old, new, strict=True))
    return float(new) if isinstance(old, float) else new


def _assign(parameter, value, name, place):
    value = value.asnumpy() if isinstance(value, Tensor) else value
    if np.ndim(value) and tuple(parameter.shape) != tuple(np.shape(value)):
        raise ValueError(f"{name} of parameter {place} has another shape: {np.shape(value)}")
    value = np.broadcast_to(np.asarray(value), parameter.shape)
    ops.assign(parameter, Tensor(value.copy(), parameter.dtype))


def _count_on(optimizer, steps):
    """Steps go on from these counts; parameters that were passed by have fewer."""
    total = getattr(optimizer, "state_step", None)
    if total is None or not steps:
        return
    ops.assign(total, Tensor(max(steps), total.dtype))
    differ = any(step != steps[0] for step in steps)
    if differ:
        raise ValueError("parameters of the checkpoint took different numbers of steps")


def _counters(scheduler):
    """Names of what a schedule counts with, and torch's names for them."""
    kinds = (Parameter, bool, int, float)
    found = {name: name for name, value in vars(scheduler).items() if isinstance(value, kinds)}
    return found


def scheduler_state_dict(scheduler):
    """The schedule's counters and the learning rates it last set, in torch's form."""
    state = {}
    for name, of_torch in _counters(scheduler).items():
        value = getattr(scheduler, name)
        state[of_torch] = value.asnumpy().item() if isinstance(value, Parameter) else value
    if "last_epoch" in state:
        state["last_epoch"] = int(state["last_epoch"])
    if hasattr(scheduler, "base_lrs"):
        state["base_lrs"] = [float(lr) for lr in scheduler.base_lrs]
    state["_last_lr"] = [float(lr) for lr in scheduler.optimizer.lrs]
    if hasattr(scheduler, "lr_lambdas"):
        state["lr_lambdas"] = [None] * len(scheduler.lr_lambdas)  # nor does torch save any
    if hasattr(scheduler, "_scale_fn_custom"):
        state["_scale_fn_custom"] = None
    return state


def load_scheduler_state_dict(scheduler, state_dict):
    """Put back what scheduler_state_dict gave, or torch's; the learning rates follow."""
    for name, of_torch in _counters(scheduler).items():
        value, held = state_dict.get(of_torch), getattr(scheduler, name)
        if not isinstance(value, (bool, int, float)):
            continue
        if isinstance(held, Parameter):
            ops.assign(held, Tensor(value, held.dtype))
        else:
            setattr(scheduler, name, value)
    if hasattr(scheduler, "base_lrs") and "base_lrs" in state_dict:
        scheduler.base_lrs = list(state_dict["base_lrs"])
    rates = state_dict.get("_last_lr", scheduler.optimizer.lrs)  # older files of torch have none
    for lr, value in zip(scheduler.optimizer.lrs, rates, strict=True):
        ops.assign(lr, Tensor(float(value), lr.dtype))


_REDUCED = (mindspore.float32, mindspore.int32)  # what AllReduce takes on every device
_IN_NUMPY = {"sum": "sum", "max": "max", "min": "min", "prod": "prod", "avg": "mean"}


def _gathered_bytes(data):
    """The bytes of every process, in the order of ranks; they may differ in length."""
    size = np.frombuffer(np.int64(len(data)).tobytes(), np.int32)
    sizes = ops.AllGather(_world())(Tensor(size.copy())).asnumpy().view(np.int64)
    padded = np.zeros((int(sizes.max()) + 3) // 4 * 4 or 4, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    whole = ops.AllGather(_world())(Tensor(padded.view(np.int32))).asnumpy()
    parts = whole.view(np.uint8).reshape(len(sizes), -1)
    return [part[:length].tobytes() for part, length in zip(parts, sizes, strict=True)]


def _gathered(tensor):
    """The tensors of every process as numpy arrays, of any type, exact."""
    array = tensor.asnumpy()
    parts = _gathered_bytes(array.tobytes())
    return [np.frombuffer(part, array.dtype).reshape(array.shape) for part in parts]


def all_reduce(tensor, op=ops.ReduceOp.SUM):
    """The sum (maximum, ...) of this tensor over all processes."""
    if not in_group():
        return tensor
    if op == ops.ReduceOp.SUM and tensor.dtype in _REDUCED:
        shape = tensor.shape
        return ops.AllReduce(op, _world())(tensor.reshape(-1)).reshape(shape)
    # On CPU AllReduce only sums, and takes no float64, int64 or float16: reduce in every process.
    every = np.stack(_gathered(tensor))
    reduced = getattr(np, _IN_NUMPY[op])(every, axis=0)
    return Tensor(np.asarray(reduced, every.dtype), tensor.dtype)


def broadcast(tensor, src=None):
    """The tensor of process src."""
    if not in_group():
        return tensor
    root = src
    if tensor.dtype in _REDUCED:
        shape = tensor.shape
        return ops.Broadcast(root, _world())((tensor.reshape(-1),))[0].reshape(shape)
    return Tensor(_gathered(tensor)[root], tensor.dtype)


_UNBOUND = types.CellType()
_CONTAINERS = (list, dict, set, collections.deque)


def _surroundings(function):
    """What Graph mode takes for constants: values a function reads from outside, the attributes it
    and the functions and methods it calls read of them, and the settings of Cells.
    """
    around, words, functions = {}, set(), [function]
    for called in functions:  # grows on the way
        code, known = called.__code__, called.__globals__
        for name, cell in zip(code.co_freevars, called.__closure__ or (), strict=True):
            if cell != _UNBOUND:  # a variable that no branch has bound yet
                around.setdefault(name, cell.cell_contents)
        around |= {n: known[n] for n in code.co_names if n in known and n not in around}
        words |= set(code.co_names)
        owners = [type(value) for value in around.values() if not isinstance(value, nn.Cell)]
        found = [around.get(n) for n in code.co_names]
        found += [vars(owner).get(n) for owner in owners for n in code.co_names]
        functions += [
            one
            for one in found
            if isinstance(one, types.FunctionType)
            and not (one.__module__ or "mindspore").startswith("mindspore")
            and not of_helpers(one)
            and one not in functions
        ]
    _add_contents(around, words)
    return around


def _add_contents(around, words):
    """The settings of Cells, what containers hold, and the attributes of these names."""
    pending = list(around.items())
    while pending:
        name, value = pending.pop()
        if isinstance(value, nn.Cell):
            around[f"{name}.settings"] = Settings(value)
        elif isinstance(value, _CONTAINERS):
            around[f"{name}.items"] = tuple(_items(value, 2))  # it may hold others at the next call
        elif not isinstance(value, (types.ModuleType, type, types.FunctionType)):
            attributes = getattr(value, "__dict__", {})
            for word in sorted(words):
                if word in attributes and f"{name}.{word}".count(".") < 4:
                    around[f"{name}.{word}"] = attributes[word]
                    pending.append((f"{name}.{word}", attributes[word]))


def _items(container, depth):
    """What a container holds now, and what the containers in it do."""
    yield len(container)
    for item in container.items() if isinstance(container, dict) else container:
        if depth > 0 and isinstance(item, (*_CONTAINERS, tuple)):
            yield from _items(item, depth - 1)
        else:
            yield item


def _same(known, around):
    """Plain values must be equal, all others the same objects."""
    if known.keys() != around.keys():
        return False
    for name, old in known.items():
        new = around[name]
        if isinstance(old, (bool, int, float, str, bytes)):
            if type(old) is not type(new) or old != new:
                return False
        elif isinstance(old, Settings):
            if type(new) is not Settings or not old.same(new):
                return False
        elif isinstance(old, (tuple, list)) and type(old) is type(new):
            if len(old) != len(new) or any(
                a is not b and not (isinstance(a, (bool, int, float, str)) and a == b)
                for a, b in zip(old, new, strict=True)
            ):
                return False
        elif old is not new:
            return False
    return True


def _name_apart(around):
    """Two Cells in one graph may not have parameters of the same name: prefix the Cell's name."""
    names = {}
    for path, cell in around.items():
        if not isinstance(cell, nn.Cell):
            continue
        parameters = list(cell.get_parameters())
        if len({p.name for p in parameters}) < len({id(p) for p in parameters}):
            for name, parameter in cell.parameters_and_names():  # a layer that was put in later
                parameter.name = name
        if any(names.get(p.name, p) is not p for p in parameters):
            cell.update_parameters_name(path.rpartition(".")[2] + ".")
        names |= {p.name: p for p in parameters}


def _launched():
    """Whether msrun started this process; then torchrun's variables say what msrun's do.

    msrun's scheduler runs the program too, until it joins the group.
    """
    environment = os.environ
    if environment.get("MS_ROLE") not in ("MS_WORKER", "MS_SCHED"):
        return False
    size = environment.get("MS_WORKER_NUM", "1")
    names = {
        "RANK": environment.get("RANK_ID"),
        "LOCAL_RANK": environment.get("DEVICE_ID", "0"),
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,  # with several nodes, export LOCAL_WORLD_SIZE for msrun
        "MASTER_ADDR": environment.get("MS_SCHED_HOST"),
        "MASTER_PORT": environment.get("MS_SCHED_PORT"),
    }
    for name, value in names.items():
        if value is not None:
            environment.setdefault(name, value)
    return True


LAUNCHED = _launched()
_HOW_TO_LAUNCH = "start it with `msrun --worker_num=N --local_worker_num=N --join=True SCRIPT ...`"


class _Group:
    """MindSpore's group stays to the end: it cannot be formed again. A group of one process needs
    no launcher.
    """

    formed = False


def init_process_group(world_size=-1, rank=-1):
    """Join the processes that msrun started."""
    if not LAUNCHED:
        if world_size > 1:
            raise RuntimeError(f"a group of {world_size} processes is wanted: {_HOW_TO_LAUNCH}")
        _Group.formed = True
        return
    _Group.formed = True
    if communication.GlobalComm.INITED:
        return
    communication.init()
    atexit.register(communication.release)
    mindspore.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    size, place = communication.get_group_size(), communication.get_rank()
    if world_size not in (-1, size) or rank not in (-1, place):
        raise RuntimeError(
            f"the program asks for rank {rank} of {world_size}, and msrun started rank {place} of "
            f"{size}: let the program take both from the launcher; with several nodes, export "
            "LOCAL_WORLD_SIZE, the processes on each node"
        )


def is_initialized():
    return _Group.formed


def in_group():
    """Whether there are other processes to talk to."""
    return _Group.formed and communication.GlobalComm.INITED


def _world():
    return communication.GlobalComm.WORLD_COMM_GROUP


def get_world_size():
    """How many processes there are."""
    if in_group():
        return communication.get_group_size(_world())
    if _Group.formed:
        return 1
    raise RuntimeError("there is no process group: call init_process_group first")


def get_rank():
    """The number of this process."""
    if in_group():
        return communication.get_rank(_world())
    if _Group.formed:
        return 0
    raise RuntimeError("there is no process group: call init_process_group first")


def destroy_process_group():
    """Leave together: msrun takes a process that goes before the others for a failed one."""
    if in_group():
        barrier()
    _Group.formed = False


def barrier():
    """Wait until every process is here."""
    if in_group():
        one = mindspore.Tensor([0.0], mindspore.float32)
        mindspore.ops.AllReduce(mindspore.ops.ReduceOp.SUM, _world())(one).asnumpy()


def _chosen_mode():
    """MS_MIGRATE_MODE: auto compiles training steps, graph the whole program, pynative nothing."""
    chosen = os.environ.get("MS_MIGRATE_MODE") or "auto"
    if chosen not in ("auto", "graph", "pynative"):
        raise ValueError(f"MS_MIGRATE_MODE is auto, graph or pynative, not {chosen}")
    if chosen == "graph":
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
    return chosen


_MODE = _chosen_mode()
# Steps built so far, the latest last: what stood around the forward function, and the step.
_steps: list[object] = []
_MOST_STEPS = 8
# Of a forward function: how often its step was built since one could last be used again.
_built: dict[object, int] = {}
_MOST_IN_A_ROW = 4
_left_to_python: set[object] = set()  # forward functions that are not compiled
_announced: list[bool] = []  # whether the first step of the program is compiled
_looked_at: set[object] = set()  # forward functions whose first gradients were checked


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False):
    """mindspore.value_and_grad of a training step, compiled unless MS_MIGRATE_MODE is pynative.

    Defined anew every epoch, the step still compiles once: it is built again only when a value
    that a graph takes for a constant is another one. A step that does not compile is run by Python,
    with a warning. Optimizers compile themselves, and would take gradients in a plain tuple for
    constants: hence mutable. Weights may be a function that lists them, where an optimizer is made
    or gets parameters later.
    """
    called = fn
    precision = getattr(fn, "autocast", None)
    if precision is not None:
        fn = fn.__wrapped__  # compiled, it is marked instead

    def built(whole):
        mode = mindspore.get_context("mode")
        mindspore.set_context(mode=mindspore.GRAPH_MODE)  # in PyNative mode it gives another form
        step = mindspore.value_and_grad(fn, grad_position, weights, has_aux)
        mindspore.set_context(mode=mode)
        return mindspore.jit(getattr(step, "__wrapped__", step), fullgraph=whole)

    def compiled(*inputs):
        inputs = [_as_data(value) for value in inputs]
        around = {**_surroundings(fn), "fn": fn.__code__, "weights": tuple(weights or ())}
        around["precision"] = str(precision)
        for place, (known, step) in enumerate(_steps):
            if _same(known, around):
                _steps.append(_steps.pop(place))
                _built[fn.__code__] = 0
                values, gradients = step(*inputs)
                return values, mindspore.mutable(gradients)
        reason = _python_alone(fn, around)
        if reason:
            return uncompiled(reason)(*inputs)
        _name_apart(around)
        untrained = [p for p in _parameters_of(around) if not p.requires_grad]
        before = [(parameter, parameter.copy()) for parameter in untrained]

        def again(reason):
            for parameter, value in before:
                ops.assign(parameter, value)
            return uncompiled(reason)(*inputs)

        # Whole or not at all: what a graph leaves to Python, dict.pop for one, has no gradient.
        step = built(whole=True)
        try:
            values, gradients = step(*inputs)
            if has_aux and not (
                len(values) == _returned(fn)
                and all(isinstance(value, mindspore.Tensor) for value in values)
            ):
                # A whole graph gives no dict back, and leaves None out; another one must find the
                # same gradients.
                for parameter, value in before:
                    ops.assign(parameter, value)
                loss, whole, step = values[0], gradients, built(whole=False)
                values, gradients = step(*inputs)
                if _are_lost(whole, gradients, bool(loss == values[0])):
                    return again("what it gives beside the loss costs gradients")
            lost = _are_zero(gradients)  # waits for them: only now a kernel may fail
        except Exception as error:
            return again(error)
        if lost:
            # The compiler loses them where, say, construct() gives self another tensor.
            return again("its first gradients are all zero")
        _steps.append((around, step))
        del _steps[:-_MOST_STEPS]
        return values, mindspore.mutable(gradients)

    made = []  # in PyNative mode: what is made in Graph mode compiles

    kept = []  # what is returned beside the loss: any object, where MindSpore takes tensors

    def loss_alone(*inputs):
        values = called(*inputs)
        kept[:] = values[1:] if has_aux else ()
        return values[0] if has_aux else values

    def eager(*inputs):
        if not made:
            made.append(mindspore.value_and_grad(loss_alone, grad_position, weights))
        recording = _pynative_executor.grad_flag()
        loss, gradients = made[0](*inputs)
        _pynative_executor.set_grad_flag(recording)
        values = (loss, *kept) if has_aux else loss
        if fn.__code__ not in _looked_at:
            _looked_at.add(fn.__code__)
            _look_for_gradients(gradients)
        return values, mindspore.mutable(gradients)

    def uncompiled(error):
        reason = str(error).strip().partition("\n")[0]
        warnings.warn(
            f"the step is not compiled, and the program goes on in PyNative mode: {reason}",
            RuntimeWarning,
            stacklevel=3,
        )
        _left_to_python.add(fn.__code__)
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        return eager

    def step_in_mode(*inputs):
        run = compiled if _compiles(fn) else eager
        averaging = averaging_of(weights or ())
        if not averaging:
            return run(*inputs)
        for one in averaging:
            one.before_forward()
            one.in_step = True
        try:
            values, gradients = run(*inputs)
        finally:
            for one in averaging:
                one.in_step = False
        return values, mindspore.mutable(tuple(averaged(weights, gradients)))

    return step_in_mode


def _compiles(fn):
    """Whether the step of a forward function is compiled; the first step of a program says so."""
    graph = mindspore.get_context("mode") == mindspore.GRAPH_MODE
    recorded = _pynative_executor.grad_flag()  # a graph has no place in the record of operators
    compiles = graph or not (_MODE == "pynative" or recorded or fn.__code__ in _left_to_python)
    if not _announced:
        _announced.append(compiles)
        how = "is compiled" if compiles else "runs in PyNative mode"
        print(f"The training step {how}; MS_MIGRATE_MODE=auto|graph|pynative.", file=sys.stderr)
    return compiles


def _python_alone(fn, around):
    """Why a step is not compiled at all, or no longer; empty where it may be."""
    _built[fn.__code__] = _built.get(fn.__code__, 0) + 1
    if _built[fn.__code__] > _MOST_IN_A_ROW:
        return "a value that it takes for a constant changes every time"
    cells = [value for value in around.values() if isinstance(value, nn.Cell)]
    reason = next(filter(None, map(python_only, cells)), "")
    return reason


def _parameters_of(around):
    cells = [value for value in around.values() if isinstance(value, nn.Cell)]
    return [parameter for cell in cells for parameter in cell.get_parameters()]


def averaging_of(parameters):
    """What a DistributedDataParallel around these parameters does; several processes have it."""
    found = [getattr(parameter, "averaging", None) for parameter in parameters]
    return list(dict.fromkeys(one for one in found if one is not None))


def averaged(parameters, gradients):
    """Gradients of replicated parameters as their mean over the processes, others as they are."""
    gradients = list(gradients)
    owners = [getattr(parameter, "averaging", None) for parameter in parameters]
    for one in averaging_of(parameters):
        places = [place for place, owner in enumerate(owners) if owner is one]
        found = [gradients[place] for place in places]
        means = one.average(found)
        for place, mean in zip(places, means, strict=False):
            gradients[place] = mean
    return gradients


def _returned(fn):
    """How many values the forward function of a step gives: the loss and those beside it."""
    *_, last, _ = dis.get_instructions(fn)
    return last.arg if last.opname == "BUILD_TUPLE" else 1


def _are_lost(whole, gradients, comparable):
    """Some gradient is another one; with random numbers in between, is zero."""
    for right, found in zip(whole, gradients, strict=True):
        right, found = right.asnumpy(), found.asnumpy()
        scale = abs(right).max(initial=0.0)
        if scale > 0 and not found.any():
            return True
        if comparable and abs(right - found).max(initial=0.0) > 1e-3 * scale:
            return True
    return False


def _as_data(value):
    """Tensors in a plain tuple, the states of an LSTM, count as constants: every step would
    compile anew.
    """
    if type(value) is tuple and value and all(isinstance(v, mindspore.Tensor) for v in value):
        return mindspore.mutable(value)
    return value


def _are_zero(gradients):
    return not any(gradient.asnumpy().any() for gradient in gradients)


def _look_for_gradients(gradients):
    """Say so when a step finds none at all: then the loss does not reach the weights."""
    if _are_zero(gradients):
        warnings.warn(
            "the first gradients are all zero: does the loss depend on the weights?",
            RuntimeWarning,
            stacklevel=3,
        )


_BUCKET = 25 * 2**20  # values that go over the wire in one piece, as torch has it


class DataParallel(nn.Cell):
    """A network under the name `module`. A process of MindSpore has one device: the batch stays
    whole.
    """

    def __init__(self, module):
        super().__init__(auto_prefix=False)
        self.module = module
        self.training = module.training

    def construct(self, *inputs, **options):
        return self.module(*inputs, **options)


class DistributedDataParallel(DataParallel):
    """All processes start from the weights of the first, and average their gradients."""

    def __init__(self, module, **options):
        super().__init__(module)
        self.averaging = None
        if not in_group() or get_world_size() == 1:
            return
        buffers = [buffer for _, buffer in named_buffers(module)]
        _take_from_first([*module.get_parameters(), *buffers])
        synchronised = buffers
        self.averaging = _Averaging(get_world_size(), synchronised)
        for parameter in module.get_parameters():
            parameter.averaging = self.averaging

    def __call__(self, *inputs, **options):
        if self.averaging is not None:
            self.averaging.before_forward()
        return super().__call__(*inputs, **options)


class _Averaging:
    """What the processes do for the parameters that carry it; value_and_grad and backward ask."""

    def __init__(self, size, buffers):
        self.size, self.buffers = size, buffers
        self.in_step = False

    def before_forward(self):
        """Buffers are those of the first process, once before each forward pass."""
        if self.in_step:
            return
        if self.buffers:
            _take_from_first(self.buffers)

    def average(self, gradients):
        """The mean of each gradient over the processes, several in one piece."""
        averaged = list(gradients)
        for piece in _pieces(gradients):
            flat = ops.cat([gradients[place].reshape(-1) for place in piece])
            means = all_reduce(flat.astype(mindspore.float32)) / self.size
            start = 0
            for place in piece:
                old = gradients[place]
                part = means[start : start + old.size]
                averaged[place] = part.reshape(old.shape).astype(old.dtype)
                start += old.size
        return averaged


def _pieces(tensors):
    """Places of tensors that go over the wire together."""
    pieces, space = [], {}
    for place, tensor in enumerate(tensors):
        known = space.get(tensor.dtype)
        if known is None or known[1] < tensor.size:
            known = space[tensor.dtype] = [[], _BUCKET]
            pieces.append(known[0])
        known[0].append(place)
        known[1] -= tensor.size
    return pieces


def _take_from_first(parameters):
    """Every process gets the values of the first."""
    values = [p.value() if isinstance(p, mindspore.Parameter) else p for p in parameters]
    for piece in _pieces(values):
        flat = broadcast(ops.cat([values[place].reshape(-1) for place in piece]), src=0)
        start = 0
        for place in piece:
            size, parameter = values[place].size, parameters[place]
            value = flat[start : start + size].reshape(parameter.shape)
            if isinstance(parameter, mindspore.Parameter):
                ops.assign(parameter, value)
            else:
                parameter.assign_value(value)
            start += size


_LOWER = """
    Addbmm Addmm Addmv Baddbmm BatchMatMul BatchMatMulExt BiasAdd Conv1DExt Conv1DPadding
    Conv2D Conv2DBackpropInput Conv2DExt Conv2DPadding Conv2DTranspose Conv3D Conv3DExt
    Conv3DPadding Conv3DTranspose ConvTranspose2D Convolution Dense Einsum
    FlashAttentionScore Ger MatMul MatMulExt Mv PReLU
"""
_FLOAT32 = """
    ACos Acosh Asin BCEWithLogitsLoss Cdist Cosh CumProd CumSum CumsumExt Erfinv Exp Expm1
    GroupNorm KLDivLoss L1LossExt LayerNorm LayerNormExt Log Log10 Log1p Log2 LogSoftmax
    LogSoftmaxExt LpNorm MSELossExt MultiMarginLoss MultilabelMarginLoss NLLLoss NLLLoss2d
    Norm Pdist Pow ProdExt Reciprocal ReduceProd ReduceSum Renorm Rsqrt Sinh SmoothL1Loss
    SoftMarginLoss Softmax Softplus SoftplusExt Square SumExt Tan TripletMarginLoss
"""
_LEVELS = {"O0": AmpLevel.AmpO0, "O2": AmpLevel.AmpO2, "O3": AmpLevel.AmpO3}


class autocast:
    """torch.autocast for a block or a function; "cuda" stands for any accelerator, and does nothing
    on a CPU, as in torch. MS_MIGRATE_AMP_LEVEL chooses another level of MindSpore's: O0 is off, O2
    casts all but batch norms and the like, O3 everything, O1 is torch's, on a CPU as well.
    """

    def __init__(self, device_type="cuda", dtype=None, enabled=True):
        if dtype is None:
            dtype = mindspore.bfloat16 if device_type == "cpu" else mindspore.float16
        on_cpu = mindspore.get_context("device_target") == "CPU"
        if enabled and on_cpu and device_type != "cpu" and "MS_MIGRATE_AMP_LEVEL" not in os.environ:
            warnings.warn("no accelerator: autocast is off, as in torch", stacklevel=2)
            enabled = False
        if dtype == mindspore.bfloat16 and on_cpu:
            if enabled:
                warnings.warn("MindSpore's CPU has no bfloat16: float16 is used", stacklevel=2)
            dtype = mindspore.float16
        level = _LEVELS.get(os.environ.get("MS_MIGRATE_AMP_LEVEL", "O1"), AmpLevel.AmpAuto)
        self.dtype, self.enabled = dtype, bool(enabled) and level != AmpLevel.AmpO0
        level = level if self.enabled else AmpLevel.AmpO0
        lower = [(name, []) for name in _LOWER.split()] if self.enabled else []
        upper = [(name, []) for name in _FLOAT32.split()] if self.enabled else []
        self.settings = (level, dtype, lower, upper)
        self.modes = []

    def __enter__(self):
        mode = mindspore.get_context("mode")
        self.modes.append(mode)
        if mode == mindspore.GRAPH_MODE:
            # A Cell that Graph mode compiles takes no notice of a block around its call.
            mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        push_amp_strategy(*self.settings)
        return self

    def __exit__(self, *error):
        pop_amp_strategy()
        if self.modes.pop() == mindspore.GRAPH_MODE:
            mindspore.set_context(mode=mindspore.GRAPH_MODE)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def cast(*args, **options):
            with self:
                return function(*args, **options)

        cast.autocast = self
        # How a compiled function is told; the wrapper stands for it in compiled code.
        cast.amp_strategy = function.amp_strategy = create_amp_strategy(*self.settings)
        return cast

    def __str__(self):
        return f"{self.settings[0]} {self.dtype}"


def mark_missing(weights, missing):
    """Note at each parameter whether the gradient that was just computed is torch's None."""
    for parameter, is_missing in zip(weights, missing, strict=True):
        parameter.has_no_gradient = is_missing


def with_zeros(weights, gradients):
    """Gradients for all: zeros where there is none, with a note at the parameter."""
    mark_missing(weights, [gradient is None for gradient in gradients])
    pairs = zip(weights, gradients, strict=True)
    return tuple(ops.zeros_like(p) if gradient is None else gradient for p, gradient in pairs)


class Settings:
    """What a graph of a Cell was built with: its parts and Parameters, their mode, and the settings
    that the program may change.
    """

    def __init__(self, cell):
        self.values = []
        for _, part in cell.cells_and_names():
            self.values += [part, part.training, *part.get_parameters(expand=False)]

    def same(self, other):
        pairs = zip(self.values, other.values)  # noqa: B905
        same = len(self.values) == len(other.values)
        return same and all(old is new for old, new in pairs)


def python_only(cell):
    """Why a network cannot be compiled: hooks, whose effects a graph loses, or what a class says of
    itself (`not_compiled`); empty where it can.
    """
    for _, part in cell.cells_and_names():
        reason = getattr(type(part), "not_compiled", "")
        if reason:
            return f"{type(part).__name__}: {reason}"
    return ""


def _formatted(self, spec):
    if self.ndim == 0:
        return format(self.item(), spec)
    return object.__format__(self, spec)


# f"{loss:.3f}": torch's tensor of one value takes a number's format, MindSpore's takes none.
formatted_tensors = Tensor.__format__ = _formatted


class GradScaler:
    """torch's GradScaler: scales the loss, drops steps whose gradients overflowed, adapts the
    scale. MS_MIGRATE_LOSS_SCALE, a number, fixes it instead.
    """

    def __init__(
        self,
        device="cuda",
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if not isinstance(device, str):  # torch.cuda.amp.GradScaler(1024.0)
            device, init_scale = "cuda", device
        forced = {"MS_MIGRATE_AMP_LEVEL", "MS_MIGRATE_LOSS_SCALE"} & os.environ.keys()
        if device != "cpu" and mindspore.get_context("device_target") == "CPU" and not forced:
            enabled = False  # as in torch, where there is no GPU
        if fixed := os.environ.get("MS_MIGRATE_LOSS_SCALE"):
            init_scale, growth_factor, backoff_factor = float(fixed), 1.0, 1.0
        self.enabled = enabled
        self.factor = mindspore.Parameter(
            mindspore.Tensor(init_scale if enabled else 1.0, mindspore.float32),
            name="loss_scale",
            requires_grad=False,
        )
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.growth_tracker = 0
        self.overflowed = {}  # optimizers whose gradients are unscaled: whether one overflowed

    def scale(self, loss):
        if isinstance(loss, (list, tuple)):
            return type(loss)(self.scale(one) for one in loss)
        return loss * self.factor.astype(loss.dtype)

    def unscale(self, gradients, optimizer=None):
        """Gradients of the bare loss; also looks for overflow."""
        if not self.enabled:
            return gradients
        if id(optimizer) in self.overflowed:
            raise RuntimeError("unscale_() has already been called on this optimizer")
        self.overflowed[id(optimizer)] = not bool(mindspore.amp.all_finite(gradients))
        inverse = 1.0 / self.factor
        return mindspore.mutable(tuple(g * inverse.astype(g.dtype) for g in gradients))

    def step(self, optimizer, gradients=None):
        """Step, unless a gradient of this optimizer is infinite or not a number; without
        gradients, by those that lie at the parameters.
        """
        place = id(None) if id(None) in self.overflowed else id(optimizer)
        if self.enabled and place not in self.overflowed:
            gradients = self.unscale(gradients, optimizer)
        if self.overflowed.get(place, False):
            return
        optimizer(gradients)

    def update(self, new_scale=None):
        if self.enabled:
            if new_scale is not None:
                self._set(float(new_scale))
            elif any(self.overflowed.values()):
                self._set(self.get_scale() * self.backoff_factor)
                self.growth_tracker = 0
            else:
                self.growth_tracker += 1
                if self.growth_tracker == self.growth_interval:
                    self._set(self.get_scale() * self.growth_factor)
                    self.growth_tracker = 0
        self.overflowed = {}

    def get_scale(self):
        return float(self.factor.asnumpy())

    def state_dict(self):
        if not self.enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
            "_growth_tracker": self.growth_tracker,
        }

    def load_state_dict(self, state):
        if self.enabled:
            self._set(float(state["scale"]))
            self.growth_factor = float(state["growth_factor"])
            self.backoff_factor = float(state["backoff_factor"])
            self.growth_interval = int(state["growth_interval"])
            self.growth_tracker = int(state["_growth_tracker"])

    def _set(self, value):
        ops.assign(self.factor, mindspore.Tensor(value, mindspore.float32))


def set_value(tensor, value):
    """Change a tensor itself, as torch's in-place operators do: all who hold it or a view of it
    see it.
    """
    value = value.broadcast_to(tensor.shape).astype(tensor.dtype)
    if isinstance(tensor, Parameter):
        ops.assign(tensor, value)
    else:
        tensor[()] = value  # writes to the memory; assign_value would take other memory
    return tensor


def load_state_dict(module, state_dict):
    """Give a Cell the values of a state dict, by torch's names or by MindSpore's.

    They are assigned: after a set_data, optimizers and compiled steps go on with the old memory.
    """
    own = own_state(module)
    names = torch_names(module, own)
    given = {names.get(name, name): value for name, value in state_dict.items()}
    # torch fills in the counters of a dict that was put together, and MindSpore has them in part.
    places = [name for name, _ in in_torch_order(list(own.items()))]
    missing = _without_counters(names[name] for name in places if names[name] not in given)
    unexpected = [name for name in given if name not in names.values()]
    if len(_without_counters(own)) == len(own):
        unexpected = _without_counters(unexpected)  # torch's norms count, these do not
    refused = _named_keys("Missing", missing) + _named_keys("Unexpected", unexpected)
    wrong = refused
    for name, tensor in own.items():
        if names[name] in given:
            value = given[names[name]]
            if tuple(value.shape) != tuple(tensor.shape):
                wrong.append(
                    f"size mismatch for {names[name]}: copying a param with shape "
                    f"torch.Size({list(value.shape)}) from checkpoint, the shape in current model "
                    f"is torch.Size({list(tensor.shape)})."
                )
                continue
            set_value(tensor, value if isinstance(value, Tensor) else Tensor(value))
    if wrong:
        found = "\n\t".join(wrong)
        kind = type(module).__name__.removesuffix("Cell").replace("Dense", "Linear")
        raise RuntimeError(f"Error(s) in loading state_dict for {kind}:\n\t{found}")
    return None


def _without_counters(names):
    return [name for name in names if not name.endswith("num_batches_tracked")]


def _named_keys(kind, names):
    """What torch says of keys that are missing or not expected."""
    shown = ", ".join(f'"{name}"' for name in names)
    return [f"{kind} key(s) in state_dict: {shown}. "] if names else []
