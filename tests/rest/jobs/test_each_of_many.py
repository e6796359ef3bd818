"""Jobs of a list that are submitted one by one: the valid ones are taken, each has an answer."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.rest.contract.operation import JSON
from api.rest.resources import item_submissions
from api.rest.resources.item_submissions import JobItem, item_answer, submit_items
from api.rest.resources.submissions import ValidSubmission
from api.use_cases.ports import RequestContext
from domain.job.submission import Counts, Ids, Original
from store.requests import Committed
from tests.harness.waiting import wait_until
from tests.rest.actions import People

LENIENT = {"Prefer": "handling=lenient"}
OPEN: dict[str, Any] = {"open": True, "recipe_sets": []}
BAD = {**OPEN, "whiteboard": 7}
IN_NO_QUEUE = {**OPEN, "queue": "root.nowhere"}


def submit(client: httpx.Client, *jobs: dict[str, Any], **headers: str) -> httpx.Response:
    # In ASCII, because JSON can escape characters that UTF-8 does not have.
    content = json.dumps({"jobs": jobs})
    return client.post("/jobs", content=content, headers={**LENIENT, "Content-Type": JSON, **headers})


def statuses(answer: httpx.Response) -> list[int]:
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (200, "handling=lenient")
    return [each["status"] for each in answer.json()["jobs"]]


def last_job(client: httpx.Client, position: int) -> int:
    (newest,) = client.get("/jobs", params={"limit": 1, "min_position": position}).json()["jobs"]
    return int(newest["job_id"])


def test_submit__some_jobs_are_bad__takes_the_others_and_names_each_fault(people: People) -> None:
    alice = people["alice"]
    answer = submit(alice, OPEN, BAD, OPEN, IN_NO_QUEUE)
    assert statuses(answer) == [201, 422, 201, 422]
    first, bad, second, in_no_queue = answer.json()["jobs"]
    assert first["job_id"] != second["job_id"]
    assert first["partition"] == "default" and first["warnings"] == []
    (of_bad,), (of_queue,) = bad["errors"], in_no_queue["errors"]
    assert of_bad["where"].startswith("jobs[1]: line 1, ") and of_bad["where"].endswith(": whiteboard")
    assert of_queue["where"].startswith("jobs[3]: line 1, ") and of_queue["where"].endswith(": queue")
    for made in (first, second):
        position = {"min_position": answer.json()["position"]}
        assert alice.get(f"/jobs/{made['job_id']}", params=position).json()["open"]


def test_submit__all_jobs_are_bad__stores_nothing(people: People) -> None:
    alice = people["alice"]
    first = submit(alice, OPEN).json()
    refused = submit(alice, BAD, IN_NO_QUEUE)
    assert statuses(refused) == [422, 422]
    assert last_job(alice, refused.json()["position"]) == first["jobs"][0]["job_id"]


def test_submit__repeated_with_its_key__submits_none_again(people: People) -> None:
    alice, key = people["alice"], uuid.uuid4().hex
    first = submit(alice, OPEN, BAD, OPEN, **{"Idempotency-Key": key})
    again = submit(alice, OPEN, BAD, OPEN, **{"Idempotency-Key": key})
    assert statuses(first) == statuses(again) == [201, 422, 201]
    assert first.json()["jobs"] == again.json()["jobs"]
    other = submit(alice, {**OPEN, "whiteboard": "another"}, BAD, OPEN, OPEN, **{"Idempotency-Key": key})
    assert statuses(other) == [422, 422, 201, 201]
    assert other.json()["jobs"][0]["errors"][0]["where"] == "jobs[0]: Idempotency-Key"
    assert other.json()["jobs"][2] == first.json()["jobs"][2]
    ids = [job.get("job_id") for job in other.json()["jobs"]]
    assert ids[3] > ids[2]


def test_submit__with_the_key_of_the_other_handling__is_refused(people: People) -> None:
    alice, key = people["alice"], {"Idempotency-Key": uuid.uuid4().hex}
    assert statuses(submit(alice, OPEN, **key)) == [201]
    strict = alice.post("/jobs", json={"jobs": [OPEN]}, headers=key)
    assert (strict.status_code, strict.json()["errors"][0]["where"]) == (422, "Idempotency-Key")
    other = {"Idempotency-Key": uuid.uuid4().hex}
    assert alice.post("/jobs", json={"jobs": [OPEN]}, headers=other).status_code == 201
    assert submit(alice, OPEN, **other).status_code == 422


def test_submit__one_by_one__each_keeps_its_own_bytes(people: People) -> None:
    answer = submit(people["alice"], OPEN, XML_JOB)  # type: ignore[arg-type]
    originals = [original(people["alice"], job["job_id"]) for job in answer.json()["jobs"]]
    assert [json.loads(originals[0].text), originals[1].text] == [OPEN, XML_JOB]
    assert originals[1].headers["Content-Type"].startswith("application/xml")


def original(client: httpx.Client, job_id: int) -> httpx.Response:
    answer: httpx.Response = wait_until(
        lambda: found if (found := client.get(f"/jobs/{job_id}/original")).status_code == 200 else None, "it"
    )
    return answer


def test_submit__one_of_two_equal_job_keys__takes_the_other(people: People) -> None:
    key = f"nightly-{uuid.uuid4().hex}"
    answer = submit(people["alice"], {**OPEN, "key": key}, {**OPEN, "key": key})
    assert sorted(statuses(answer)) == [201, 409]


def test_submit__a_single_job_or_a_faulty_list__is_answered_as_without_the_preference(people: People) -> None:
    alice = people["alice"]
    single = alice.post("/jobs", json=OPEN, headers=LENIENT)
    assert single.status_code == 201 and "Preference-Applied" not in single.headers
    faulty = submit(alice)
    assert (faulty.status_code, faulty.json()["errors"][0]["where"].endswith("jobs")) == (422, True)


def test_submit__more_jobs_than_a_request_may_have__names_the_bound(people: People) -> None:
    refused = submit(people["alice"], *[OPEN] * 101)
    assert refused.status_code == 413 and "more than 100" in refused.json()["errors"][0]["message"]


XML_JOB = "<job open='true'>\n  <whiteboard>from XML</whiteboard>\n</job>"


def test_submit__texts_of_jobs__are_jobs_with_faults_at_their_own_lines(people: People) -> None:
    faulty = XML_JOB.replace("<whiteboard>", "<whitebord>").replace("</whiteboard>", "</whitebord>")
    texts = [XML_JOB, '{"open": true}', faulty, "<job", "  ", "true", f"\ufeff{XML_JOB}", "<job>\ud800</job>"]
    answer = submit(people["alice"], *texts)  # type: ignore[arg-type]
    assert statuses(answer) == [201, 201, 422, 400, 400, 400, 201, 400]
    made, _, misspelt, cut, empty, other, _, surrogate = answer.json()["jobs"]
    assert surrogate["errors"] == [
        {"where": "jobs[7]: text", "message": "contains U+D800, which is not a character"}
    ]
    job = people["alice"].get(f"/jobs/{made['job_id']}", params={"min_position": answer.json()["position"]})
    assert job.json()["whiteboard"] == "from XML"
    assert misspelt["errors"][0]["where"] == "jobs[2]: line 2, column 3: whitebord"
    assert [each["errors"][0]["where"] for each in (cut, empty, other)] == [
        "jobs[3]: line 1",
        "jobs[4]: text",
        "jobs[5]: text",
    ]


def test_submit__texts_in_one_commit__all_or_none(people: People) -> None:
    alice = people["alice"]
    together = alice.post("/jobs", json={"jobs": [XML_JOB, OPEN]})
    assert together.status_code == 201 and len(together.json()["jobs"]) == 2
    refused = alice.post("/jobs", json={"jobs": [XML_JOB, "<job"]})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "jobs[1]: line 1")


def test_submit__many_jobs__ids_ascend_without_gaps(people: People) -> None:
    answer = submit(people["alice"], *[OPEN] * 16)
    ids = [each["job_id"] for each in answer.json()["jobs"]]
    assert ids == list(range(ids[0], ids[0] + 16))


def test_items__one_fails_in_the_service__others_keep_their_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done = Committed(7, 9, datetime(2026, 1, 1, tzinfo=UTC), False, None, b'{"job_id": 3}')
    read_job: Any = SimpleNamespace(spec=SimpleNamespace(recipe_sets=[]))

    async def read(parts: Any, principal: Any, original: Original, **_: Any) -> ValidSubmission:
        if b"unreadable" in original.content:
            raise RuntimeError("a fault in reading")
        return ValidSubmission(original, [read_job], False)

    async def submit(*given: Any) -> Committed:
        if b"bad" in given[3].original.content:
            raise RuntimeError("a fault in a commit")
        return done

    async def take_all(wanted: Sequence[Counts]) -> list[Ids]:
        return [Ids(number, (), (), ()) for number, _ in enumerate(wanted)]

    monkeypatch.setattr(item_submissions, "validate_submission", read)
    monkeypatch.setattr(item_submissions, "submit_valid", submit)
    parts: Any = SimpleNamespace(log=None, numbers=SimpleNamespace(take_all=take_all))
    nobody: Any = None
    members = [b"{}", b'{"bad": 1}', b'{"unreadable": 1}', b"{}"]
    items = [JobItem(number, member) for number, member in enumerate(members)]
    outcomes = asyncio.run(submit_items(parts, nobody, RequestContext("ada", "1"), items, strict=False))
    assert [item_answer(outcome)["status"] for outcome in outcomes] == [201, 500, 500, 201]
    assert "a fault in reading" in caplog.text and "a fault in a commit" in caplog.text
