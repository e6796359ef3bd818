"""The architectures of a distro, from the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cli.workflow.options import Document, InvalidOptions

if TYPE_CHECKING:
    from api.client import Client


def arches_of(connect: Callable[[], Client], distro: Document) -> Sequence[str]:
    """Return the architectures of the trees that a distro requirement matches, in alphabetical order.

    Raises `InvalidOptions` if no tree matches, and LabledgerError if the server does not answer.
    """
    from domain.requirements.distro import DISTRO, NewestFirst

    with connect() as client:
        trees = client.pages("/distro-trees", "distro_trees")["distro_trees"]
    examined = DISTRO.examine(distro)
    if examined.findings:
        raise InvalidOptions("; ".join(finding.message for finding in examined.findings))
    fitting = NewestFirst(trees).fitting(examined.node)
    arches = sorted({tree["arch"] for tree in trees if tree["id"] in fitting})
    if not arches:
        raise InvalidOptions("no distro tree of the server matches: name the architectures with --arch")
    return arches
