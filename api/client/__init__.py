"""The HTTP client of Labledger, for the command line and the simulated lab."""

from api.client.calls import Client
from api.client.problems import ServerProblem, Unreachable
from api.client.retry_policy import RetryPolicy
from api.client.stream import ServerEvent

__all__ = ["Client", "RetryPolicy", "ServerEvent", "ServerProblem", "Unreachable"]
