"""Limits of HTTP: the server of the API with an empty application, under the clients of `submit`."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace

from bench.outcome import Figures
from bench.raw_http import BenchConnection, request, request_times
from runtime.embedded.ports import any_free
from runtime.processes.child import python_module
from runtime.processes.programs import program
from runtime.processes.supervisor import end, spawn
from runtime.settings import Settings

CLIENTS = 16
READY_SECONDS = 30.0
STOP_SECONDS = 10.0
# About the size of the jobs of `submit`.
BODY = b"<job>" + b" " * 1_000 + b"</job>"


def of_http(settings: Settings, seconds: float) -> Figures:
    """Measure the POST requests per second to a bare Falcon application under the server of the API."""
    port = any_free(settings.host)
    bare_settings = replace(settings, port=port)
    served = replace(program("serve", bare_settings), argv=python_module("bench.limits.bare"))
    process = spawn(served)
    try:
        url = f"http://{settings.host}:{port}"
        asyncio.run(_answers(url))
        requests = itertools.repeat(request("POST", "/", "none", BODY, "application/xml"))
        began = time.monotonic()
        took = asyncio.run(request_times(url, CLIENTS, seconds, requests))
        until_the_last = time.monotonic() - began
    finally:
        end(process, STOP_SECONDS, "bare server")
    return {"bare_falcon_requests_per_second": round(len(took) / until_the_last)}


async def _answers(url: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            (await BenchConnection.connected(url)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)
        else:
            return
