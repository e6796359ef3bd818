"""A child that returns each message, or fails on request: `python -m tests.runtime.echo`."""

from __future__ import annotations

import sys

from domain.errors import Refused, Unknown
from runtime.processes.child import Channel, run_child


def echo(parent: Channel, url: str) -> None:
    if "greet" in sys.argv:
        parent.send({"greeting": "hello"})
    while message := parent.receive(60):
        content = message.content
        if "exit" in content:
            raise SystemExit(content["exit"])
        if "raise" in content:
            raise {"Unknown": Unknown, "Refused": Refused}[content["raise"]]("recipe 3")
        parent.send({**content, "url": url}, message.payload)


if __name__ == "__main__":
    run_child(echo)
