"""Why a recipe does not get a system: one list, in words that people read."""

from __future__ import annotations

from typing import Final

NO_DISTRO_TREE: Final = "no distro tree matches the distro requirements"
NO_IDLE_SYSTEM: Final = "no idle system is viable"

# Why nobody could ever run it, by the rule that leaves nobody.
NOT_REGISTERED: Final = "no system is registered"
NO_LAB_HAS_THE_TREE: Final = "no lab has the distro tree"
NO_SYSTEM_OF_THE_ARCH: Final = "no system has the architecture of the distro tree"
ALL_EXCLUDE_THE_FAMILY: Final = "every system excludes the distro family"
NO_SYSTEM_MATCHES: Final = "no system matches the host requirements"
