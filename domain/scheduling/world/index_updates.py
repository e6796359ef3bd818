"""Updates of the indexes by column, filter and access class after changes of systems and distro trees."""

from __future__ import annotations

from domain.directory.state import Directory
from domain.scheduling.demand.filters import Filters
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.labs import Labs
from domain.system.state import System


class IndexUpdates:
    """Updates of the indexes of a partition. Instances have no state of their own."""

    def __init__(
        self, directory: Directory, labs: Labs, filters: Filters, access_updates: AccessUpdates
    ) -> None:
        self._directory = directory
        self._labs = labs
        self._filters = filters
        self._access_updates = access_updates

    def update_system(self, system: System) -> None:
        """Update the columns of a system, mark filters for re-evaluation, and update its access class."""
        changed = self._labs.put(system, self._directory.pools_of(system.fqdn))
        self._filters.system_changed(self._labs.number(system.fqdn), changed)
        self._access_updates.update_system(system)

    def update_tree(self, name: str) -> None:
        """Update or remove a distro tree, and invalidate the filters that name it."""
        entry = self._directory.get("distro-tree", name)
        if entry is None:
            self._labs.remove_tree(int(name))
        else:
            self._labs.put_tree(int(name), entry.document)
        self._filters.tree_changed(int(name))


def has_equal_index(before: System, after: System) -> bool:
    """Return whether two states of a system are equal for filters, preferences and access classes."""
    return _indexed(before) == _indexed(after)


def _indexed(system: System) -> tuple[object, ...]:
    people = system.owner, system.loan and system.loan.user, system.reservation and system.reservation.user
    return system.inventory, system.condition, system.lab_controller, people, system.access_policy
