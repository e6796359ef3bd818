"""Characters that control the terminal that shows them."""

from __future__ import annotations

import re
from typing import Final

# DEL, C1 controls, line and paragraph separators, bidirectional embeddings, overrides and isolates.
STEERING_CLASS: Final = r"\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
STEERING: Final = re.compile(f"[{STEERING_CLASS}]")
