"""torch.distributions on plain operators; parameters broadcast against each other."""

import math

import mindspore
from mindspore import Tensor, ops


def _float_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value, mindspore.float32)


def _broadcast(*values):
    """All values as Tensors of one common shape."""
    total = sum(_float_tensor(value) * 0 for value in values)
    return [_float_tensor(value) + total for value in values]


@mindspore.jit_class
class Distribution:
    """Base: subclasses give batch_shape, log_prob, and rsample or sample."""

    event_shape = ()

    def sample(self, sample_shape=()):
        return ops.stop_gradient(self.rsample(sample_shape))

    def prob(self, value):
        return ops.exp(self.log_prob(value))

    @property
    def stddev(self):
        return ops.sqrt(self.variance)

    def _shape(self, sample_shape):
        return tuple(sample_shape) + tuple(self.batch_shape)


@mindspore.jit_class
class NormalDistribution(Distribution):
    """The normal distribution with mean loc and standard deviation scale."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _broadcast(loc, scale)
        self.batch_shape = self.loc.shape
        self.mean, self.variance = self.loc, self.scale**2

    def rsample(self, sample_shape=()):
        return self.loc + self.scale * ops.randn(self._shape(sample_shape), dtype=self.loc.dtype)

    def log_prob(self, value):
        spread = (value - self.loc) / self.scale
        return -0.5 * spread * spread - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + ops.log(self.scale)

    def cdf(self, value):
        return 0.5 * (1 + ops.erf((value - self.loc) / (self.scale * math.sqrt(2))))


@mindspore.jit_class
class LaplaceDistribution(Distribution):
    """The double exponential distribution."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _broadcast(loc, scale)
        self.batch_shape = self.loc.shape
        self.mean, self.variance = self.loc, 2 * self.scale**2

    def rsample(self, sample_shape=()):
        # A number in (-1, 1) decides the side and, by its size, the distance.
        u = ops.rand(self._shape(sample_shape), dtype=self.loc.dtype) * 2 - 1
        return self.loc - self.scale * ops.sign(u) * ops.log1p(-ops.abs(u) * (1 - 1e-7))

    def log_prob(self, value):
        return -ops.log(2 * self.scale) - ops.abs(value - self.loc) / self.scale

    def entropy(self):
        return 1 + ops.log(2 * self.scale)


@mindspore.jit_class
class UniformDistribution(Distribution):
    """Equal density from low up to high."""

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = _broadcast(low, high)
        self.batch_shape = self.low.shape
        self.mean = (self.low + self.high) / 2
        self.variance = (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape=()):
        share = ops.rand(self._shape(sample_shape), dtype=self.low.dtype)
        return self.low + share * (self.high - self.low)

    def log_prob(self, value):
        inside = ops.logical_and(self.low <= value, value < self.high).astype(self.low.dtype)
        return ops.log(inside) - ops.log(self.high - self.low)

    def entropy(self):
        return ops.log(self.high - self.low)


@mindspore.jit_class
class ExponentialDistribution(Distribution):
    """Waiting times at a rate."""

    def __init__(self, rate, validate_args=None):
        self.rate = _float_tensor(rate)
        self.batch_shape = self.rate.shape
        self.mean, self.variance = 1 / self.rate, 1 / self.rate**2

    def rsample(self, sample_shape=()):
        u = ops.rand(self._shape(sample_shape), dtype=self.rate.dtype)
        return -ops.log1p(-u * (1 - 1e-7)) / self.rate

    def log_prob(self, value):
        return ops.log(self.rate) - self.rate * value

    def entropy(self):
        return 1 - ops.log(self.rate)


@mindspore.jit_class
class BernoulliDistribution(Distribution):
    """One with the given probability, else zero."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            self.probs = _float_tensor(probs)
            bounded = ops.clamp(self.probs, 1.1920929e-07, 1 - 1.1920929e-07)
            self.logits = ops.log(bounded) - ops.log1p(-bounded)
        else:
            self.logits = _float_tensor(logits)
            self.probs = ops.sigmoid(self.logits)
        self.batch_shape = self.probs.shape
        self.mean, self.variance = self.probs, self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        drawn = ops.rand(self._shape(sample_shape), dtype=self.probs.dtype)
        return ops.stop_gradient((drawn < self.probs).astype(self.probs.dtype))

    def log_prob(self, value):
        return value * self.logits - ops.softplus(self.logits)

    def entropy(self):
        return ops.softplus(self.logits) - self.probs * self.logits


@mindspore.jit_class
class CategoricalDistribution(Distribution):
    """One of the numbers 0 to n-1; the last axis holds their weights."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            probs = probs / probs.sum(-1, keepdims=True)
            self.logits = ops.log(ops.clamp(probs, 1.1920929e-07, 1 - 1.1920929e-07))
            self.probs = probs
        else:
            self.logits = ops.log_softmax(logits, axis=-1)
            self.probs = ops.exp(self.logits)
        self.batch_shape = self.logits.shape[:-1]

    def sample(self, sample_shape=()):
        # The largest of log-weights plus Gumbel noise falls on each number as often as it should.
        u = ops.rand((*self._shape(sample_shape), self.logits.shape[-1]), dtype=self.logits.dtype)
        noise = -ops.log(-ops.log(ops.clamp(u, 1e-20, 1 - 1e-7)))
        return ops.argmax(ops.stop_gradient(self.logits) + noise, dim=-1)

    def log_prob(self, value):
        index = value.astype(mindspore.int32).expand_dims(-1)
        logits = self.logits.broadcast_to((*index.shape[:-1], self.logits.shape[-1]))
        return ops.gather_elements(logits, -1, index).squeeze(-1)

    def entropy(self):
        return -(self.probs * self.logits).sum(-1)


@mindspore.jit_class
class IndependentDistribution(Distribution):
    """Another distribution whose last axes count as one event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self.ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        self.batch_shape = base_distribution.batch_shape[:cut]
        self.event_shape = base_distribution.batch_shape[cut:]
        self.mean, self.variance = base_distribution.mean, base_distribution.variance

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value):
        return self._total(self.base_dist.log_prob(value))

    def entropy(self):
        return self._total(self.base_dist.entropy())

    def _total(self, values):
        return values.sum(tuple(range(-self.ndims, 0))) if self.ndims else values


def kl_divergence(p, q):
    """How far q is from p, for two distributions of one kind."""
    if isinstance(p, IndependentDistribution):
        return p._total(kl_divergence(p.base_dist, q.base_dist))
    if isinstance(p, NormalDistribution):
        ratio = (p.scale / q.scale) ** 2
        return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ops.log(ratio))
    if isinstance(p, CategoricalDistribution):
        return (p.probs * (p.logits - q.logits)).sum(-1)
    if isinstance(p, BernoulliDistribution):
        return p.probs * (p.logits - q.logits) - ops.softplus(p.logits) + ops.softplus(q.logits)
    if isinstance(p, ExponentialDistribution):
        return q.rate / p.rate - 1 - ops.log(q.rate / p.rate)
    raise NotImplementedError(f"kl_divergence of {type(p).__name__} was not ported")
