"""The page of a run that goes on, served on this machine only.

The server answers on the loopback address, under a path that contains a secret, so that no other user or web
page sees the run or stops it. It serves no files.
"""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from becalm._core import report as core_report
from becalm.analysis import formats
from becalm.base import jsons
from becalm.reports.page import heading, template
from becalm.results import Results
from becalm.results.tables import SCHEMA
from becalm.runs import Progress
from becalm.runs.watched import Frames
from becalm.scenario import Scenario

GRACE = 3.0
"""Seconds that the server waits at the end for a page that has not fetched the last data."""
LONGEST = 20.0
"""Seconds that a page waits for new data before it asks again."""
_HOST = "127.0.0.1"


class Live:
    """A server of one page, for the time of a `with` block."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.stopped = False
        """Whether the page asked to stop the run."""
        self._secret = secrets.token_urlsafe(16)
        self._news = threading.Condition()
        self._payload, self._number, self._over = b"", 0, False
        self._readers, self._told = 0, 0
        self._server = ThreadingHTTPServer((_HOST, 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.host}/{self._secret}/"

    @property
    def host(self) -> str:
        """Address and port of the server."""
        return f"{_HOST}:{self._server.server_address[1]}"

    def show(self, scenario: Scenario, now: Progress, frames: Frames) -> None:
        """Show the frames so far of a run."""
        done = f"{formats.seconds(now.time)} of {formats.seconds(now.duration)}"
        of = f"replication {now.replication} of {now.replications}, " if now.replications > 1 else ""
        about = heading(self.title, {}) | {
            "facts": [f"{of}{done}, {now.packet_hops:,} packet-hops"],
            "schema": [table.written() for table in SCHEMA.values()],
        }
        run = (now.replication, "", now.packet_hops, now.time, dict(frames))
        self._publish(core_report(scenario.core, [run], jsons.dumps(about), 0, True)[0])

    def end(self, results: Results) -> None:
        """Show the complete page of the results."""
        from becalm.reports.page import payload

        self._publish(payload(results), over=True)

    def _publish(self, data: bytes, *, over: bool = False) -> None:
        with self._news:
            self._payload, self._number, self._over = data, self._number + 1, over
            self._news.notify_all()

    def page(self) -> bytes:
        """Return the page without data, which it fetches."""
        text = template().replace("connect-src 'none'", "connect-src 'self'", 1)
        text = text.replace("<title>becalm report</title>", "<title>becalm</title>", 1)
        return text.replace("<!--payload-->", '<script type="text/plain" id="live"></script>', 1).encode()

    def data(self, known: int) -> tuple[int, bool, bytes] | None:
        """Return number and bytes of data newer than those with a number, and whether they are the last.

        Wait for them; None if there are none for a while.
        """
        with self._news:
            self._readers += 1
            try:
                if not self._news.wait_for(lambda: self._number > known, LONGEST):
                    return None
                self._told = self._number
                return self._number, self._over, self._payload
            finally:
                self._readers -= 1
                self._news.notify_all()

    def allows(self, path: str, host: str | None) -> str | None:
        """Return what a path asks for; None without the secret, or from a page of another site."""
        before, _, what = path.partition("?")[0].removeprefix("/").partition("/")
        same = secrets.compare_digest(before.encode(), self._secret.encode())
        return what if same and host == self.host else None

    def __enter__(self) -> Live:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._news:
            if kind is None and self._told > 0:
                self._news.wait_for(lambda: self._told == self._number and self._readers == 0, GRACE)
        self._server.shutdown()
        self._server.server_close()


def _handler(live: Live) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with the page or its data."""
            asked = live.allows(self.path, self.headers.get("Host"))
            if asked == "":
                self._answer(HTTPStatus.OK, live.page(), "text/html; charset=utf-8")
            elif asked == "data":
                known = self.path.partition("?after=")[2]
                found = live.data(int(known) if known.isdecimal() and len(known) < 10 else 0)
                if found is None:
                    self._answer(HTTPStatus.NO_CONTENT)
                else:
                    number, over, data = found
                    state = {"X-Number": str(number), "X-Over": "yes" if over else "no"}
                    self._answer(HTTPStatus.OK, data, "application/octet-stream", state)
            else:
                self._answer(HTTPStatus.NOT_FOUND)

        def do_POST(self) -> None:
            """Stop the run."""
            if live.allows(self.path, self.headers.get("Host")) != "stop":
                self._answer(HTTPStatus.NOT_FOUND)
                return
            live.stopped = True
            self._answer(HTTPStatus.NO_CONTENT)

        def _answer(
            self, status: HTTPStatus, body: bytes = b"", kind: str = "", more: dict[str, str] | None = None
        ) -> None:
            self.send_response(status)
            for name, value in {
                **({"Content-Type": kind} if kind else {}),
                **{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
                **{"Referrer-Policy": "no-referrer", **(more or {})},
            }.items():
                self.send_header(name, value)
            # The body of a request is not read, so the connection cannot be used again after one.
            self.send_header("Connection", "close")
            if status is not HTTPStatus.NO_CONTENT:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.close_connection = True
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler
