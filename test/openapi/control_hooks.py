"""Schemathesis over the control API: no request waits long, none locks the run out, a cursor is one that the API gave, an id is one (D-02), and a day exists."""

import calendar
import re

import document_hooks  # noqa: F401 - registers its hooks
import schemathesis

WAIT_MS_MAX = 50
OVERLAP_SECONDS = 86_400


ID_MAX = 2**63 - 1


DAY_OF_NO_YEAR = re.compile(r"^(\d{4})-02-29")


def possible(value):
    """D-278: patterns that anybody could read allow 19 digits that no id has, and the 29th of February of any year."""
    if isinstance(value, dict):
        return {key: possible(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [possible(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if len(value) == 19 and value.isascii() and value.isdigit() and int(value) > ID_MAX:
        return str(ID_MAX)
    day = DAY_OF_NO_YEAR.match(value)
    return value if day is None or calendar.isleap(int(day[1])) else f"{day[1]}-02-28{value[10:]}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@schemathesis.hook
def before_call(context, case, **kwargs):
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    # Only what changes is set: Schemathesis looks once more at a body that was, and calls bytes of a form and null invalid.
    if is_positive and possible(case.body) != case.body:
        case.body = possible(case.body)
    if is_positive and case.query and possible(dict(case.query)) != dict(case.query):
        case.query.update(possible(dict(case.query)))
    body = case.body if isinstance(case.body, dict) else {}
    # A link takes what was sent as a path has it, where 2 is not 2.0.
    if isinstance(body.get("id"), float) and body["id"].is_integer():
        body["id"] = int(body["id"])
    # An expectation that nothing comes waits for the whole of its time.
    if is_number(body.get("within_ms")) and WAIT_MS_MAX < body["within_ms"] <= 60_000:
        body["within_ms"] = WAIT_MS_MAX
    # The run goes on with the key that it has replaced.
    if "rotateControlKey" in str(case.operation.definition.raw.get("operationId")) and is_number(body.get("overlap_seconds")):
        if 0 <= body["overlap_seconds"] < OVERLAP_SECONDS:
            body["overlap_seconds"] = OVERLAP_SECONDS
    if is_positive and case.query and "after" in case.query:
        del case.query["after"]
