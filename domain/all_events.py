"""Importing this makes every event known by its topic (`domain.events.TOPICS`).

Whoever reads the log imports it: an event whose module nobody has imported would be unknown.
"""

from __future__ import annotations

import domain.command.events
import domain.directory.events
import domain.job.events
import domain.recipe.events
import domain.recipe_set.events
import domain.system.events  # noqa: F401
