"""Imports of all event modules, which register every event by its topic in `domain.events.TOPICS`.

Every reader of the log imports this module, because a topic that is not registered is unknown to the reader.
"""

from __future__ import annotations

import domain.directory.events
import domain.job.events
import domain.lab_commands.events
import domain.recipe.events
import domain.recipe_set.events
import domain.system.events  # noqa: F401
