"""Shapes, diagonals and grids as torch makes them."""

from mindspore import ops


def diag(input, diagonal=0):
    """torch's diag: a matrix from a vector, or the diagonal of a matrix."""
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
            merged += (max(shape[i], result[i]),)
        result = merged
    return result


def cartesian_prod(*tensors):
    """torch's cartesian_prod, which leaves a single tensor as it is."""
    if len(tensors) == 1:
        return tensors[0]
    return ops.cartesian_prod(*tensors)


def tensor_split(input, indices_or_sections, dim=0):
    """torch's tensor_split; positions may come as a tensor."""
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
    a_free = tuple([axis for axis in range(a.ndim) if axis not in left])
    b_free = tuple([axis for axis in range(b.ndim) if axis not in right])
    shape = tuple([a.shape[axis] for axis in a_free]) + tuple([b.shape[axis] for axis in b_free])
    inner = 1
    for axis in left:
        inner *= a.shape[axis]
    rows = a.transpose(a_free + left).reshape((-1, inner))
    columns = b.transpose(right + b_free).reshape((inner, -1))
    return ops.matmul(rows, columns).reshape(shape)
