"""The database of a `labledger up` that runs, for who may read its data folder."""

from __future__ import annotations

from domain.errors import LabledgerError
from runtime.embedded.cluster import Cluster
from runtime.settings import Settings, variable


def database_url(settings: Settings) -> str:
    """As its owner: what the settings say, else the one in the data folder. Raises NotRunning without any."""
    if settings.migration_url is not None:
        return settings.migration_url
    cluster = Cluster(settings.data / "postgresql")
    if not cluster.is_running():
        raise NotRunning(
            f"no `labledger up` runs on {settings.data}, and neither {variable('owner_database_url')} nor"
            f" {variable('database_url')} names another database"
        )
    return cluster.start().owner_url


class NotRunning(LabledgerError):
    """There is no database."""
