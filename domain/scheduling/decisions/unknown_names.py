"""The unknown names in a requirement, as text of a reason."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from domain.job.names import KINDS
from domain.names import unknown_name
from domain.requirements.language import Language
from domain.scheduling.world.partition import Partition

# Reasons are shown in table cells.
MAX_NAMES: Final = 4


def unknown_names(partition: Partition, language: Language, requirement: str, owner: str) -> str:
    """Return `there is no pool "smal"; …` for the names that do not exist, or only in hidden systems."""
    messages = dict.fromkeys(_unknown(partition, language, requirement, owner))
    return "; ".join(islice(messages, MAX_NAMES))


def _unknown(partition: Partition, language: Language, requirement: str, owner: str) -> Iterator[str]:
    mentions = [each for each in language.mentions(requirement) if not each.excludes]
    if not mentions:
        return
    names = partition.directory.name_index()
    for mention in mentions:
        kind, name = mention.kind, mention.name
        if not names.has(kind, name) or not partition.visible.may_know(owner, kind, name):
            yield unknown_name(KINDS[mention.kind], mention.name)
