"""Random streams by name from one seed: a longer use of one stream leaves the others as they were."""

from __future__ import annotations

from random import Random


class Chance:
    def __init__(self, seed: int) -> None:
        self.seed = seed

    def stream(self, *about: object) -> Random:
        """Return the stream from its beginning, at each call."""
        return Random("/".join(map(str, (self.seed, *about))))
