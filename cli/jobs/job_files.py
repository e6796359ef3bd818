"""Submission of files with jobs: many in one request, with the answers and faults of each under its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from api.intake.limits import MAX_BODY_BYTES, MAX_JOBS

if TYPE_CHECKING:
    from api.client import Client, ServerProblem

XML = "application/xml"
JSON = "application/json"
# File suffix -> media type. Without such a suffix, as for standard input, the first character decides.
BY_SUFFIX = {".xml": XML, ".json": JSON}

# Name in messages for a stream without a name.
STDIN = "<stdin>"
# Bytes of texts in one request: in JSON, a text is rarely more than half as long again.
MAX_TEXT_BYTES = MAX_BODY_BYTES // 2
CREATED = 201
_OF_MEMBER = re.compile(r"jobs\[(\d+)\](?:: |\.|$)")


class JobFile(NamedTuple):
    """A file with a job, or in JSON several. `options` replace locations in it."""

    name: str
    content: bytes
    media_type: str
    options: Mapping[str, str]

    @property
    def needs_own_request(self) -> bool:
        """Return whether the file may have a list of jobs, or is not UTF-8."""
        return self.text is None or (self.media_type == JSON and b'"jobs"' in self.content)

    @property
    def text(self) -> str | None:
        """Return the text; None if it is not UTF-8, so that the server has to say what is wrong."""
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None


def content_type(name: str, content: bytes) -> str:
    """Return the media type from the suffix of a file name, otherwise from the content."""
    for suffix, media_type in BY_SUFFIX.items():
        if name.endswith(suffix):
            return media_type
    return JSON if content.lstrip()[:1] == b"{" else XML


def batches(files: Iterable[JobFile]) -> Iterator[list[JobFile]]:
    """Yield the files in groups for one request each."""
    batch: list[JobFile] = []
    size = 0
    for file in files:
        is_full = len(batch) == MAX_JOBS or size + len(file.content) > MAX_TEXT_BYTES
        if batch and (is_full or file.needs_own_request or batch[-1].needs_own_request):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += len(file.content)
    if batch:
        yield batch


def post_batch(
    client: Client, batch: Sequence[JobFile], *, strict: bool
) -> Iterator[dict[str, Any] | ServerProblem]:
    """Submit the jobs of a batch in one request; yield the answer for each file, or why it was refused."""
    from api.client import ServerProblem

    try:
        if len(batch) == 1:
            (file,) = batch
            yield client.post_text("/jobs", file.content, file.media_type, strict=strict or None)
            return
        texts = [file.text for file in batch]
        answers = client.post_items("/jobs", "jobs", texts, strict=strict or None)
    except ServerProblem as problem:
        yield from [problem] * len(batch)
        return
    yield from map(_answer_of_item, answers)


def submit_together(client: Client, files: Sequence[JobFile], *, strict: bool) -> list[dict[str, Any]]:
    """Submit the jobs of all files in one commit; return an answer for each file.

    Raises ServerProblem, with faults under the names of their files, if one of them is refused.
    """
    from api.client import ServerProblem
    from domain.errors import Fault

    try:
        texts = [file.text for file in files]
        answers: list[dict[str, Any]] = client.post("/jobs", {"jobs": texts}, strict=strict or None)["jobs"]
    except ServerProblem as problem:
        names, faults = [file.name for file in files], problem.faults
        problem.faults = tuple(Fault(_under_its_name(each.where, names), each.message) for each in faults)
        raise
    return [_with_own_warnings(answer) for answer in answers]


def _answer_of_item(item: dict[str, Any]) -> dict[str, Any] | ServerProblem:
    from api.client.problems import problem_in
    from domain.errors import Fault

    if item["status"] == CREATED:
        return _with_own_warnings(item)
    problem = problem_in(item, item["status"])
    problem.faults = tuple(Fault(_in_the_file(each.where), each.message) for each in problem.faults)
    return problem


def _with_own_warnings(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer for one of several jobs as that for its file."""
    warnings = [{**each, "where": _in_the_file(each["where"])} for each in answer["warnings"]]
    own = {name: value for name, value in answer.items() if name != "status"}
    return {**own, "warnings": warnings}


def _in_the_file(where: str) -> str:
    """Return a location in a list as one in the file of the job."""
    return _OF_MEMBER.sub("", where, count=1) or "job"


def _under_its_name(where: str, names: Sequence[str]) -> str:
    found = _OF_MEMBER.match(where)
    return where if found is None else f"{names[int(found[1])]}: {where[found.end() :] or 'job'}"
