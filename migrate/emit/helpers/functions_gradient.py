"""torch.gradient: differences of neighbours, second order inside."""

from mindspore import ops


def _gradient_axis(x, axis, spacing, edge_order):
    """The derivative along one axis; spacing is a number or the coordinates."""
    head = (slice(None),) * axis

    def part(first, last):
        return x[(*head, slice(first, last))]

    size = x.shape[axis]
    if isinstance(spacing, (int, float)):
        inner = (part(2, size) - part(0, size - 2)) / (2.0 * spacing)
        first = (part(1, 2) - part(0, 1)) / spacing
        last = (part(size - 1, size) - part(size - 2, size - 1)) / spacing
        if edge_order == 2:
            first = (-3 * part(0, 1) + 4 * part(1, 2) - part(2, 3)) / (2.0 * spacing)
            last = 3 * part(size - 1, size) - 4 * part(size - 2, size - 1)
            last = (last + part(size - 3, size - 2)) / (2.0 * spacing)
        return ops.cat((first, inner, last), axis=axis)
    shape = (-1,) + (1,) * (x.ndim - axis - 1)
    step = spacing[1:] - spacing[:-1]
    before, after = step[:-1].reshape(shape), step[1:].reshape(shape)
    inner = (
        part(2, size) * before / after
        - part(0, size - 2) * after / before
        + part(1, size - 1) * (after / before - before / after)
    ) / (before + after)
    first = (part(1, 2) - part(0, 1)) / step[0]
    last = (part(size - 1, size) - part(size - 2, size - 1)) / step[-1]
    if edge_order == 2:
        a, b = step[0], step[1]
        first = -(2 * a + b) / (a * (a + b)) * part(0, 1) + (a + b) / (a * b) * part(1, 2)
        first = first - a / (b * (a + b)) * part(2, 3)
        a, b = step[-2], step[-1]
        last = b / (a * (a + b)) * part(size - 3, size - 2)
        last = last - (a + b) / (a * b) * part(size - 2, size - 1)
        last = last + (a + 2 * b) / (b * (a + b)) * part(size - 1, size)
    return ops.cat((first, inner, last), axis=axis)


def gradient(input, spacing=1, dim=None, edge_order=1):
    """torch's gradient, one tensor for each dimension."""
    if edge_order not in (1, 2):
        raise ValueError("edge_order is 1 or 2")
    axes = tuple(range(input.ndim)) if dim is None else dim
    axes = (axes,) if isinstance(axes, int) else axes
    spacing = 1 if spacing is None else spacing
    result = []
    for i in range(len(axes)):
        step = spacing[i] if isinstance(spacing, (tuple, list)) else spacing
        axis = axes[i] + input.ndim if axes[i] < 0 else axes[i]
        result.append(_gradient_axis(input, axis, step, edge_order))
    return result
