"""What the directory and the systems say, told on to those who answer for all systems at once."""

from __future__ import annotations

from domain.directory.state import Directory
from domain.scheduling.demand.filters import Filters
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.labs import Labs
from domain.system.state import System


class IndexUpdates:
    """For a partition: it keeps nothing itself."""

    def __init__(
        self, directory: Directory, labs: Labs, filters: Filters, access_updates: AccessUpdates
    ) -> None:
        self._directory = directory
        self._labs = labs
        self._filters = filters
        self._access_updates = access_updates

    def update_system(self, system: System) -> None:
        """What is known of a system is new: filters are held against it, and who may submit there."""
        changed = self._labs.put(system, self._directory.pools_of(system.fqdn))
        self._filters.system_changed(self._labs.number(system.fqdn), changed)
        self._access_updates.update_system(system)

    def update_tree(self, name: str) -> None:
        entry = self._directory.get("distro-tree", name)
        if entry is None:
            self._labs.remove_tree(int(name))
        else:
            self._labs.put_tree(int(name), entry.document)
        self._filters.tree_changed(int(name))


def looks_alike(before: System, after: System) -> bool:
    """To filters, to preferences, and to who may submit there."""
    return _looks(before) == _looks(after)


def _looks(system: System) -> tuple[object, ...]:
    people = system.owner, system.loan and system.loan.user, system.reservation and system.reservation.user
    return system.inventory, system.condition, system.lab_controller, people, system.access_policy
