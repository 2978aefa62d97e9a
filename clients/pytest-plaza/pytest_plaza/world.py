"""A world of a server, for a test. Bodies and responses are those of the control API (docs/reference/control-api.md)."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote, urlsplit

from .control import Connection
from .receiver import Receiver


class World:
    """One isolated platform. `base_url` and the addresses of the other surfaces are where the code under test sends its requests."""

    def __init__(self, name: str, addresses: dict[str, str], connection: Connection) -> None:
        self.name = name
        self.base_url = addresses["base_url"]
        self.app_base_url = addresses["app_base_url"]
        self.microblog_base_url = addresses["microblog_base_url"]
        self.ads_base_url = addresses["ads_base_url"]
        self.social_login_host = addresses["social_login_host"]
        self._connection = connection
        self._receivers: list[Receiver] = []

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """A request of the control API; `path` is below the world, e.g. `live-videos/5301/takedown`."""
        return self._connection.send(method, f"worlds/{quote(self.name, safe='')}/{path}", body)

    def advance(self, seconds: float) -> dict[str, Any]:
        """Moves the clock. Whatever falls due on the way has happened when this returns."""
        return self.control("POST", "clock/advance", {"seconds": seconds})

    def set_clock(self, **body: Any) -> dict[str, Any]:
        """`now` (Unix seconds or ISO 8601) and `frozen`; what is not given stays as it is."""
        return self.control("PUT", "clock", body)

    def reset(self) -> None:
        """Resets the world. Faults and the log of requests are cleared."""
        self.control("POST", "reset")

    def snapshot(self, name: str) -> None:
        """Saves the world under a name."""
        self.control("POST", "snapshots", {"name": name})

    def restore(self, name: str) -> None:
        """Restores a snapshot, including its time."""
        self.control("POST", f"snapshots/{quote(name, safe='')}/restore")

    def create(self, key: str, **entry: Any) -> dict[str, Any]:
        """A node, as an entry of a world file: `create("labels", page="2001", name="vip")`."""
        return self.control("POST", f"nodes/{key}", entry)

    def read(self, key: str, node_id: str) -> dict[str, Any]:
        return self.control("GET", f"nodes/{key}/{quote(node_id, safe='')}")

    def update(self, key: str, node_id: str, **changes: Any) -> dict[str, Any]:
        """None takes a key back to what it is when not given."""
        return self.control("PATCH", f"nodes/{key}/{quote(node_id, safe='')}", changes)

    def delete(self, key: str, node_id: str) -> None:
        self.control("DELETE", f"nodes/{key}/{quote(node_id, safe='')}")

    def mint_token(self, **body: Any) -> dict[str, Any]:
        """`token` of the result is its value."""
        return self.control("POST", "tokens", body)

    def add_fault(self, **body: Any) -> dict[str, Any]:
        return self.control("POST", "faults", body)

    def clear_faults(self) -> None:
        self.control("DELETE", "faults")

    def in_app(self, what: str, **body: Any) -> dict[str, Any]:
        """What people do in the app: `self-message`, `postback`, `comment`, `live-comment` or `chatapp`."""
        return self.control("POST", f"in-app/{what}", body)

    def expect_request(self, **body: Any) -> list[dict[str, Any]]:
        """Waits for `within_ms`; returns the requests that are as expected, or raises UnmetExpectation."""
        return self.control("POST", "requests/expect", body)["data"]

    def expect_webhook(self, **body: Any) -> list[dict[str, Any]]:
        """As `expect_request`, for webhooks; only what was delivered counts, unless `status` says otherwise."""
        return self.control("POST", "deliveries/expect", body)["data"]

    def expect_app_event(self, app: str, **body: Any) -> list[dict[str, Any]]:
        """As `expect_request`, for events of an app; only accepted ones count, unless `verdict` says otherwise."""
        return self.control("POST", f"app-events/{app}/expect", body)["data"]

    def receive(self, app: str, subscriptions: list[dict[str, Any]]) -> Receiver:
        """A receiver in this process becomes the callback of the app. It is closed with the world."""
        receiver = Receiver(self.read("apps", app).get("secret", ""))
        self._receivers.append(receiver)
        self.update("apps", app, callback={"url": receiver.url, "verified": True}, subscriptions=subscriptions)
        return receiver

    def close(self) -> None:
        for receiver in self._receivers:
            receiver.close()
        self._connection.send("DELETE", f"worlds/{self.name}")


def open_world(addresses: dict[str, str], connection: Connection, file: Any) -> World:
    name = f"test-{uuid.uuid4()}"
    connection.send("POST", "worlds", {"name": name, "file": file})
    return World(name, {key: _moved(address, name) for key, address in addresses.items()}, connection)


def _moved(address: str, world: str) -> str:
    """Below `/w/{world}` each surface has the path that it has at the root."""
    scheme, host, path, _, _ = urlsplit(address)
    return f"{scheme}://{host}/w/{world}{path.rstrip('/')}"
