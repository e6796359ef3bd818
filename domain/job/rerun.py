"""Copies of jobs: the document to submit when a job, or some of its recipe sets, runs once more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from domain.errors import Fault, FaultyInput, Refused
from domain.roll_up import BAD_RESULTS

# The copy belongs to the person who reruns the job, has all of its sets, and has no name that is in use.
_NOT_COPIED: Final = ("user", "key", "open", "depends_on")

Dependencies = Sequence[Mapping[str, Any]]
"""Documents of dependencies, with ids in place of numbers that count back."""


def chosen_sets(
    job_id: int,
    results: Mapping[int, str],
    failed: bool,
    numbers: Sequence[int] | None,
    waived: Collection[int] = (),
) -> list[int]:
    """Return the ids of the recipe sets to copy, in the order of the job; `results` has all sets of the job.

    With `failed` these are the sets with a recipe whose result is Warn, Fail or Panic, which includes
    cancelled and aborted ones, without the sets in `waived`, whose failures people have accepted; with
    `numbers` the named ones. Raises FaultyInput for both together and for
    numbers of other sets, Refused if nothing is left to copy.
    """
    if failed and numbers is not None:
        raise FaultyInput([Fault("failed", "cannot be given together with sets")])
    unknown = [
        Fault(f"sets[{place}]", f"recipe set {number} is not in job {job_id}; {_existing(results)}")
        for place, number in enumerate(numbers or ())
        if number not in results
    ]
    if unknown:
        raise FaultyInput(unknown)
    if not results:
        raise Refused(f"job {job_id} has no recipe sets")
    if numbers is not None:
        return sorted(set(numbers))
    if not failed:
        return [*results]
    bad = [set_id for set_id, result in results.items() if result in BAD_RESULTS]
    chosen = [set_id for set_id in bad if set_id not in waived]
    if not bad:
        raise Refused(f"no recipe set of job {job_id} has failed: none has the result Warn, Fail or Panic")
    if not chosen:
        raise Refused(
            f"no recipe set of job {job_id} has a failure that is not waived; name sets to copy them"
        )
    return chosen


def _existing(results: Mapping[int, str]) -> str:
    """Return the numbers of the sets of the job in words, which may be hundreds."""
    numbers = [*results]
    if len(numbers) > 10:
        return f"it has {len(numbers)} recipe sets from {numbers[0]} to {numbers[-1]}"
    return f"it has {', '.join(map(str, numbers)) or 'none'}"


def states_dependencies(document: Mapping[str, Any]) -> bool:
    """Return whether the job or one of its sets depends on others; most do not."""
    return any(part.get("depends_on") for part in (document, *document["recipe_sets"]))


def copied(
    document: Mapping[str, Any],
    set_ids: Sequence[int],
    chosen: Sequence[int],
    depends_on: Mapping[int, Dependencies],
) -> dict[str, Any]:
    """Return the normalised document of a copy with the chosen sets.

    `set_ids` are those of all sets of the job, in the order of `document`. `depends_on` has the dependencies
    of the chosen sets, those of the job included; sets without any may be missing. A dependency on another
    chosen set is one on its copy. One on a set of the job that is not chosen is left out: it had its turn.
    """
    of_sets = dict(zip(set_ids, document["recipe_sets"], strict=True))
    places = {set_id: place for place, set_id in enumerate(chosen)}
    own = {
        set_id: {
            _key(each): each for each in _dependencies(depends_on.get(set_id, ()), set_id, of_sets, places)
        }
        for set_id in chosen
    }
    of_all = set(own[chosen[0]]).intersection(*own.values())
    of_job = {key: each for key, each in own[chosen[0]].items() if key in of_all}
    of_job = {key: each for key, each in of_job.items() if each.get("recipe_set", 1) > 0}
    sets = [
        _with_dependencies(of_sets[set_id], [each for key, each in own[set_id].items() if key not in of_job])
        for set_id in chosen
    ]
    kept = {name: value for name, value in document.items() if name not in _NOT_COPIED}
    return _with_dependencies({**kept, "recipe_sets": sets}, [*of_job.values()])


def _key(dependency: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return a key that equal dependencies share. A job may have hundreds of sets with a hundred each."""
    return tuple(sorted((name, repr(value)) for name, value in dependency.items()))


def _dependencies(
    depends_on: Dependencies, set_id: int, set_ids: Collection[int], places: Mapping[int, int]
) -> Iterator[Mapping[str, Any]]:
    """Yield the dependencies of the copy of a set; `places` are those of the copied sets."""
    for dependency in depends_on:
        number = dependency.get("recipe_set")
        if number is not None and number in places:
            yield {**dependency, "recipe_set": places[number] - places[set_id]}
        elif number not in set_ids:
            yield dependency


def _with_dependencies(part: Mapping[str, Any], depends_on: Dependencies) -> dict[str, Any]:
    without = {name: value for name, value in part.items() if name != "depends_on"}
    return {**without, "depends_on": [*depends_on]} if depends_on else without
