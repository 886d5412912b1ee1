"""Shapes, diagonals and grids as torch makes them."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad


def diag(input, diagonal=0):
    """torch's diag: a matrix from a vector, or the diagonal of a matrix."""
    if input.ndim not in (1, 2):
        raise ValueError("diag takes vectors and matrices")
    if input.ndim == 1:
        return ops.diagflat(input, diagonal)
    return ops.diagonal(input, diagonal)


def cross(input, other, dim=None):
    """torch's cross; MindSpore's CPU kernel is wrong unless dim is the first one of size 3."""
    shape = ()
    for i in range(input.ndim):
        shape += (max(input.shape[i], other.shape[i]),)
    axis = shape.index(3) if dim is None else dim
    a = ops.unbind(input.broadcast_to(shape), dim=axis)
    b = ops.unbind(other.broadcast_to(shape), dim=axis)
    parts = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return ops.stack(parts, axis=axis)


def broadcast_tensors(*tensors):
    """torch's broadcast_tensors."""
    shape = broadcast_shapes(*[tensor.shape for tensor in tensors])
    return tuple([tensor.broadcast_to(shape) for tensor in tensors])


def broadcast_shapes(*shapes):
    """torch's broadcast_shapes, as a tuple."""
    result = ()
    for shape in shapes:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        longest = max(len(shape), len(result))
        shape = (1,) * (longest - len(shape)) + shape
        result = (1,) * (longest - len(result)) + result
        merged = ()
        for i in range(longest):
            if shape[i] != result[i] and shape[i] != 1 and result[i] != 1:
                raise ValueError("shapes cannot be broadcast together")
            merged += (result[i] if shape[i] == 1 else shape[i],)
        result = merged
    return result


def cartesian_prod(*tensors):
    """torch's cartesian_prod, which leaves a single tensor as it is."""
    if len(tensors) == 1:
        return tensors[0]
    return ops.cartesian_prod(*tensors)


def tensor_split(input, indices_or_sections, dim=0):
    """torch's tensor_split; positions may come as a tensor, in PyNative mode."""
    if not isinstance(indices_or_sections, (int, tuple, list)):
        indices_or_sections = indices_or_sections.asnumpy().tolist()
    return ops.tensor_split(input, indices_or_sections, axis=dim)


def tensordot(a, b, dims=2):
    """torch's tensordot, as one matrix product."""
    if isinstance(dims, int):
        left = tuple(range(a.ndim - dims, a.ndim))
        right = tuple(range(dims))
    else:
        left = tuple([axis % a.ndim for axis in dims[0]])
        right = tuple([axis % b.ndim for axis in dims[1]])
    for i in range(len(left)):  # a dimension of size 1 stands for as many as the other side has
        if a.shape[left[i]] < b.shape[right[i]]:
            b = b.sum(right[i], keepdims=True)
        elif b.shape[right[i]] < a.shape[left[i]]:
            a = a.sum(left[i], keepdims=True)
    a_free = tuple([axis for axis in range(a.ndim) if axis not in left])
    b_free = tuple([axis for axis in range(b.ndim) if axis not in right])
    shape = tuple([a.shape[axis] for axis in a_free]) + tuple([b.shape[axis] for axis in b_free])
    inner = 1
    for axis in left:
        inner *= a.shape[axis]
    rows = a.transpose(a_free + left).reshape((-1, inner))
    columns = b.transpose(right + b_free).reshape((inner, -1))
    return ops.matmul(rows, columns).reshape(shape)


def combinations(input, r=2, with_replacement=False):
    """torch's combinations, also where there are none."""
    if input.shape[0] == 0 or (input.shape[0] < r and not with_replacement):
        return ops.zeros((0, r), input.dtype)
    return ops.combinations(input, r, with_replacement)


def unravel_index(indices, shape):
    """torch's unravel_index: flat positions as one tensor for each dimension."""
    result = ()
    for size in reversed(shape):
        result = (indices % size, *result)
        indices = indices // size
    return result


def vander(x, N=None, increasing=False):
    """torch's vander: powers of a vector, falling unless increasing."""
    matrix = ops.vander(x, x.shape[0] if N is None else N)
    return ops.flip(matrix, (-1,)) if increasing else matrix


def block_diag(*tensors):
    """torch's block_diag, which also takes numbers and vectors."""
    rows = [tensor.reshape((1, -1)) if tensor.ndim < 2 else tensor for tensor in tensors]
    width = 0
    for row in rows:
        width += row.shape[1]
    result = []
    left = 0
    for row in rows:
        result.append(constant_pad(row, (left, width - left - row.shape[1])))
        left += row.shape[1]
    return ops.cat(result, axis=0)


def isin(elements, test_elements, assume_unique=False, invert=False):
    """torch's isin, by comparing each element with each."""
    elements = mindspore.Tensor(elements) if isinstance(elements, (int, float)) else elements
    if not isinstance(test_elements, (int, float)):
        test_elements = test_elements.reshape((-1,))
    found = ops.any(elements.expand_dims(-1) == test_elements, axis=-1)
    return ops.logical_not(found) if invert else found


def bitwise_not(input):
    """torch's bitwise_not; in MindSpore `~` is a logical not for every dtype."""
    return ops.logical_not(input) if input.dtype == mindspore.bool_ else -1 - input


def slice_copy(input, dim=0, start=None, end=None, step=1):
    """A slice of one dimension."""
    axis = dim + input.ndim if dim < 0 else dim
    return input[(*(slice(None),) * axis, slice(start, end, step))]


def norm_except_dim(v, pow=2, dim=0):
    """torch's norm_except_dim: the norm of every slice along one dimension."""
    if dim == -1:
        return ops.vector_norm(v, ord=pow)
    axes = tuple([axis for axis in range(v.ndim) if axis != dim])
    return ops.vector_norm(v, ord=pow, axis=axes, keepdims=True)
