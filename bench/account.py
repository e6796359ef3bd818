"""The account of a measurement: the cost of each item in CPU, commits and bytes.

An item is a job, a recipe or an allocation, depending on the case.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from bench.cluster_fixture import BenchCluster
from bench.cpu_use import cpu_times
from bench.measurements import SQL
from bench.outcome import Figures

# PostgreSQL counts the commits of a session at most this much later, if the session does nothing meanwhile.
COUNTED_SECONDS: Final = 1.1
# The sessions of the benchmark, and the processes of PostgreSQL that serve no session.
OTHERS: Final = "others"


class CostAccount(NamedTuple):
    """The seconds of CPU by process, the commits and the bytes that were used until a moment.

    `cpu` has the services, the sessions of each service in PostgreSQL, and the clients of the benchmark.
    """

    cpu: Mapping[str, float]
    commits: int
    wal_bytes: int
    table_bytes: Mapping[str, int]


def account(cluster: BenchCluster) -> CostAccount:
    """Return the use so far. Wait first until PostgreSQL has counted."""
    time.sleep(COUNTED_SECONDS)
    times = cpu_times(cluster.pids())
    cpu = {name: seconds for name, seconds in times.services.items() if name != "postgresql"}
    cpu["clients"] = time.process_time()
    sessions = {pid: name.removeprefix("labledger ") for pid, name in cluster.log.rows(SQL["sessions"], ())}
    by_session: defaultdict[str, float] = defaultdict(float)
    for pid, seconds in times.processes["postgresql"].items():
        by_session[f"postgresql_{sessions.get(pid, OTHERS)}"] += seconds
    ((commits, wal_bytes),) = cluster.log.rows(SQL["used"], ())
    table_bytes: dict[str, int] = dict(cluster.log.rows(SQL["table_bytes"], ()))
    return CostAccount({**cpu, **by_session}, commits, wal_bytes, table_bytes)


def account_figures(before: CostAccount, after: CostAccount, items: int, item: str) -> Figures:
    """Return the use of each item: milliseconds of CPU by process, commits, bytes; and the clients' share.

    `item` is its name in the names of figures. The CPU time of sessions that have ended is missing.
    """
    used = {name: max(0.0, seconds - before.cpu.get(name, 0.0)) for name, seconds in after.cpu.items()}
    total = sum(used.values())
    grown = {
        f"{schema}_bytes": size - before.table_bytes.get(schema, 0)
        for schema, size in after.table_bytes.items()
    }
    each = {
        **{f"{name}_cpu_ms": 1000 * seconds for name, seconds in {**used, "all": total}.items()},
        "commits": after.commits - before.commits,
        "wal_bytes": after.wal_bytes - before.wal_bytes,
        **grown,
    }
    figures = {f"{name}_per_{item}": round(amount / items, 3) for name, amount in each.items()}
    return {**figures, "clients_share_percent": round(100 * used["clients"] / total, 1)}
