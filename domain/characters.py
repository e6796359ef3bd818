"""The characters of names, and control characters, which change how a terminal shows the text around them."""

from __future__ import annotations

import re
from typing import Final

# DEL, C1 controls, line and paragraph separators, bidirectional embeddings, overrides and isolates.
CONTROL_CLASS: Final = r"\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
CONTROL_CHARACTERS: Final = re.compile(f"[{CONTROL_CLASS}]")
# A text on one line must not have these: also tabs, line breaks, and NUL, which PostgreSQL cannot store.
LINE_CONTROLS: Final = re.compile(rf"[\x00-\x1f{CONTROL_CLASS}]")

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$"
"""The names of users, groups and the like."""
MAX_NAME_LENGTH: Final = 255


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a user."""
    # `fullmatch`, because `$` also matches before a line break at the end.
    return len(text) <= MAX_NAME_LENGTH and re.fullmatch(NAME_PATTERN, text) is not None


def escaped(text: str, max_characters: int) -> str:
    """Return text that a client sent, fit for the log: controls as `\\u0000`, the cut end as `…`."""
    line = LINE_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return line if len(line) <= max_characters else f"{line[: max_characters - 1]}…"
