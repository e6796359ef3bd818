"""/weights: dry run of the contention weight of a recipe set"""

from __future__ import annotations

from functools import partial

from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.rest import paging
from api.rest.body import parse_json, read_json_bytes
from api.rest.context import client_address
from api.rest.contract.answers import weights as answers
from api.rest.contract.inputs.weights import WeightQuestion
from api.rest.contract.operation import operation
from api.rest.ports import FeedParts
from domain.admission.weight_question import read_question, weigh
from domain.contention.weights import WeightSettings
from domain.directory.partitions import configuration_of, partition_document


class Weights:
    def __init__(self, parts: FeedParts) -> None:
        self._parts = parts

    @operation(
        "Compute the weight of a recipe set, from locks and age alone",
        answers.Weight,
        body=WeightQuestion,
        is_read=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        body = await read_json_bytes(req)
        position = self._parts.feed.position
        settings = configuration_of(partition_document(self._parts.feed.directory)).weights
        answer = await share_of(req).parse(client_address(req), len(body), partial(_weighed, body, settings))
        paging.answer(resp, position, answer)


def _weighed(body: bytes, settings: WeightSettings) -> dict[str, object]:
    return weigh(read_question(parse_json(body), settings))
