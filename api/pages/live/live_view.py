"""A live view: a page that browsers have open, with what its readers share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import orjson

from api.pages.live.parts_of_page import LivePart, live_parts
from api.pages.personal import is_personal
from api.rest.context import Principal
from api.rest.visibility import Sight

# The numbers of these pages change all the time and say little about the last seconds, but cost much.
_SUMS: Final = re.compile(r"/ui/usage(-report)?(?=\?|$)")
# The part that names the position. It is sent with the others: a new position alone is no change of a page.
_MOMENT: Final = "moment"
_SUBJECT: Final = re.compile(r"/ui/(recipe|recipe-set|system)s/([^/?]+)(?=\?|$|/why)")


@dataclass(frozen=True)
class ViewKey:
    """The address of a live view, and what its readers share; `user` is None unless the page is personal."""

    address: str
    role: str
    sight: Sight
    user: str | None


def view_key(address: str, principal: Principal, sight: Sight) -> ViewKey:
    user = principal.user if is_personal(address) else None
    return ViewKey(address, principal.role, sight, user)


@dataclass(eq=False)
class LiveView:
    """A page that is open in browsers, with its live parts by name, for readers with the same `key`."""

    key: ViewKey
    viewers: list[Principal] = field(default_factory=list)
    position: int = -1
    rendered_at: float = 0.0
    parts: dict[str, LivePart] = field(default_factory=dict)
    _events: dict[int | None, bytes] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.key.address

    @property
    def subject(self) -> str | None:
        """Return the subject of a page about one, whose events change it."""
        found = _SUBJECT.match(self.address)
        return f"{found[1]}/{unquote(found[2])}" if found else None

    @property
    def is_of_sums(self) -> bool:
        return _SUMS.match(self.address) is not None

    def update(self, position: int, text: str) -> None:
        for name, html in live_parts(text).items():
            self.parts.setdefault(name, LivePart()).update(position, html)
        self.position = position
        self._events.clear()

    def has_changed_after(self, position: int) -> bool:
        return any(part.position > position for name, part in self.parts.items() if name != _MOMENT)

    def event(self) -> bytes:
        """Return a server-sent event with all parts, for a browser that may have any state of them."""
        if None not in self._events:
            self._events[None] = self._event(None, {name: part.html for name, part in self.parts.items()})
        return self._events[None]

    def event_after(self, position: int) -> bytes:
        """Return a server-sent event with what has changed after an event; empty if nothing has.

        It is written once for all browsers that have received the event of this position.
        """
        if position not in self._events:
            changed = {name: part for name, part in self.parts.items() if part.position > position}
            parts = {name: part.html_after(position) for name, part in changed.items()}
            has_changed = self.has_changed_after(position)
            self._events[position] = self._event(position, parts) if has_changed else b""
        return self._events[position]

    def _event(self, after: int | None, parts: Mapping[str, str]) -> bytes:
        fields = {"page": self.address, "position": self.position, "after": after, "parts": parts}
        return b"event: page\ndata: %b\n\n" % orjson.dumps(fields)


def positions_of_subjects(views: Iterable[LiveView]) -> dict[str, int]:
    """Return the subjects of rendered views, each with the position of its oldest view."""
    found: dict[str, int] = {}
    for view in views:
        if view.position >= 0 and (subject := view.subject) is not None:
            found[subject] = min(view.position, found.get(subject, view.position))
    return found
