"""Limits on jobs: far above those of real jobs, far below harmful ones."""

from __future__ import annotations

from typing import Final

BODY_LIMIT_BYTES: Final = 2**20
# A requirement may be 50 levels deep, and lies in a recipe or guest.
DEPTH_LIMIT: Final = 59
# Elements of XML.
PART_LIMIT: Final = 20_000
FAULT_LIMIT: Final = 100
# For the message of a fault, which may quote the input.
WORDS_LENGTH: Final = 500

NAME_LENGTH: Final = 255
LINE_LENGTH: Final = 4096
TEXT_LENGTH: Final = 65_536

RECIPE_SET_LIMIT: Final = 500
# Recipes of one set, and of all sets of a job; guests count.
RECIPES_IN_SET_LIMIT: Final = 200
RECIPES_IN_JOB_LIMIT: Final = 2000
TASK_LIMIT: Final = 2000
LIST_LIMIT: Final = 1000
ATTRIBUTE_LIMIT: Final = 64
# 99 hours.
RESERVESYS_LIMIT_SECONDS: Final = 356_400
