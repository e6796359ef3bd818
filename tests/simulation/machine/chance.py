"""All chance comes from one seed, by named streams: more of one thing leaves the others as they were."""

from __future__ import annotations

from random import Random


class Chance:
    def __init__(self, seed: int) -> None:
        self.seed = seed

    def stream(self, *about: object) -> Random:
        """The same dice from the beginning, whenever it is asked for."""
        return Random("/".join(map(str, (self.seed, *about))))
