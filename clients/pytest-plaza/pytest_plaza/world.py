"""A world of a server, for tests. Bodies and responses have the form of the control API (docs/reference/control-api.md)."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote, urlsplit

from .control import Connection
from .receiver import Receiver


class World:
    """One isolated platform. The code under test sends its requests to `base_url` and to the addresses of the other surfaces."""

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
        """Sends a request to the control API. `path` is below the world's address, e.g. `live-videos/5301/takedown`."""
        return self._connection.send(method, f"worlds/{quote(self.name, safe='')}/{path}", body)

    def advance(self, seconds: float) -> dict[str, Any]:
        """Moves the world's clock. Returns when all work that fell due has run."""
        return self.control("POST", "clock/advance", {"seconds": seconds})

    def set_clock(self, **body: Any) -> dict[str, Any]:
        """Sets the world's clock: `now` (Unix seconds or ISO 8601) and `frozen`. A value that is not given stays unchanged."""
        return self.control("PUT", "clock", body)

    def reset(self) -> None:
        """Resets the world to its first content. Also clears the faults and the log of requests."""
        self.control("POST", "reset")

    def snapshot(self, name: str) -> None:
        """Saves the state of the world as a snapshot with this name."""
        self.control("POST", "snapshots", {"name": name})

    def restore(self, name: str) -> None:
        """Restores a snapshot of the world, including the world's time."""
        self.control("POST", f"snapshots/{quote(name, safe='')}/restore")

    def create(self, key: str, **entry: Any) -> dict[str, Any]:
        """Creates a node from an entry of a world file: `create("labels", page="2001", name="vip")`."""
        return self.control("POST", f"nodes/{key}", entry)

    def read(self, key: str, node_id: str) -> dict[str, Any]:
        return self.control("GET", f"nodes/{key}/{quote(node_id, safe='')}")

    def update(self, key: str, node_id: str, **changes: Any) -> dict[str, Any]:
        """Changes keys of a node. None restores the default of a key."""
        return self.control("PATCH", f"nodes/{key}/{quote(node_id, safe='')}", changes)

    def delete(self, key: str, node_id: str) -> None:
        self.control("DELETE", f"nodes/{key}/{quote(node_id, safe='')}")

    def mint_token(self, **body: Any) -> dict[str, Any]:
        """Creates a token. `token` of the result is the token's value."""
        return self.control("POST", "tokens", body)

    def add_fault(self, **body: Any) -> dict[str, Any]:
        return self.control("POST", "faults", body)

    def clear_faults(self) -> None:
        self.control("DELETE", "faults")

    def in_app(self, what: str, **body: Any) -> dict[str, Any]:
        """Runs an action of a person in the social app: `self-message`, `postback`, `comment`, `live-comment` or `chatapp`."""
        return self.control("POST", f"in-app/{what}", body)

    def expect_request(self, **body: Any) -> list[dict[str, Any]]:
        """Waits up to `within_ms` for requests that match. Returns them, or raises UnmetExpectation if they do not come."""
        return self.control("POST", "requests/expect", body)["data"]

    def expect_webhook(self, **body: Any) -> list[dict[str, Any]]:
        """Waits for webhooks as `expect_request` waits for requests; counts delivered ones only, unless `status` is given."""
        return self.control("POST", "deliveries/expect", body)["data"]

    def expect_app_event(self, app: str, **body: Any) -> list[dict[str, Any]]:
        """Waits for events of an app as `expect_request` waits for requests; counts accepted ones only, unless `verdict` is given."""
        return self.control("POST", f"app-events/{app}/expect", body)["data"]

    def receive(self, app: str, subscriptions: list[dict[str, Any]]) -> Receiver:
        """Starts a receiver in this process, and makes it the callback of an app. The receiver closes with the world."""
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
    """The addresses of a world. Below `/w/{world}` each surface of the graph has the same path as at the root."""
    scheme, host, path, _, _ = urlsplit(address)
    return f"{scheme}://{host}/w/{world}{path.rstrip('/')}"
