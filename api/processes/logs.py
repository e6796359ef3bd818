"""What a process says of itself, on standard error."""

from __future__ import annotations

import logging

# The pool reports every attempt while the database is away; ours say it once. Each request, and
# each watcher that hangs up, is nobody's news.
NOISY = ("psycopg.pool", "httpx", "httpcore", "asyncio")


def set_up_logging(level: str) -> None:
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
