"""The length of a quasi-Newton step by the strong Wolfe conditions: the loss falls enough, and its
slope has become flat enough. First an interval is found that holds such a length, then it shrinks
by cubic interpolation, with the constants that torch.optim.LBFGS uses.
"""

import math

_FALL = 1e-4
_FLAT = 0.9
_MOST_EVALUATIONS = 25


def wolfe_step(evaluate, first, start, reach, least):
    """(length, loss, gradient, evaluations) from `evaluate(length)`, which gives a point: length,
    loss, gradient and slope. `start` is the point of length 0, `reach` the largest entry of the
    direction, `least` the smallest move that counts.
    """
    last, point, count = start, evaluate(first), 0
    while count < _MOST_EVALUATIONS:
        if _is_too_far(point, start) or (count > 1 and point[1] >= last[1]):
            break
        if _is_flat(point, start):
            return (*point[:3], count + 1)
        if point[3] >= 0:
            break
        low, high = point[0] + 0.01 * (point[0] - last[0]), point[0] * 10
        length = _lowest(last, point, low, high)
        last, point = point, evaluate(length)
        count += 1
    else:
        last = start
    best, count = _narrowed(evaluate, start, [last, point], count, reach / least)
    return (*best[:3], count + 1)


def _narrowed(evaluate, start, ends, count, finest):
    """The best end of the interval once it holds a flat point or has become too small."""
    stalled, low = False, _lower(ends)
    while count < _MOST_EVALUATIONS and abs(ends[1][0] - ends[0][0]) * finest >= 1:
        left, right = min(ends[0][0], ends[1][0]), max(ends[0][0], ends[1][0])
        length = _lowest(*ends, left, right)
        margin = 0.1 * (right - left)
        if min(right - length, length - left) >= margin:
            stalled = False
        elif stalled or length >= right or length <= left:
            near_right = abs(length - right) < abs(length - left)
            length = right - margin if near_right else left + margin
            stalled = False
        else:
            stalled = True
        point = evaluate(length)
        count += 1
        if _is_too_far(point, start) or point[1] >= ends[low][1]:
            ends[1 - low] = point
            low = _lower(ends)
            continue
        if _is_flat(point, start):
            return point, count
        if point[3] * (ends[1 - low][0] - ends[low][0]) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = point
    return ends[low], count


def _lower(ends):
    """Which of both ends has the lower loss; the first one, if they have the same."""
    return 0 if ends[0][1] <= ends[1][1] else 1


def _is_too_far(point, start):
    return point[1] > start[1] + _FALL * point[0] * start[3]


def _is_flat(point, start):
    return abs(point[3]) <= -_FLAT * start[3]


def _lowest(one, other, low, high):
    """Where the cubic through two points with their slopes is lowest, between low and high."""
    left, right = sorted((one, other), key=lambda point: point[0])
    bend = left[3] + right[3] - 3 * (left[1] - right[1]) / (left[0] - right[0])
    square = bend * bend - left[3] * right[3]
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    share = (right[3] + root - bend) / (right[3] - left[3] + 2 * root)
    return min(max(right[0] - (right[0] - left[0]) * share, low), high)
