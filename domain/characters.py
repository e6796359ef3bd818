"""Control characters that change how a terminal shows the text around them."""

from __future__ import annotations

import re
from typing import Final

# DEL, C1 controls, line and paragraph separators, bidirectional embeddings, overrides and isolates.
CONTROL_CLASS: Final = r"\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
CONTROL_CHARACTERS: Final = re.compile(f"[{CONTROL_CLASS}]")
