"""The requests of an overview."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.client import Client


class OverviewReader:
    """A reader of overviews."""

    def __init__(self, client: Client) -> None:
        from api.client.retry_policy import NO_RETRIES

        self._client = client
        # The check of readiness does not retry.
        self._at_once = client.another(policy=NO_RETRIES)

    def close(self) -> None:
        self._at_once.close()

    def document(self) -> dict[str, Any]:
        """Return the overview, without facts if the server answers 503 or 504. Raise Unreachable."""
        from api.client import ServerProblem

        head = {"at": datetime.now(UTC).isoformat(), "url": self._client.url, **self._readiness()}
        try:
            # Do not retry while the service is not ready.
            client = self._client if head["ready"] else self._at_once
            return {**head, **client.get("/overview")}
        except ServerProblem as problem:
            if problem.status not in (503, 504):
                raise
            return {**head, "detail": str(problem)}

    def _readiness(self) -> dict[str, Any]:
        from api.client import ServerProblem

        try:
            answer: dict[str, Any] = self._at_once.get("/readyz")
            return {"ready": True, "checks": answer["checks"], "detail": ""}
        except ServerProblem as problem:
            return {"ready": False, "checks": problem.members.get("checks", {}), "detail": problem.detail}
