"""Who may see the lab: the browser that has opened the address that `mydyno serve` prints.

The address has a random token, which is exchanged for a cookie. Every request is checked: its Host header is
one that is answered (`address.Names`), it has the cookie, and it does not come from a page of another origin.

The cookie is made of a key that is kept in mydyno's state folder, so that a page that is open goes on when
`mydyno serve` is started again.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mydyno.core.folders import state_folder
from mydyno.serve.address import Names

_KEY = "serve.key"
_KEY_BYTES = 32
_YEAR_S = 365 * 24 * 3600

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the pages. A report has one in itself (`page.page_data.policy`)."""

HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With no-referrer a browser does not say the origin of a form.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def key_file() -> Path:
    """Where the key is kept; it need not exist."""
    return state_folder() / _KEY


def kept_key() -> bytes:
    """The key of this user, made when there is none. Where it cannot be kept, a new one."""
    path = key_file()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            key = file.read()
        if status.st_uid == os.geteuid() and not status.st_mode & 0o077 and len(key) == _KEY_BYTES:
            return key
    return secrets.token_bytes(_KEY_BYTES)


@dataclass(frozen=True)
class Access:
    """What is checked of every request."""

    names: Names
    key: bytes = field(repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """The one that is printed."""
        return f"http://{self.names.listen.host}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """Cookies are not kept apart by ports."""
        return f"mydyno-{self.names.listen.port}"

    @property
    def cookie(self) -> str:
        return hmac.new(self.key, b"mydyno serve", hashlib.sha256).hexdigest()

    def set_cookie(self) -> str:
        """The value of Set-Cookie."""
        return f"{self.cookie_name}={self.cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={_YEAR_S}"

    def has_token(self, method: str, path: str, query: bytes) -> bool:
        if (method, path) != ("GET", "/"):
            return False
        given = parse_qs(query.decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.token.encode())

    def refusal(self, method: str, headers: Mapping[str, str], hosts: int = 1) -> tuple[int, str] | None:
        """Status and reason of a request that is not answered, cookie or not; `hosts`: its Host headers."""
        host = headers.get("host", "")
        if hosts != 1 or not self.names.answer(host):
            return 421, "mydyno does not answer to this name: `mydyno serve --name NAME` adds one."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return 403, "This request comes from a page of another origin."
        if method not in ("GET", "HEAD") and origin is None:
            return 403, "A request that changes something needs its origin."
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        if site in ("cross-site", "same-site") and (mode != "navigate" or method != "GET"):
            return 403, "This request comes from a page of another origin."
        return None

    def has_cookie(self, header: str) -> bool:
        try:
            given = SimpleCookie(header).get(self.cookie_name)
        except CookieError:
            return False
        return given is not None and hmac.compare_digest(given.value.encode(), self.cookie.encode())


_OPENED = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0; url=/">
<link rel="icon" href="/static/icon.svg">
<title>mydyno</title></head><body><p><a href="/">Open the lab</a></p></body></html>
"""
"""Not a redirect: a browser that was sent here by another page would follow it without the new cookie."""


@dataclass(frozen=True)
class Guard:
    """Checks every request before `app` gets it, and adds headers to what it answers."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        method, path = scope["method"], scope["path"]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", [])}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                more.append((b"content-security-policy", POLICY.encode()))
                message["headers"] = [
                    *message.get("headers", []),
                    *((name, value) for name, value in more if name not in own),
                ]
            await send(message)

        hosts = len(headers.getlist("host"))
        if (refused := self.access.refusal(method, headers, hosts)) is not None:
            await _plain(answer, *refused)
        elif self.access.has_token(method, path, scope.get("query_string", b"")):
            cookie = (b"set-cookie", self.access.set_cookie().encode())
            await _send(answer, 200, _OPENED, (b"content-type", b"text/html; charset=utf-8"), cookie)
        elif not self.access.has_cookie(headers.get("cookie", "")):
            await _plain(answer, 401, "Open the address that `mydyno serve` has printed: it has a token.")
        else:
            await self.app(scope, receive, answer)


async def _plain(send: Send, status: int, text: str) -> None:
    await _send(send, status, f"{text}\n", (b"content-type", b"text/plain; charset=utf-8"))


async def _send(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    body = text.encode()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
