"""Clients of one lab controller, as a process: `python -m tests.soak.reporters URL`.

Standard input is an `Offer` as JSON, standard output is the `Taken` as JSON. Each client reports results of
recipes of its own, one message after the other, and repeats a message that was refused with 429 after the
seconds of `Retry-After`. The clients are a process of their own, because the test measures times, and would
wait for the interpreter among them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import httpx

from tests.harness.http_options import LOCAL_HTTP

MAX_ITEMS = 1_000

Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Offer:
    """The reports of all clients: in each round one result of each task, given as (recipe id, task id).

    `repeats` is False for clients that forget a message which was refused.
    """

    lab_controller: str
    tasks: Sequence[tuple[int, int]]
    rounds: int
    clients: int
    repeats: bool = True

    @property
    def count(self) -> int:
        return len(self.tasks) * self.rounds


@dataclass
class Taken:
    """The number of results that were taken, and of messages that were refused with 429."""

    results: int = 0
    refused: int = 0


def messages(offer: Offer, client: int) -> Iterator[Items]:
    """Yield the items of each message of a client. No two results of a task have the same path."""
    items = (
        {"progress": {"recipe_id": recipe_id, "task_id": task_id, "result": "Pass", "path": f"/{number}"}}
        for number in range(offer.rounds)
        for recipe_id, task_id in offer.tasks[client :: offer.clients]
    )
    while message := list(islice(items, MAX_ITEMS)):
        yield message


async def report(client: httpx.AsyncClient, offer: Offer, items: Items, taken: Taken) -> None:
    """Send a message until it is not refused with 429. Raises AssertionError unless all items are taken."""
    body = json.dumps({"items": items}).encode()
    path = f"/lab-controllers/{offer.lab_controller}/updates"
    while (answer := await client.post(path, content=body)).status_code == 429:
        taken.refused += 1
        if not offer.repeats:
            return
        await asyncio.sleep(float(answer.headers["Retry-After"]))
    assert answer.status_code == 200, answer.text[:500]
    refused = [item for item in answer.json()["items"] if item["status"] != 200]
    assert not refused, refused[:3]
    taken.results += len(items)


async def report_all(url: str, token: str, offer: Offer) -> Taken:
    """Report everything that is offered, by all clients at once."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    taken = Taken()

    async def report_own(number: int) -> None:
        for items in messages(offer, number):
            await report(client, offer, items, taken)

    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=None, limits=httpx.Limits(max_connections=None), **LOCAL_HTTP
    ) as client:
        await asyncio.gather(*map(report_own, range(offer.clients)))
    return taken


def main() -> None:
    offer = Offer(**json.load(sys.stdin))
    print(json.dumps(asdict(asyncio.run(report_all(sys.argv[1], os.environ["LABLEDGER_TOKEN"], offer)))))


if __name__ == "__main__":
    main()
