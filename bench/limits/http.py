"""What the server of the API answers when there is nothing to do, asked by the clients of `submit`."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from dataclasses import replace

from bench.outcome import Figures
from bench.raw_http import Wire, asked_for, request
from runtime.embedded.ports import any_free
from runtime.processes.programs import program
from runtime.processes.supervisor import end, spawn
from runtime.settings import Settings

CLIENTS = 16
READY_SECONDS = 30.0
STOP_SECONDS = 10.0
# As large as the jobs of `submit` are.
BODY = b"<job>" + b" " * 1_000 + b"</job>"


def of_http(settings: Settings, seconds: float) -> Figures:
    """POSTs a second that a bare Falcon application takes under the server of the API."""
    port = any_free(settings.host)
    told = replace(settings, port=port)
    served = replace(program("serve", told), argv=[sys.executable, "-m", "bench.limits.bare"])
    process = spawn(served)
    try:
        url = f"http://{settings.host}:{port}"
        asyncio.run(_answers(url))
        asked = itertools.repeat(request("POST", "/", "none", BODY, "application/xml"))
        began = time.monotonic()
        took = asyncio.run(asked_for(url, CLIENTS, seconds, asked))
        until_the_last = time.monotonic() - began
    finally:
        end(process, STOP_SECONDS, "bare server")
    return {"bare_falcon_requests_per_second": round(len(took) / until_the_last)}


async def _answers(url: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            (await Wire.connected(url)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)
        else:
            return
