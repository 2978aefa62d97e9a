"""A receiver of webhooks in the process of the test: it answers the handshake, checks signatures, and stores the webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

# The largest difference between the clocks of sender and receiver that Standard Webhooks recommends.
_TOLERANCE_SECONDS = 300
# The largest body that the receiver accepts; it holds a thousand updates of some kilobytes.
_BODY_BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True)
class ReceivedWebhook:
    # The id of the webhook, which is the same in all attempts.
    id: str
    body: Any
    headers: Mapping[str, str]


def signature_problem(secret: str, headers: Mapping[str, str], body: bytes) -> str | None:
    """The problem with the signatures of a webhook; None if they are correct."""
    key = secret.encode()
    expected = f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(headers.get("x-hub-signature-256", "").encode(), expected.encode()):
        return "X-Hub-Signature-256 is missing, or not that of the app's secret"
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        return "webhook-timestamp is missing, or not that of the present time"
    signed = hmac.new(key, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    wanted = b"v1," + base64.b64encode(signed)
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return None if any(hmac.compare_digest(one, wanted) for one in given) else "webhook-signature is missing, or not that of the app's secret"


class Receiver:
    """Receives webhooks. Responds with `status`, which is 200 unless a test changes it."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.status = 200
        self.webhooks: list[ReceivedWebhook] = []
        # The requests that were not signed correctly: the problem with each.
        self.refused: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/webhooks"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        problem = signature_problem(self.secret, headers, body)
        if problem is not None:
            self.refused.append(problem)
            return 401, problem
        self.webhooks.append(ReceivedWebhook(headers.get("webhook-id", ""), json.loads(body), headers))
        return self.status, ""


def _handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            (challenge,) = parse_qs(urlsplit(self.path).query).get("hub.challenge", [""])[:1]
            self._end(200, challenge)

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            if length > _BODY_BYTES_MAX:
                self.close_connection = True
                self._end(413, f"the body is larger than {_BODY_BYTES_MAX} bytes")
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._end(*receiver._take(headers, self.rfile.read(length)))

        def log_message(self, format: str, *args: Any) -> None:
            """Writes no log, so that a test shows only its own output."""

        def _end(self, status: int, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
