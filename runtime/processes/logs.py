"""The log of a process on standard error, with the records of all libraries in one format.

Records are made with `logging`; values to search for go into `extra`.
"""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from runtime.settings import Settings

# The pool reports each attempt while the database is away, and this code logs it once. Calls of a client, and
# watchers that disconnect, are not logged.
NOISY = ("psycopg.pool", "httpx", "httpcore", "asyncio")
FIRST = ("time", "level", "process", "logger", "event")

logger = logging.getLogger(__name__)


def set_up_logging(settings: Settings, process: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(settings, process, is_terminal=sys.stderr.isatty()))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
    sys.excepthook = _ended_by
    threading.excepthook = _thread_ended_by


def formatter(settings: Settings, process: str, *, is_terminal: bool) -> logging.Formatter:
    log_format = settings.log_format or ("people" if is_terminal else "json")
    shown = _for_people(process, colours=is_terminal) if log_format == "people" else _as_json(process)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.stdlib.ExtraAdder()],
        processors=[
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *shown,
        ],
    )


def _as_json(process: str) -> list[Processor]:
    """Return processors for JSON, with RFC 3339 times in UTC, and exceptions as a field."""

    def ordered(_: WrappedLogger, __: str, record: EventDict) -> EventDict:
        record["process"] = process
        return {**{key: record.pop(key) for key in FIRST}, **record}

    return [
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
        ordered,
        structlog.processors.JSONRenderer(),
    ]


def _for_people(process: str, *, colours: bool) -> list[Processor]:
    def with_process(_: WrappedLogger, __: str, record: EventDict) -> EventDict:
        record["event"] = f"{process}: {record['event']}"
        del record["logger"]
        return record

    return [
        structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False),
        with_process,
        structlog.dev.ConsoleRenderer(
            colors=colours, pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
        ),
    ]


def _ended_by(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        logger.critical("ended by an unexpected error", exc_info=(kind, error, trace))


def _thread_ended_by(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        exception = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        name = ended.thread.name if ended.thread else "a thread"
        logger.critical(
            "thread ended by an unexpected error", exc_info=exception, extra={"thread_name": name}
        )
