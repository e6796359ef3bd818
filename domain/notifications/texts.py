"""The texts of mails about notices."""

from __future__ import annotations

from domain.events import split_subject
from domain.notifications.kinds import KINDS
from domain.notifications.notice import Notice

_PAGES = {"job": "jobs", "recipe": "recipes", "system": "systems", "lab-controller": "lab-controllers"}


def mail_text(notice: Notice, web_url: str | None) -> str:
    """Return the text of a mail; with the URL of the service, it has a link to the subject."""
    lines = [f"{notice.title}.", ""]
    lines += [f"{name}: {_shown(value)}" for name, value in notice.data.items() if value not in (None, "")]
    if web_url is not None:
        kind, name = split_subject(notice.subject)
        lines += ["", f"{web_url.rstrip('/')}/ui/{_PAGES[kind]}/{name}"]
    why = KINDS[notice.kind]
    lines += ["", f"You get this message because {why}. Change that with `labledger notifications set`."]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {name}" for name, number in value.items())
    return str(value)
