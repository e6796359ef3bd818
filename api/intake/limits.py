"""Limits on jobs: far above those of real jobs, far below harmful ones."""

from __future__ import annotations

from typing import Final

MAX_BODY_BYTES: Final = 2**20
# Levels of XML: a requirement may have 50, and the elements around it have the others.
MAX_DEPTH: Final = 59
# Elements of XML.
MAX_PARTS: Final = 20_000
MAX_FAULTS: Final = 100
# The message of a fault may quote the input.
MAX_MESSAGE_LENGTH: Final = 500

MAX_NAME_LENGTH: Final = 255
MAX_LINE_LENGTH: Final = 4096
MAX_TEXT_LENGTH: Final = 65_536

MAX_RECIPE_SETS: Final = 500
# Guests count as recipes.
MAX_RECIPES_IN_SET: Final = 200
MAX_RECIPES_IN_JOB: Final = 2000
MAX_TASKS: Final = 2000
MAX_ITEMS: Final = 1000
MAX_ATTRIBUTES: Final = 64
# 99 hours.
MAX_RESERVESYS_SECONDS: Final = 356_400
