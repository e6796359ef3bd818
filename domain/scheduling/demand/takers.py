"""How many unplaced recipes could use each system: counted when somebody asks, for they come and go far more
often."""

from __future__ import annotations

from collections.abc import Mapping

from domain.scheduling.bitsets.planes import Planes
from domain.scheduling.demand.entry import Entry
from domain.scheduling.demand.whos import Whos
from domain.scheduling.supply.access import Access


class Takers:
    """Mutable. Of filters that were evaluated, by their numbers; `entries` are all there are."""

    def __init__(self, access: Access, whos: Whos, entries: Mapping[int, Entry]) -> None:
        self._access = access
        self._whos = whos
        self._entries = entries
        self._planes = Planes()
        # By filter and who, how many recipes their systems count; and those of which not all are counted.
        self._counted: dict[int, dict[int, int]] = {}
        self._miscounted: dict[tuple[int, int], None] = {}
        # Who could use what, and who is who, as it was counted.
        self._as_of = (0, 0)

    def changed(self, entry: Entry, who: int) -> None:
        """Of some filter and who there are more, or less."""
        self._miscounted[entry.number, who] = None

    def evaluated(self, entry: Entry) -> None:
        """It is known now which systems it is viable for; nothing of it is counted."""
        self._miscounted.update(((entry.number, who), None) for who in entry.unplaced)

    def forget(self, entry: Entry) -> None:
        """It is not viable for the same systems any more."""
        counted = self._counted.pop(entry.number, {})
        if entry.viable is not None and self._as_of == self._now():
            for who, amount in counted.items():
                self._planes.subtract(entry.viable & self._may(who), amount)
        self.evaluated(entry)

    def counted(self) -> Planes:
        """By system."""
        if self._as_of != self._now():
            self._planes, self._as_of = Planes(), self._now()
            self._counted.clear()
            for entry in self._entries.values():
                self.evaluated(entry)
        for number, who in self._miscounted:
            self._count(number, who)
        self._miscounted.clear()
        return self._planes

    def _count(self, number: int, who: int) -> None:
        entry = self._entries.get(number)
        if entry is None or entry.viable is None:
            return
        there, counted = entry.unplaced.get(who, 0), self._counted.setdefault(number, {})
        more = there - counted.pop(who, 0)
        if there:
            counted[who] = there
        if more:
            change = self._planes.add if more > 0 else self._planes.subtract
            change(entry.viable & self._may(who), abs(more))

    def _may(self, who: int) -> int:
        return self._access.may(self._whos[who])

    def _now(self) -> tuple[int, int]:
        return self._access.version, self._whos.version
