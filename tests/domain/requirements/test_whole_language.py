"""Properties of any requirement: equal to the reference, and independent of its spelling."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.requirements import from_text, parse, to_form, to_text
from tests.domain.requirements.evaluation import evaluated, lab_answer, read, refuse
from tests.domain.requirements.reference import judge
from tests.domain.requirements.whole_language import DISK_LEAVES, FORMS, LABS, LEAVES

JOINS = st.sampled_from(["and", "or", "not"])


@given(FORMS, LABS)
def test_matching__any_requirement__equals_reference_for_each_system(
    form: dict[str, Any], systems: list[Any]
) -> None:
    held = evaluated(form, systems)
    answers = [judge(form, system) for system in systems]
    assert held.true == sum(1 << number for number, said in enumerate(answers) if said is True)
    assert held.unknown == sum(1 << number for number, said in enumerate(answers) if said is None)


@given(FORMS, LABS)
def test_double_negation__any_requirement__changes_nothing(form: dict[str, Any], systems: list[Any]) -> None:
    assert evaluated({"not": [{"not": [form]}]}, systems) == evaluated(form, systems)


@given(st.lists(LEAVES, min_size=2, max_size=3), LABS)
def test_de_morgan__any_leaves__holds(forms: list[dict[str, Any]], systems: list[Any]) -> None:
    negated = [{"not": [form]} for form in forms]
    assert evaluated({"not": [{"or": forms}]}, systems) == evaluated({"and": negated}, systems)
    assert evaluated({"not": forms}, systems) == evaluated({"or": negated}, systems)


@given(st.lists(FORMS, max_size=4), LABS, JOINS, st.randoms(use_true_random=False))
def test_children__in_another_order__are_the_same_text_and_answer(
    forms: list[dict[str, Any]], systems: list[Any], word: str, chance: Random
) -> None:
    shuffled = chance.sample(forms, len(forms))
    assert to_text(read({word: forms})) == to_text(read({word: shuffled}))
    assert evaluated({word: forms}, systems) == evaluated({word: shuffled}, systems)


@given(st.lists(DISK_LEAVES, max_size=4), LABS, st.randoms(use_true_random=False))
def test_questions_of_a_disk__in_another_order__are_the_same_text_and_answer(
    forms: list[dict[str, Any]], systems: list[Any], chance: Random
) -> None:
    shuffled = chance.sample(forms, len(forms))
    assert to_text(read({"disk": forms})) == to_text(read({"disk": shuffled}))
    assert evaluated({"disk": forms}, systems) == evaluated({"disk": shuffled}, systems)


@given(FORMS, LABS)
def test_form__any_requirement__round_trips_with_equal_meaning(
    form: dict[str, Any], systems: list[Any]
) -> None:
    node = read(form)
    assert parse(to_form(node), refuse) == node
    kept = from_text(to_text(node))
    assert to_text(kept) == to_text(node)
    assert lab_answer(kept, systems) == lab_answer(node, systems)
