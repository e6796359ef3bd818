"""The size of the parts in `actor_parts`, the read model of the actors in each part of the log."""

from typing import Final

# The migration of the table has this number, too, so a change needs a migration that fills the table again.
# A smaller part would take more rows, a larger one more time for the events of other actors in it.
PART_POSITIONS: Final = 1_024
