"""torch.Generator for what draws on the host: splits, samplers, the order of a loader.

The numbers are numpy's, as those of a seeded torch program are torch's: the same in every run.
"""

import functools

import mindspore
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Initializer


class Generator:
    """A source of random numbers apart from the global one."""

    def __init__(self, device="cpu"):
        self.manual_seed(67280421310721)  # torch's own first seed

    def manual_seed(self, seed):
        self._seed = int(seed)
        self.draws = np.random.RandomState(self._seed % 2**32)
        return self

    def seed(self):
        return self.manual_seed(np.random.SeedSequence().entropy % 2**63).initial_seed()

    def initial_seed(self):
        return self._seed


_host_draws = {"draws": np.random}


class _OwnDraws:
    """MindSpore's layers draw their first weights from numpy's global stream, whose numbers are the
    program's; this gives them a stream of their own, as torch has one.
    """

    def __init__(self):
        self.seed(None)
        Initializer.__call__ = self._apart(Initializer.__call__)
        for layer in (nn.LSTM, nn.LSTMCell):
            base = next(cls for cls in layer.__mro__[1:] if "__init__" in vars(cls))
            base.__init__ = self._apart(base.__init__)

    def seed(self, seed):
        self._state = np.random.RandomState(seed).get_state()

    def _apart(self, function):
        @functools.wraps(function)
        def drawn(*args, **options):
            program = np.random.get_state()
            np.random.set_state(self._state)
            try:
                return function(*args, **options)
            finally:
                self._state = np.random.get_state()
                np.random.set_state(program)

        return drawn


own_draws = _OwnDraws()


def manual_seed(seed):
    """torch.manual_seed; mindspore.set_seed seeds numpy, too, whose numbers are the program's."""
    state = np.random.get_state()
    mindspore.set_seed(int(seed) % 2**32)
    np.random.set_state(state)
    own_draws.seed(int(seed) % 2**32)
    _host_draws["draws"] = np.random.RandomState(int(seed) % 2**32)


def get_rng_state():
    """torch.get_rng_state: MindSpore's operators cannot tell theirs, so that they start anew from a
    seed that follows from the last one, and that seed is the state.
    """
    seed = ((mindspore.get_seed() or 0) * 1103515245 + 12345) % 2**31
    manual_seed(seed)
    return mindspore.tensor([seed])


def set_rng_state(new_state):
    """torch.set_rng_state: what was drawn after `get_rng_state` is drawn again."""
    manual_seed(int(new_state[0]))


def draws_of(generator):
    """Where to draw from: the generator, or numpy's global state until `manual_seed` was called."""
    return _host_draws["draws"] if generator is None else generator.draws
