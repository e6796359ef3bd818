"""The published XML schema, and validation with it."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

import api.intake

SCHEMA = Path(api.intake.__path__[0], "job.rng")
RNG = etree.RelaxNG(etree.parse(SCHEMA))


def is_valid(body: bytes) -> bool:
    return bool(RNG.validate(etree.fromstring(body)))
