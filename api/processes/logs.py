"""What a process says of itself, on standard error: every record of every library in one form.

Records are made with `logging`; what somebody may want to search for goes into `extra`.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final

from api.settings import Settings

# The pool reports every attempt while the database is away; ours say it once. Each call of a client, and each
# watcher that hangs up, is nobody's news.
NOISY = ("psycopg.pool", "httpx", "httpcore", "asyncio")
# What any record has; the rest is what somebody gave as `extra`.
USUAL: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
PLAIN: Final = "\033[0m"
COLOURS: Final = {
    "time": "\033[2m",
    "info": "\033[32m",
    "warning": "\033[33m",
    "error": "\033[31m",
    "critical": "\033[1;31m",
    "event": "\033[1m",
    "key": "\033[36m",
}

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
    return ForPeople(process, COLOURS if is_terminal else {}) if log_format == "people" else AsJson(process)


class AsJson(logging.Formatter):
    """RFC 3339 times in UTC, exceptions as a field."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        document = {
            "time": time,
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "event": record.getMessage(),
            **_extra(record),
        }
        if trace := _trace(self, record):
            document["exception"] = trace
        return json.dumps(document, default=repr)


class ForPeople(logging.Formatter):
    """A line, and below it the traceback."""

    def __init__(self, process: str, colours: Mapping[str, str]) -> None:
        super().__init__()
        self._process = process
        self._colours = colours

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        level = record.levelname.lower()
        words = [
            self._in("time", time),
            f"[{self._in(level, f'{level:<8}')}]",
            self._in("event", f"{self._process}: {record.getMessage()}"),
            *(f"{self._in('key', key)}={value}" for key, value in sorted(_extra(record).items())),
        ]
        return "\n".join(filter(None, (" ".join(words), _trace(self, record))))

    def _in(self, colour: str, text: str) -> str:
        begin = self._colours.get(colour)
        return f"{begin}{text}{PLAIN}" if begin else text


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in USUAL}


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""


def _ended_by(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        logger.critical("ended by a fault", exc_info=(kind, error, trace))


def _thread_ended_by(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        told = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        name = ended.thread.name if ended.thread else "a thread"
        logger.critical("thread ended by a fault", exc_info=told, extra={"thread_name": name})
