"""The server: it runs until it is interrupted."""

import socket

import uvicorn
from starlette.types import ASGIApp

from mydyno.serve.access import Access
from mydyno.serve.app import Pages, application

_GRACE_S = 3
"""For answers under way when it ends; streams of events end within a second."""


def serve(shown: Pages, access: Access, bound: socket.socket) -> None:
    """Answers on `bound` until SIGINT or SIGTERM, which then is raised again."""
    server = uvicorn.Server(config(application(shown, access)))
    shown.closing = lambda: server.should_exit
    try:
        server.run([bound])
    finally:
        shown.reports.close()
        shown.library.close()


def config(app: ASGIApp) -> uvicorn.Config:
    """How it is answered."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        # A line for each request would show the token of the first one.
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )


def preload() -> None:
    """Imports what the first pages need, before a measurement begins and not in the middle of it."""
    import mydyno.lab.report.views.verdicts
    import mydyno.serve.pages  # noqa: F401
