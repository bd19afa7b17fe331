"""Randomness: one ``random_state``, turned into an independent stream per (example, step).

A stream depends on the seed and its key only, not on how many other streams were drawn before or
in which order, so the result of a computation does not depend on how it is spread over threads.
"""

from __future__ import annotations

import zlib

import numpy as np

from likewise.errors import InputTypeError

# What random_state=None stands for. Fixed, so that the library is deterministic unless it is asked
# not to be, and not a number that people pick, so that None differs from their own seeds.
DEFAULT_SEED = 0x6C696B65


def draw_seed(random_state: object = None) -> int:
    """Turn a scikit-learn ``random_state`` into one seed.

    Parameters
    ----------
    random_state : None, int, RandomState or Generator, default=None
        None is the fixed seed of the library: results are reproducible by default. A RandomState
        or Generator gives one draw, so two calls with the same instance give different seeds.

    Returns
    -------
    int
        A seed for `stream`.

    Examples
    --------
    >>> from likewise.arrays.random import draw_seed
    >>> draw_seed(7)
    7
    """
    if random_state is None:
        return DEFAULT_SEED
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state >= 0:
            return int(random_state)
    elif isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    elif isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InputTypeError(
        "random_state must be None, an integer >= 0, a numpy RandomState or a numpy Generator; "
        f"got {random_state!r}. Pass random_state=0 for a seed of your own."
    )


def stream(random_state: object, *key: int | str) -> np.random.Generator:
    """Return the random stream that belongs to a seed and a key.

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        As in `draw_seed`. An instance is drawn from at every call: where many streams are needed,
        call `draw_seed` once and pass its result.
    *key : int or str
        What the stream is for, for instance ``"kick", step``. Integers below 2**32.

    Returns
    -------
    numpy.random.Generator
        Independent of the streams of all other keys.

    Examples
    --------
    >>> from likewise.arrays.random import stream
    >>> same = stream(0, "kick", 3).random(2) == stream(0, "kick", 3).random(2)
    >>> same.tolist()
    [True, True]
    """
    words = [zlib.crc32(part.encode()) if isinstance(part, str) else int(part) for part in key]
    sequence = np.random.SeedSequence(draw_seed(random_state), spawn_key=words)
    # Named, because numpy may change what default_rng uses.
    return np.random.Generator(np.random.PCG64(sequence))
