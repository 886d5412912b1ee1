"""torch.Generator for what draws on the host: splits, samplers, the order of a loader.

The numbers are numpy's, as those of a seeded torch program are torch's: the same in every run.
"""

import numpy as np


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


def draws_of(generator):
    """Where to draw from: the generator, or numpy's global state."""
    return np.random if generator is None else generator.draws
