"""Rate limits by reason: the buckets of a recipe set."""

from __future__ import annotations

import pytest

from domain.admission.reason_limits import Bucket, buckets

FORMS = [
    ("rate-limit:2:array", Bucket(2, "array")),
    ("rate-limit:10:array", Bucket(10, "array")),
    ("rate-limit:999999999:array", Bucket(999_999_999, "array")),
    # A label may be any text.
    ("rate-limit:2:a:b", Bucket(2, "a:b")),
    ("rate-limit:2: array ", Bucket(2, " array ")),
    ("rate-limit:2:two\nlines\n", Bucket(2, "two\nlines\n")),
    ("rate-limit:2:Ä", Bucket(2, "Ä")),
]


@pytest.mark.parametrize(("reason", "bucket"), FORMS)
def test_buckets__exact_form__is_a_bucket(reason: str, bucket: Bucket) -> None:
    assert buckets([reason]) == (bucket,)


NOTES = [
    "",
    "nightly",
    " rate-limit:2:array",
    "\nrate-limit:2:array",
    "my rate-limit:2:array",
    "Rate-Limit:2:array",
    "rate_limit:2:array",
    "rate-limit 2:array",
    # Without a label, or without a number.
    "rate-limit:2",
    "rate-limit:2:",
    "rate-limit::array",
    "rate-limit:n:label",
    # Numbers in another form.
    "rate-limit:0:array",
    "rate-limit:-2:array",
    "rate-limit:+2:array",
    "rate-limit:02:array",
    "rate-limit: 2:array",
    "rate-limit:2 :array",
    "rate-limit:2.0:array",
    "rate-limit:٢:array",
    "rate-limit:²:array",
    "rate-limit:1_0:array",
    "rate-limit:1000000000:array",
    f"rate-limit:{'9' * 5_000}:array",
]


@pytest.mark.parametrize("reason", NOTES, ids=lambda reason: repr(reason[:30]))
def test_buckets__another_form__is_a_note(reason: str) -> None:
    assert buckets([reason]) == ()


def test_buckets__one_label_and_two_limits__are_two() -> None:
    reasons = ["rate-limit:3:array", "nightly", "rate-limit:2:array", "rate-limit:2:net"]
    assert buckets(reasons) == (Bucket(2, "array"), Bucket(2, "net"), Bucket(3, "array"))


def test_buckets__reason_stated_twice__is_one() -> None:
    assert buckets(["rate-limit:2:array"] * 2) == (Bucket(2, "array"),)


def test_buckets__other_order__are_equal() -> None:
    reasons = ["rate-limit:3:a", "rate-limit:2:b"]
    assert buckets(reasons) == buckets(reversed(reasons))
