"""Talking to Labledger over HTTP: what the command line and the simulated lab share."""

from api.client.calls import Client
from api.client.problems import Problem, Unreachable
from api.client.retry_policy import Patience
from api.client.stream import ServerEvent

__all__ = ["Client", "Patience", "Problem", "ServerEvent", "Unreachable"]
