"""The actions on distro trees."""

from __future__ import annotations

from typing import Final

from api.pages.document_actions import DocumentForms
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.values import Number
from api.rest.resources.document_kinds import DistroTrees

_FORMS: Final = DocumentForms(
    DistroTrees,
    "distro-tree",
    inputs.DistroTree,
    "A distro tree is an operating system that recipes can install in the labs where it has an address.",
    key=("id", Number),
    hints={
        "tags": "one on each line",
        "urls": "one on each line: the lab controller, a space, and the address there",
        "added_at": "a time such as 2026-11-29T18:00:00Z; empty for now",
    },
)

DISTRO_TREE: Final = _FORMS.subject(
    _FORMS.change(),
    _FORMS.removal("No recipe gets the tree any more."),
)
