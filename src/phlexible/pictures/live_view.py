"""Pages in a browser that a server of this machine tells what to show."""

import errno
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from phlexible.algebra.arrays import whole
from phlexible.errors import ParameterError

# A page of this machine: browsers ask what is new (GET /news?after=3) and tell what was set on it (POST /set).

HERE, LAST_PORT = "127.0.0.1", 65535
PATIENCE = 10.0
"""How long a browser waits for news before it asks again [s]."""
MOST_BYTES = 100_000
"""Of what a browser tells."""


class _Server(ThreadingHTTPServer):
    """Answers browsers of this machine, one thread each."""

    daemon_threads, allow_reuse_address = True, False

    def __init__(self, port: int, view: "Served") -> None:
        super().__init__((HERE, port), _Answer)
        self.view = view

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing if answering the connection ``request`` from ``client_address`` fails, since browsers may
        leave while they are answered. This replaces the printed error of the base class."""


class _Answer(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Answer a GET request of a browser: "/" with the HTML page, "/news?after=n" with the changes since number
        n as JSON. Requests from other machines or sites get status 403, other addresses 404."""
        path, _, query = self.path.partition("?after=")
        if not self._is_of_this_machine():
            self._send(403, "text/plain", "this page is for browsers of its own machine")
        elif path == "/":
            self._send(200, "text/html; charset=utf-8", self.server.view.page)
        elif path == "/news" and query.lstrip("-").isdigit():
            self._send(200, "application/json", json.dumps(self.server.view.changes(int(query))))
        else:
            self._send(404, "text/plain", "no such page")

    def do_POST(self) -> None:
        """Pass a JSON message from the page in a browser to ``view.receive_message`` of the server, and answer
        with status 200 and an empty object. Messages from other machines, too long ones, and those that are no
        JSON or lack entries get status 400."""
        length = self.headers.get("Content-Length", "")
        try:
            if not (self._is_of_this_machine() and length.isdigit() and int(length) <= MOST_BYTES):
                raise ValueError
            self.server.view.receive_message(dict(json.loads(self.rfile.read(int(length)))))
        except (ValueError, TypeError, KeyError):
            self._send(400, "text/plain", "not understood")
        else:
            self._send(200, "application/json", "{}")

    def log_message(self, format: str, *args: object) -> None:
        """Write no log of the server's requests (text ``format`` with ``args``) to the terminal."""

    def _is_of_this_machine(self) -> bool:
        """Return whether a request comes from a page of this server on this machine. Other web sites that a browser
        shows can neither read the page nor set anything on it."""
        hosts = {f"{name}:{self.server.server_port}" for name in (HERE, "localhost")}
        origin = self.headers.get("Origin", "http://" + self.headers.get("Host", ""))
        return self.headers.get("Host") in hosts and origin.removeprefix("http://") in hosts

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)


class Served:
    """A page that a server of this machine shows to browsers of this machine only; ends with ``stop`` or ``with``.

    Attributes:
        url: to open in a browser.
        is_open: until it is stopped.
        page: HTML.
    """

    def __init__(self, port: int, page: str, **changes: Any) -> None:
        self.page, self.is_open = page, True
        self._changed = threading.Condition()
        self._page_state: dict[str, Any] = {**changes, "number": 0}
        self._server = self._start_server(port)
        self.url = f"http://{HERE}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def changes(self, after: int) -> dict[str, Any]:
        """Return the state that browser pages show, as a dictionary with its version number. If no version
        above ``after`` exists, wait up to 10 seconds for one."""
        with self._changed:
            self._changed.wait_for(lambda: not self.is_open or self._page_state["number"] > after, PATIENCE)
            return {**self._page_state, "is_open": self.is_open}

    def receive_message(self, message: dict[str, Any]) -> None:
        """Raise ``NotImplementedError`` at every call, unless a subclass overrides this method to apply a
        ``message`` with settings from a browser page. It is called in a thread of the server.

        Raises:
            ValueError, TypeError, KeyError: not a message of a page.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Close this browser page and stop its server; waiting requests are answered."""
        if self.is_open:
            with self._changed:
                self.is_open = False
                self._changed.notify_all()
            self._server.shutdown()
            self._server.server_close()

    def _publish(self, **changes: Any) -> None:
        """Change entries of the state that browser pages show, with a new version number, and wake up requests
        that wait for a new version."""
        with self._changed:
            self._page_state |= {**changes, "number": self._page_state["number"] + 1}
            self._changed.notify_all()

    def _start_server(self, port: int) -> _Server:
        """Return a running HTTP server for this page at ``port``, or at the next higher port if it is in use. With
        port 0 the system chooses a free one. Raise ``ParameterError`` if no port up to the last is free, or for
        any other error of the system."""
        while True:
            try:
                return _Server(port, self)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or port == LAST_PORT:
                    raise ParameterError(f"no page can be shown at port {port}: {error}") from error
                port += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url if self.is_open else 'stopped'})"


def checked_port(port: int) -> int:
    """Return the port number of a server if it is between 0 and 65535; raise ``ParameterError`` otherwise.

    Raises:
        ParameterError: another number.
    """
    if (port := whole("port", port, least=0)) > LAST_PORT:
        raise ParameterError(f"port must be at most {LAST_PORT}, got {port}")
    return port
