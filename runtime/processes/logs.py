"""The log of a process on standard error: records of `logging` in one format, with values in `extra`."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from runtime.settings import Settings

# Only errors of these libraries are logged. Otherwise the pool would report each attempt while the database
# is away, the client each request, and asyncio each watcher that disconnects.
NOISY = ("psycopg.pool", "httpx", "httpcore", "asyncio")
FIRST_KEYS = ("time", "level", "process", "logger", "event")

logger = logging.getLogger(__name__)


def set_up_logging(settings: Settings, process: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(settings, process, is_terminal=sys.stderr.isatty()))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def formatter(settings: Settings, process: str, *, is_terminal: bool) -> logging.Formatter:
    log_format = settings.log_format or ("people" if is_terminal else "json")
    processors = _for_people(process, colours=is_terminal) if log_format == "people" else _as_json(process)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.stdlib.ExtraAdder()],
        processors=[
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *processors,
        ],
    )


def _as_json(process: str) -> list[Processor]:
    """Return processors for JSON, with RFC 3339 times in UTC, and exceptions as a field."""

    def ordered(_: WrappedLogger, __: str, record: EventDict) -> EventDict:
        record["process"] = process
        return {**{key: record.pop(key) for key in FIRST_KEYS}, **record}

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


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        logger.critical("ended by an unexpected error", exc_info=(kind, error, trace))


def _log_uncaught_in_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        exception = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        name = ended.thread.name if ended.thread else "a thread"
        logger.critical(
            "thread ended by an unexpected error", exc_info=exception, extra={"thread_name": name}
        )
