"""Rate limits by reason: a reason of the form `rate-limit:n:label` puts its recipe set into a bucket."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

# A label may contain colons and spaces. Nine digits, because a larger limit is never reached.
_FORM: Final = re.compile(r"rate-limit:([1-9][0-9]{0,8}):(.+)", re.DOTALL)


class Bucket(NamedTuple):
    """The sets that share a limit: at most `limit` of them may be placed at once.

    Two limits of one label are two buckets.
    """

    limit: int
    label: str


def buckets(reasons: Iterable[str]) -> tuple[Bucket, ...]:
    """Return the buckets of the reasons of a recipe set, each once, by limit and label.

    A reason counts if it has exactly the form. Any other text is a note: one with a space at its beginning,
    with other letters (`Rate-Limit`), without a label, or with a limit of 0, a sign or a leading zero. A set
    takes one place in each of its buckets, however often it states the reason.
    """
    found = (_FORM.fullmatch(reason) for reason in reasons)
    return tuple(sorted({Bucket(int(match[1]), match[2]) for match in found if match}))
