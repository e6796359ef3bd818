"""A minimal Falcon application on the server of the API, whose rate is a limit for every API request."""

from __future__ import annotations

import falcon
from falcon.asgi import App, Request, Response

from api.rest.serving.in_flight import InFlight
from api.rest.serving.server import HttpServer
from runtime.processes.logs import set_up_logging
from runtime.settings import SERVE, Settings


class MinimalResource:
    async def on_post(self, req: Request, resp: Response) -> None:
        """Read a body and answer with a few bytes, as every write does."""
        body = await req.stream.read()
        resp.status = falcon.HTTP_201
        resp.media = {"bytes": len(body)}


def application() -> InFlight:
    app = App()
    app.add_route("/", MinimalResource())
    return InFlight(app, lambda: None)


def main() -> None:
    settings = Settings.read()
    set_up_logging(settings, SERVE)
    HttpServer(settings, application).run()


if __name__ == "__main__":
    main()
