"""einsum from transposes, reshapes and matrix products: on every device, in both modes."""

from mindspore import ops


def _einsum_terms(equation, ranks):
    """Index letters of every operand and of the result; an ellipsis becomes capital letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    extras = [rank - len(t) + 3 if "..." in t else 0 for t, rank in zip(terms, ranks, strict=False)]
    free = "".join(c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation)[: max(extras)]
    terms = [
        t.replace("...", free[len(free) - extra :]) for t, extra in zip(terms, extras, strict=False)
    ]
    if arrow:
        return terms, right.replace("...", free)
    joined = "".join(terms)
    return terms, free + "".join(sorted(c for c in set(joined) - set(free) if joined.count(c) == 1))


def _einsum_diagonals(term):
    """Repeated letters of one operand stand for a diagonal: the axes to take, and what is left."""
    steps = []
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            steps.append((first, second))
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return tuple(steps), term


def _einsum_prepare(term, sizes, wanted, diagonals=()):
    """How to bring an operand to the axes `wanted`: diagonals, sums, order, shape."""
    summed = tuple(i for i, c in enumerate(term) if c not in wanted)
    kept = [c for c in term if c in wanted]
    order = tuple(kept.index(c) for c in wanted if c in kept)
    shape = tuple(sizes[c] if c in kept else 1 for c in wanted)
    return diagonals, summed, order, shape


@ops.constexpr
def _einsum_plan(equation, shapes):
    """All that can be computed before the tensors are known, as nested tuples of numbers."""
    terms, output = _einsum_terms(equation, [len(shape) for shape in shapes])
    own = []
    for term, shape in zip(terms, shapes, strict=False):
        sizes = {}
        for letter, size in zip(term, shape, strict=False):
            sizes[letter] = size
        diagonals, term = _einsum_diagonals(term)
        own.append((term, sizes, diagonals))
    a_term, a_sizes, a_diagonals = own[0]
    steps = []
    for i in range(1, len(own)):
        b_term, b_sizes, b_diagonals = own[i]
        later = output + "".join(term for term, _, _ in own[i + 1 :])
        shared = [c for c in a_term if c in b_term]
        batch = "".join(c for c in shared if c in later)
        inner = "".join(c for c in shared if c not in later)
        rows = "".join(c for c in a_term if c in later and c not in b_term)
        columns = "".join(c for c in b_term if c in later and c not in a_term)
        size = {c: max(a_sizes.get(c, 1), b_sizes.get(c, 1)) for c in a_term + b_term}
        count = [1, 1, 1, 1]
        for position, letters in enumerate((batch, rows, inner, columns)):
            for c in letters:
                count[position] *= size[c]
        left = batch + rows + inner
        right = batch + inner + columns
        result = batch + rows + columns
        steps.append(
            (
                _einsum_prepare(a_term, a_sizes, left, a_diagonals),
                tuple(size[c] for c in left),
                (count[0], count[1], count[2]),
                _einsum_prepare(b_term, b_sizes, right, b_diagonals),
                tuple(size[c] for c in right),
                (count[0], count[2], count[3]),
                tuple(size[c] for c in result),
            )
        )
        a_term, a_sizes, a_diagonals = result, size, ()
    return tuple(steps), _einsum_prepare(a_term, a_sizes, output, a_diagonals)


def _einsum_arrange(operand, prepared):
    """Carry out what `_einsum_prepare` found."""
    diagonals, summed, order, shape = prepared
    for axes in diagonals:
        operand = ops.diagonal(operand, 0, axes[0], axes[1])
    if len(summed) > 0:
        operand = operand.sum(summed)
    if len(order) > 1:
        operand = ops.transpose(operand, order)
    return operand.reshape(shape)


def einsum(equation, *operands):
    """torch's einsum; operands are contracted from left to right, each by one matrix product."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    shapes = ()
    for operand in operands:
        shapes += (operand.shape,)
    steps, last = _einsum_plan(equation, shapes)
    result = operands[0]
    for i in range(len(steps)):
        left, left_size, left_matrix, right, right_size, right_matrix, size = steps[i]
        a = _einsum_arrange(result, left).broadcast_to(left_size).reshape(left_matrix)
        b = _einsum_arrange(operands[i + 1], right).broadcast_to(right_size).reshape(right_matrix)
        result = ops.bmm(a, b).reshape(size)
    return _einsum_arrange(result, last)
