"""A lab with one machine of its own, which measures how soon a recipe gets a system.

No agent works in that lab: a placed recipe is cancelled.
"""

from __future__ import annotations

import itertools
from copy import deepcopy
from typing import Any

from tests.soak.people import SoakUser, cancel, submit

LAB = "lab.probe.example.com"
SYSTEM = f"only.{LAB}"
# The only system of this arch.
ARCH = "ppc64"


def with_probe(lab: dict[str, Any]) -> dict[str, Any]:
    """Return a lab document with the probe's lab added."""
    found = deepcopy(lab)
    found["lab_controllers"].append({"fqdn": LAB, "enabled": True})
    tree = {**found["distro_trees"][0], "id": 1, "name": "probe", "arch": ARCH}
    found["distro_trees"].append({**tree, "urls": {LAB: [f"http://{LAB}/"]}})
    system = {"type": "Machine", "arches": [ARCH], "owner": "admin", "condition": "Automated", "pools": []}
    found["systems"].append({**system, "fqdn": SYSTEM, "lab_controller": LAB})
    return found


class Probe:
    def __init__(self, person: SoakUser) -> None:
        self._person = person
        self._numbers = itertools.count(1)

    def submit(self) -> tuple[int, int]:
        """Submit a recipe that only that machine can run, and return its set and its number."""
        # A silent lab gets no recipes.
        self._person.ask("GET", f"/lab-controllers/{LAB}/commands", acts_as=LAB).raise_for_status()
        distro = [{"element": "name", "value": "probe"}, {"element": "arch", "value": ARCH}]
        recipe = {"distro_requires": {"and": distro}, "host_requires": {}, "tasks": [{"name": "/probe"}]}
        sets = [{"priority": "Urgent", "recipes": [recipe]}]
        job = {"whiteboard": f"probe {next(self._numbers)}", "recipe_sets": sets}
        set_id, (recipe_id,) = submit(self._person, job)
        return set_id, recipe_id

    def cancel(self, set_id: int, recipe_id: int) -> None:
        cancel(self._person, set_id, [recipe_id])
