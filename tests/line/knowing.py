"""A `could_run` for the checker that knows every question a job may ask of a system.

The checker's own knows a few and refuses to guess the others. For this one parameter the language itself is
asked, so a fault in it would go unseen here: what it answers has tests of its own (`tests/domain`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.requirements import Columns, from_text, matching
from tests.checker import could_run as could_install

Data = Mapping[str, Any]
ASKS_NOTHING = '{"and": []}'


def could_run(recipe: Data, system: Data, tree: Data | None) -> bool:
    """Whether the distro could be installed, as the checker says, and the requirement holds."""
    lab_of_one = Columns()
    lab_of_one.put(0, dict(system))
    if not matching(from_text(recipe["host_requires"]), lab_of_one):
        return False
    return could_install({**recipe, "host_requires": ASKS_NOTHING}, system, tree)
