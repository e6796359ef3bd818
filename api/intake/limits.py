"""Limits on jobs, far above real jobs and far below harmful ones, and the check of a body before parsing."""

from __future__ import annotations

from typing import Final, NoReturn

from domain.errors import Fault, Unreadable

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

# Jobs of one submission.
MAX_JOBS: Final = 100
MAX_RECIPE_SETS: Final = 500
# Guests count as recipes.
MAX_RECIPES_IN_SET: Final = 200
# All jobs of a submission have at most as many, because they are one commit.
MAX_RECIPES_IN_JOB: Final = 2000
MAX_TASKS: Final = 2000
MAX_ITEMS: Final = 1000
MAX_ATTRIBUTES: Final = 64
# Names in the locks of a recipe.
MAX_LOCK_NAMES: Final = 1000
# Each set of a job stores those of the job, too.
MAX_DEPENDENCIES: Final = 100
# Different jobs and recipe sets on which a job and its sets depend: each is looked up in the log.
MAX_MENTIONED: Final = 1000
MAX_REASONS: Final = 20
# 99 hours.
MAX_RESERVESYS_SECONDS: Final = 356_400


def raise_unreadable(where: str, message: str) -> NoReturn:
    raise Unreadable([Fault(where, message)]) from None


def check_body(body: bytes) -> str:
    """Return the body as text. Raises Unreadable if it is empty, too large, not UTF-8, or contains a NUL."""
    if len(body) > MAX_BODY_BYTES:
        raise_unreadable("body", f"is larger than {MAX_BODY_BYTES} bytes")
    if not body.strip():
        raise_unreadable("body", "is empty")
    if b"\0" in body:
        raise_unreadable("body", "contains NUL characters")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise_unreadable(f"byte {error.start}", "is not UTF-8")
