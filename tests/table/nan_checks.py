"""Functions that keep NaN: torch's values with one, torch's gradients without one."""


def gradient_differences():
    import mindspore
    import numpy as np
    import torch
    from mindspore import Tensor

    from migrate.emit.helpers import functions_nan as ours
    from migrate.emit.helpers import functions_nan_order as more
    from migrate.emit.helpers.functions_activation import selu
    from migrate.emit.helpers.functions_loss_infinite import cross_entropy_of_infinite
    from migrate.emit.helpers.modules_activation import Softplus

    functional = torch.nn.functional
    pairs = {
        "relu": (ours.relu_with_nan, functional.relu),
        "relu6": (ours.relu6_with_nan, functional.relu6),
        "hardtanh": (ours.hardtanh_with_nan, functional.hardtanh),
        "clamp": (lambda x: ours.clamp_with_nan(x, -0.3, 0.5), lambda x: x.clamp(-0.3, 0.5)),
        "maximum": (lambda x: ours.maximum_with_nan(x, -x), lambda x: torch.maximum(x, -x)),
        "minimum": (lambda x: ours.minimum_with_nan(x, -x), lambda x: torch.minimum(x, -x)),
        "amax": (lambda x: ours.amax_with_nan(x, -1), lambda x: x.amax(-1)),
        "amin": (lambda x: ours.amin_with_nan(x), lambda x: x.amin()),
        "max": (lambda x: ours.max_with_nan(x, 1)[0], lambda x: x.max(1)[0]),
        "min": (lambda x: ours.min_with_nan(x, 1)[0], lambda x: x.min(1)[0]),
        "max_pool2d": (
            lambda x: ours.max_pool2d_with_nan(x, 3, 2, 1),
            lambda x: functional.max_pool2d(x, 3, 2, 1),
        ),
        "adaptive_max_pool2d": (
            lambda x: ours.adaptive_max_pool2d_with_nan(x, 2),
            lambda x: functional.adaptive_max_pool2d(x, 2),
        ),
        "softmax": (lambda x: ours.softmax_with_nan(x, -1), lambda x: x.softmax(-1)),
        "log_softmax": (lambda x: ours.log_softmax_with_nan(x, 1), lambda x: x.log_softmax(1)),
        "selu": (selu, functional.selu),
        "Softplus": (lambda x: Softplus(2.0)(x), lambda x: functional.softplus(x, 2.0)),
        "softplus": (more.softplus_with_nan, functional.softplus),
        "hardshrink": (more.hardshrink_with_nan, functional.hardshrink),
        "softshrink": (more.softshrink_with_nan, functional.softshrink),
        "threshold": (
            lambda x: more.threshold_with_nan(x, 0.1, -2.0),
            lambda x: functional.threshold(x, 0.1, -2.0),
        ),
        "sort": (lambda x: more.sort_with_nan(x, 1)[0], lambda x: x.sort(1)[0]),
        "sort, descending": (
            lambda x: more.sort_with_nan(x, 2, True)[0],
            lambda x: x.sort(2, True)[0],
        ),
        "topk": (lambda x: more.topk_with_nan(x, 2)[0], lambda x: x.topk(2)[0]),
        "median": (more.median_with_nan, lambda x: x.median()),
        "median of rows": (
            lambda x: more.median_with_nan(x, -1)[0],
            lambda x: x.median(-1)[0],
        ),
        "max_pool1d": (
            lambda x: more.max_pool1d_with_nan(x[0], 3, 2, 1),
            lambda x: functional.max_pool1d(x[0], 3, 2, 1),
        ),
        "cross_entropy": (
            lambda x: cross_entropy_of_infinite(x, Tensor(np.ones((2, 6, 6), np.int64))),
            lambda x: functional.cross_entropy(x, torch.ones(2, 6, 6, dtype=torch.long)),
        ),
        "logsumexp": (lambda x: ours.logsumexp_with_nan(x, 2), lambda x: x.logsumexp(2)),
    }
    rng = np.random.RandomState(0)
    clean = rng.permutation(2 * 3 * 6 * 6).reshape(2, 3, 6, 6).astype(np.float32) / 100 - 1.003
    spoilt = clean.copy()
    spoilt[0, 1, 2, 3] = np.nan
    masked = clean.copy()
    masked[0, 1, 2], masked[1, 0, 0, 0] = -np.inf, -np.inf
    differences = {}
    for name in ("softmax", "log_softmax", "logsumexp"):
        own, reference = pairs[name][0](Tensor(masked)), pairs[name][1](torch.from_numpy(masked))
        same = np.allclose(own.asnumpy(), reference.numpy(), atol=1e-5, equal_nan=True)
        differences[f"{name}, rows of which all is masked"] = 0.0 if same else 1.0
    for name, (own, reference) in pairs.items():
        expected = reference(torch.from_numpy(spoilt)).numpy()
        same = np.array_equal(own(Tensor(spoilt)).asnumpy(), expected, equal_nan=True)
        near = np.allclose(own(Tensor(spoilt)).asnumpy(), expected, atol=1e-6, equal_nan=True)
        differences[f"{name}, values"] = 0.0 if same or near else 1.0
        given = torch.from_numpy(clean).requires_grad_()
        result = reference(given)
        weights = rng.standard_normal(tuple(result.shape)).astype(np.float32)
        (result * torch.from_numpy(weights)).sum().backward()

        def loss(x, own=own, weights=weights):
            return (own(x) * Tensor(weights)).sum()

        found = mindspore.grad(loss)(Tensor(clean)).asnumpy()
        gap = np.abs(found - given.grad.numpy()).max()
        differences[f"{name}, gradient"] = float(gap) if np.isfinite(gap) else float("inf")

    def squares(x):
        return (ours.softmax_with_nan(x, -1) ** 2).sum()

    @mindspore.jit
    def compiled(x):
        return mindspore.grad(squares)(x)

    given = torch.from_numpy(clean).requires_grad_()
    (given.softmax(-1) ** 2).sum().backward()
    gap = np.abs(compiled(Tensor(clean)).asnumpy() - given.grad.numpy()).max()
    differences["compiled"] = float(gap) if np.isfinite(gap) else float("inf")
    return differences
