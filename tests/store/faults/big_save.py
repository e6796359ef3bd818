"""Save one big batch: `python -m tests.store.faults.big_save {stock|ours} URL`.

Print the pid of the backend, wait for a line, save, and print "saved".
"""

from __future__ import annotations

import sys

from eventsourcing.postgres import PostgresApplicationRecorder

from store.datastore import Datastore
from tests.store.faults.stores import Ours, Stock, stored

EVENTS = 5_000
BYTES_OF_EVENT = 350


def main(kind: str, url: str) -> None:
    recorder = opened(kind, url)
    batch = stored(*(f"subject/{number}" for number in range(EVENTS)), size=BYTES_OF_EVENT)
    with recorder.datastore.get_connection() as connection:
        print(connection.info.backend_pid, flush=True)
    sys.stdin.readline()
    recorder.insert_events(batch)
    print("saved", flush=True)
    recorder.datastore.close()


def opened(kind: str, url: str) -> PostgresApplicationRecorder:
    """Open a recorder with one connection, so that its backend is the reported one."""
    return Stock(url, pool_size=1) if kind == "stock" else Ours(Datastore(url, pool_size=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
