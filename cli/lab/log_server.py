"""The HTTP server of a simulated lab, which serves the log files of its results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import click

from replay.simulated_lab.log_text import text_at

HOST = "127.0.0.1"


class LogHandler(BaseHTTPRequestHandler):
    """Answers GET with the text of a log file, or 404."""

    def do_GET(self) -> None:
        text = text_at(self.path)
        if text is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content = text.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the output is that of the simulation."""


@contextmanager
def log_server(port: int | None) -> Iterator[str | None]:
    """Serve log files on a port (0: a free one), and yield the address; None if there is no port.

    Raise ClickException if the port is in use.
    """
    if port is None:
        yield None
        return
    try:
        server = ThreadingHTTPServer((HOST, port), LogHandler)
    except OSError as error:
        raise click.ClickException(
            f"logs cannot be served on port {port} of {HOST}: {error.strerror}; choose another --logs-port"
        ) from None
    with server:
        Thread(target=server.serve_forever, name="logs", daemon=True).start()
        try:
            yield f"http://{HOST}:{server.server_port}"
        finally:
            server.shutdown()
