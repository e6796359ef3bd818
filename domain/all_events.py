"""All event modules: importing this registers every event by its topic (`domain.events.TOPICS`).

Every reader of the log imports it: an event whose module was not imported would be unknown.
"""

from __future__ import annotations

import domain.directory.events
import domain.job.events
import domain.lab_commands.events
import domain.recipe.events
import domain.recipe_set.events
import domain.system.events  # noqa: F401
