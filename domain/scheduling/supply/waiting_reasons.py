"""The codes of the reasons why recipes wait now, each with a sentence.

`reasons` has the reasons that events store, at the time of the event. Clients and metrics use the codes, so
they must not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domain.scheduling.supply import reasons

PARTITION_STOPPED: Final = "partition-stopped"
TREE_AWAY: Final = "tree-away"
SET_INCOMPLETE: Final = "set-incomplete"
NO_IDLE_SYSTEM: Final = "no-idle-system"
UNSAFE: Final = "unsafe"
TO_BE_ASKED: Final = "to-be-asked"
ALL_BROKEN: Final = "all-broken"
ALL_SILENT: Final = "all-silent"
NONE_USABLE: Final = "none-usable"
ALL_LENT: Final = "all-lent"
NO_ACCESS: Final = "no-access"
NO_SYSTEM: Final = "no-system"

SENTENCES: Final[Mapping[str, str]] = {
    PARTITION_STOPPED: reasons.PARTITION_STOPPED,
    # The rows of admission, by their names (`admitting`).
    "dependency": "its set waits for the end of a job or recipe set that it depends on",
    "job-filter": "a job filter holds back its set",
    "queue-state": "its queue is stopped",
    "rate-limit": "its set has no room under the limit of a job filter or bucket",
    "placed-recipes": "its set has no room under the limit of placed recipes",
    "queue": "its set has no room under a maximum of its queue",
    # No system is asked for it while its distro tree may return.
    TREE_AWAY: reasons.SHOWN[reasons.TREE_AWAY],
    # About usable systems.
    SET_INCOMPLETE: reasons.SHOWN[reasons.SET_INCOMPLETE],
    NO_IDLE_SYSTEM: reasons.SHOWN[reasons.NO_IDLE_SYSTEM],
    UNSAFE: "with any of the free systems, its recipe set and others could deadlock",
    TO_BE_ASKED: "the scheduler is about to choose a recipe for a free system",
    # About viable systems, none usable.
    ALL_BROKEN: reasons.SHOWN[reasons.ALL_BROKEN],
    ALL_SILENT: reasons.SHOWN[reasons.ALL_SILENT],
    NONE_USABLE: reasons.SHOWN[reasons.NONE_USABLE],
    # No system is viable.
    ALL_LENT: reasons.SHOWN[reasons.ALL_LENT],
    NO_ACCESS: reasons.NO_ACCESS,
    NO_SYSTEM: "no system could run it",
}
"""The sentence for each code; that about one recipe may say more. Of several reasons, the first counts."""
