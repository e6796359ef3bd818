from __future__ import annotations

import re

from tests.docs.api_reference import PAGE, REGENERATE, document, page


def test_api_reference__api_as_it_is__says_the_same() -> None:
    assert PAGE.read_text("utf-8") == page(document()), (
        f"docs/api-reference.md is out of date; run `{REGENERATE}`"
    )


def test_api_reference__every_operation_and_shape__is_there_and_linked() -> None:
    api, said = document(), PAGE.read_text("utf-8")
    headings = re.findall(r"^### (.+)$", said, re.MULTILINE)
    # Links to two equal anchors would lead to the first.
    places = [_anchor(heading) for heading in re.findall(r"^#+ (.+)$", said, re.MULTILINE)]
    assert len(set(places)) == len(places)
    operations = [f"{method.upper()} {path}" for path, methods in api["paths"].items() for method in methods]
    assert sorted(headings) == sorted([*operations, *api["components"]["schemas"]])
    linked = set(re.findall(r"\]\(#([^)]+)\)", said))
    assert linked <= set(places)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
