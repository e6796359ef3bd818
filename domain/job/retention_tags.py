"""Retention tags: how long to keep the results of a job, and whether the job must name a product.

Results are deleted only by tags for which somebody has configured a number of days.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class RetentionTag:
    """A retention tag; 0 `days` means for ever. A job must name a product if `needs_product`, else none."""

    name: str
    days: int
    needs_product: bool = False

    def __str__(self) -> str:
        return f"{self.name}:{self.days}" + (":product" if self.needs_product else "")


DEFAULT_TAGS: Final = (
    RetentionTag("scratch", 0),
    RetentionTag("60days", 0),
    RetentionTag("120days", 0),
    RetentionTag("active", 0, needs_product=True),
    RetentionTag("audit", 0, needs_product=True),
)


class RetentionTags:
    """The configured retention tags. The first one is the default for jobs."""

    def __init__(self, tags: Iterable[RetentionTag] = DEFAULT_TAGS) -> None:
        self._tags = {tag.name: tag for tag in tags}
        self.default = next(iter(self._tags))

    def __iter__(self) -> Iterator[RetentionTag]:
        return iter(self._tags.values())

    @property
    def with_days(self) -> list[RetentionTag]:
        """Return the tags that delete results."""
        return [tag for tag in self if tag.days]

    def fault(self, name: str, product: str | None) -> tuple[str, str] | None:
        """Return the faulty field and a message; None if the tag exists and the product suits the tag."""
        tag = self._tags.get(name)
        if tag is None:
            return "retention_tag", f"must be one of {', '.join(self._tags)}"
        if tag.needs_product and product is None:
            return "product", f'retention tag "{name}" needs a product'
        if not tag.needs_product and product is not None:
            return "product", f'retention tag "{name}" takes no product'
        return None
