"""Sends requests to the control API, and words its refusals for the person who reads a failed test."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# A server on this machine is reached directly, whatever proxy the environment names.
_opener = build_opener(ProxyHandler({}))

# A message lists at most this number of entries, because more would not fit on a screen.
_SEEN_MAX = 10
_VALUE_CHARACTERS_MAX = 500


class ControlRefusal(Exception):
    """The control API refused a request. The message gives the reason, and names the parameter."""

    def __init__(self, message: str, status: int, code: str, parameter: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.parameter = parameter


class UnmetExpectation(AssertionError):
    """An expectation was not met. The message has the nearest entry with its differences, and the other entries that were seen."""

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(_report(response))
        self.seen: list[dict[str, Any]] = response["data"]
        self.nearest: dict[str, Any] | None = response.get("nearest")


class Connection:
    """`url` is the address of the control API, without `/v1`."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request to `path`, which is below `/v1`. A text body is sent unchanged, any other body as JSON."""
        text = body if isinstance(body, str) else None if body is None else json.dumps(body)
        request = Request(
            f"{self._url}/v1/{path}",
            method=method,
            data=None if text is None else text.encode(),
            headers={"authorization": f"Bearer {self._key}", "content-type": "application/json"},
        )
        try:
            with _opener.open(request) as response:
                return json.load(response)
        except HTTPError as error:
            with error:
                raise _refusal(method, path, error.code, error.read()) from None


def _refusal(method: str, path: str, status: int, body: bytes) -> Exception:
    try:
        response = json.loads(body)
        error = response["error"]
    except (ValueError, KeyError, TypeError):
        return ControlRefusal(f"{method} {path}: the control API returned {status}: {body!r}", status, "unknown", None)
    if status == 422 and path.endswith("/expect"):
        return UnmetExpectation(response)
    return ControlRefusal(f"{method} {path}: {error['message']}", status, error["code"], error.get("parameter"))


def _report(response: dict[str, Any]) -> str:
    lines = [response["error"]["message"].split("; the nearest differs in ")[0]]
    nearest = response.get("nearest")
    if nearest is not None:
        lines += ["", f"nearest: {_line(nearest.get('request') or nearest.get('webhook') or nearest['event'])}"]
        for difference in nearest["differences"]:
            actual = _value(difference["actual"]) if "actual" in difference else "nothing"
            lines += [f"  {difference['at']}", f"    expected  {_value(difference['expected'])}", f"    actual    {actual}"]
    seen = response["data"]
    lines += ["", "the server saw, newest first:" if seen else "the server saw no request, webhook or event of this kind"]
    lines += [f"  {_line(entry)}" for entry in seen[:_SEEN_MAX]]
    if len(seen) > _SEEN_MAX:
        lines.append(f"  and {len(seen) - _SEEN_MAX} more")
    return "\n".join(lines)


def _line(entry: dict[str, Any]) -> str:
    if "verdict" in entry:
        reason = f" ({entry['reason']})" if "reason" in entry else ""
        return f"{entry.get('event_name', entry['event'])}: {entry['verdict']}{reason}"
    if "operation" in entry:
        return f"{entry['operation']}: {entry['method']} {entry['path']} → {entry['status']}"
    last = entry["attempts"][-1] if entry["attempts"] else {}
    returned = f"the receiver returned {last['status']}" if "status" in last else None
    because = [text for text in (entry.get("reason"), last.get("error") or returned) if text]
    line = f"{entry['field']} of {entry['object']} {entry['entity']} to app {entry['app']}: {entry['status']}"
    return line + (f" ({', '.join(because)})" if because else "")


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[:_VALUE_CHARACTERS_MAX]}…"
