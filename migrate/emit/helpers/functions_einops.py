"""einops' functions: a pattern is read before the tensors are known; what runs is reshapes, one
reduction, one transpose and one broadcast.
"""

import numpy as np
from mindspore import ops

from migrate.emit.helpers.functions_einsum import einsum
from migrate.emit.helpers.functions_reduce import prod


def _einops_axes(side):
    """`b (h w) 1 (...) ...` as names for each axis: none for a unit axis, a list for the axes that
    are one, and for an ellipsis that stands alone a tuple, because it is several axes.
    """
    for sign in ("...", "(", ")"):
        side = side.replace(sign, f" {sign} ")
    groups, inside = [], None
    for word in side.replace("\N{HORIZONTAL ELLIPSIS}", " ... ").split():
        if word == "(":
            inside = []
        elif word == ")":
            groups.append(inside)
            inside = None
        else:
            names = [] if word == "1" else [word]
            if inside is not None:
                inside += names
            else:
                groups.append(("...",) if word == "..." else names)
    return groups


def _einops_names(groups):
    return [name for group in groups for name in group]


def _einops_sides(pattern, rank):
    """Both sides as lists of names for each axis; the ellipsis has a name for each of its axes, and
    a number, which is a length without a name, gets one that differs from all others.
    """
    sides = [_einops_axes(side) for side in pattern.split("->")]
    many = ("...",) in sides[0]
    rest = [f"...{i}" for i in range(rank - len(sides[0]) + 1)] if many else []
    if len(sides[0]) - many + len(rest) != rank:
        raise ValueError(f"'{pattern}' does not fit a tensor of {rank} dimensions")
    named = []
    for side, groups in enumerate(sides):
        axes = []
        for place, group in enumerate(groups):
            names = []
            for name in group:
                if name == "...":
                    names += rest
                elif name.isdecimal():
                    names.append(f"{name} {side} {place} {len(names)}")
                else:
                    names.append(name)
            axes += [[name] for name in names] if group == ("...",) else [names]
        named.append(axes)
    return named


def _einops_sizes(axes, shape, sizes, pattern):
    """The length of every name on the left; at most one of a group may have to be found."""
    for names, size in zip(axes, shape, strict=True):
        known, missing = 1, None
        for name in names:
            if name in sizes:
                known *= sizes[name]
            else:
                missing = name
        if missing is not None:
            sizes[missing] = size // known
            known *= sizes[missing]
        if known != size:
            raise ValueError(f"'{pattern}' does not fit the shape {tuple(shape)}")
    return sizes


@ops.constexpr
def _einops_plan(pattern, shape, names, lengths):
    """All steps as tuples of numbers; None for a step that would change nothing."""
    left, right = _einops_sides(pattern, len(shape))
    sizes = dict(zip(names, lengths, strict=True))
    for name in _einops_names(left + right):
        if name[0].isdecimal():
            sizes[name] = int(name.split()[0])
    sizes = _einops_sizes(left, shape, sizes, pattern)
    before, after = _einops_names(left), _einops_names(right)
    kept = [name for name in before if name in after]
    order = tuple(kept.index(name) for name in after if name in kept)
    split = tuple(sizes[name] for name in before)
    ones = tuple(sizes[name] if name in kept else 1 for name in after)
    whole = tuple(sizes[name] for name in after)
    final = ()
    for group in right:
        size = 1
        for name in group:
            size *= sizes[name]
        final += (size,)
    grows = whole != ones
    arranged = tuple(sizes[kept[place]] for place in order)
    return (
        split if split != tuple(shape) else None,
        tuple(place for place, name in enumerate(before) if name not in after),
        order if order != tuple(range(len(order))) else None,
        ones if grows and ones != arranged else None,
        whole if grows else None,
        final if final != (whole if grows else arranged) else None,
    )


def _einops_reduce(tensor, reduction, axes):
    """One of einops' reductions by its name, or the caller's own function of tensor and axes."""
    if not isinstance(reduction, str):
        return reduction(tensor, axes)
    if reduction == "mean":
        return tensor.mean(axes)
    if reduction == "sum":
        return tensor.sum(axes)
    if reduction == "any":
        return tensor.any(axes)
    if reduction == "all":
        return tensor.all(axes)
    if isinstance(tensor, np.ndarray):
        return getattr(np, reduction)(tensor, axes)
    if reduction == "max":
        return ops.amax(tensor, axes)
    if reduction == "min":
        return ops.amin(tensor, axes)
    for axis in axes[::-1]:
        tensor = prod(tensor, axis)
    return tensor


def _einops_run(tensor, pattern, reduction, names, lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = np.stack(tensor) if isinstance(tensor[0], np.ndarray) else ops.stack(tensor)
    plan = _einops_plan(pattern, tensor.shape, names, lengths)
    split, reduced, order, ones, whole, final = plan
    if split is not None:
        tensor = tensor.reshape(split)
    if len(reduced) > 0:
        tensor = _einops_reduce(tensor, reduction, reduced)
    if order is not None:
        tensor = tensor.transpose(order)
    if ones is not None:
        tensor = tensor.reshape(ones)
    if whole is not None:
        if isinstance(tensor, np.ndarray):
            tensor = np.broadcast_to(tensor, whole)
        else:
            tensor = ops.broadcast_to(tensor, whole)
    return tensor if final is None else tensor.reshape(final)


def rearrange(tensor, pattern, **axes_lengths):
    """einops.rearrange of a tensor, or of a list of tensors as one with a new first axis."""
    return _einops_run(
        tensor, pattern, "", tuple(axes_lengths.keys()), tuple(axes_lengths.values())
    )


def repeat(tensor, pattern, **axes_lengths):
    """einops.repeat: axes that only the right side names are new."""
    return _einops_run(
        tensor, pattern, "", tuple(axes_lengths.keys()), tuple(axes_lengths.values())
    )


def reduce(tensor, pattern, reduction, **axes_lengths):
    """einops.reduce: axes that the right side does not name are reduced."""
    return _einops_run(
        tensor, pattern, reduction, tuple(axes_lengths.keys()), tuple(axes_lengths.values())
    )


@ops.constexpr
def _einops_letters(pattern):
    """The pattern in einsum's single letters."""
    letters = {}
    words = pattern.replace("...", " ... ").replace(",", " , ").replace("->", " -> ").split()
    for word in words:
        if word not in ("...", ",", "->", *letters):
            letters[word] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
    return "".join(letters.get(word, word) for word in words)


def einops_einsum(*tensors_and_pattern):
    """einops.einsum: tensors first, and axes may have whole words for names."""
    return einsum(_einops_letters(tensors_and_pattern[-1]), *tensors_and_pattern[:-1])


@ops.constexpr
def _packed_place(pattern):
    """How many axes stand before the packed ones, and how many after."""
    names = pattern.split()
    return names.index("*"), len(names) - names.index("*") - 1


@ops.constexpr
def _unpacked_parts(size, shapes):
    """Where each part starts and ends; one length may be -1, which takes what is left."""
    counts, open_part = [], None
    for place, shape in enumerate(shapes):
        count = 1
        for length in shape:
            count *= length
        counts.append(count)
        open_part = place if count < 0 else open_part
    if open_part is not None:
        counts[open_part] = size - sum(count for count in counts if count >= 0)
    ends = [sum(counts[: place + 1]) for place in range(len(counts))]
    return tuple(zip([0, *ends[:-1]], ends, strict=True))


def pack(tensors, pattern):
    """einops.pack: the axes under `*` of every tensor flattened into one, side by side."""
    before, after = _packed_place(pattern)
    shapes, parts = [], []
    for tensor in tensors:
        stop = len(tensor.shape) - after
        shapes.append(tensor.shape[before:stop])
        parts.append(tensor.reshape((*tensor.shape[:before], -1, *tensor.shape[stop:])))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts, before), shapes
    return ops.cat(parts, axis=before), shapes


def unpack(tensor, packed_shapes, pattern):
    """einops.unpack: the parts that `pack` put side by side."""
    before = _packed_place(pattern)[0]
    shapes = ()
    for shape in packed_shapes:
        shapes += (tuple(shape),)
    bounds = _unpacked_parts(tensor.shape[before], shapes)
    parts = []
    for i in range(len(shapes)):
        start, stop = bounds[i]
        part = tensor[(slice(None),) * before + (slice(start, stop),)]
        parts.append(part.reshape(tensor.shape[:before] + shapes[i] + tensor.shape[before + 1 :]))
    return parts


@ops.constexpr
def _named_places(pattern):
    """The names of a pattern with their axes; `_` and units have none."""
    groups = _einops_axes(pattern)
    places = []
    for place, group in enumerate(groups):
        if group and group[0] not in ("...", "_") and not group[0].isdecimal():
            later = ("...",) in groups[:place]
            places.append((group[0], place - len(groups) if later else place))
    return tuple(places)


def parse_shape(x, pattern):
    """einops.parse_shape: the lengths of the named axes."""
    lengths = {}
    for name, place in _named_places(pattern):
        lengths[name] = x.shape[place]
    return lengths
