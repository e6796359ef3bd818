"""Fast copies and constructors, compared with `dataclasses.replace` and the classes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from domain.fast_dataclasses import changed, changer, maker


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    content: tuple[int, ...] = ()
    open: bool = False


BOX = Box("a", (1, 2))


@pytest.mark.parametrize("fields", [{}, {"name": "b"}, {"content": (), "open": True}])
def test_changed__some_fields__equals_replace_and_original_is_unchanged(fields: dict[str, object]) -> None:
    assert changed(BOX, **fields) == replace(BOX, **fields)  # type: ignore[arg-type]
    assert Box("a", (1, 2)) == BOX


def test_changed__copy__is_frozen_too() -> None:
    with pytest.raises(FrozenInstanceError):
        changed(BOX, open=True).open = False  # type: ignore[misc]


def test_changed__no_such_field__is_refused() -> None:
    with pytest.raises(AttributeError, match="colour"):
        changed(BOX, colour="red")


def test_changer__some_fields__equals_changed() -> None:
    made = changer(Box, "open", "name")(BOX, True, "b")
    assert made == changed(BOX, open=True, name="b")
    with pytest.raises(FrozenInstanceError):
        made.open = False


def test_changer__no_such_field__is_refused() -> None:
    with pytest.raises(AttributeError, match="colour"):
        changer(Box, "colour")


def test_maker__all_fields__equals_the_constructor() -> None:
    made = maker(Box)("a", (1, 2), True)
    assert made == replace(BOX, open=True)
    assert (type(made), hash(made)) == (Box, hash(replace(BOX, open=True)))
    with pytest.raises(FrozenInstanceError):
        made.open = False  # type: ignore[misc]


def test_maker__field_is_missing__is_refused() -> None:
    with pytest.raises(TypeError, match="open"):
        maker(Box)("a", ())
