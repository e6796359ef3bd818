"""What Python's collector of cycles looks at in a process that serves.

It stops everything while it looks at all there is: a directory of thousands of systems takes it a quarter of
a second, and what passes through makes it look again and again.
"""

from __future__ import annotations

import gc

# At what is new, after so many objects; at what survived, and at everything: after so many of those before.
_LOOK_AFTER = (10_000, 20, 100)


async def keep_for_good() -> None:
    """What is there now stays until the end: it is not looked at any more. The rest is, less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_LOOK_AFTER)
