"""Schemathesis over any document: requests name nodes that exist, and each scenario begins with the same world."""

import json
import os
import re
from urllib.parse import quote

import requests
import schemathesis
from hypothesis.control import current_build_context

KNOWN = json.loads(os.environ["KNOWN"])
CONTROL_URL = os.environ["CONTROL_URL"]
CONTROL = requests.Session()
CONTROL.headers["authorization"] = f"Bearer {os.environ['CONTROL_KEY']}"

scenario = None


@schemathesis.hook
def map_case(context, case):
    """The coverage phase has no dictionaries. A case that breaks the path itself stays as it is."""
    phase = case.meta.phase
    if phase.name != "coverage" or phase.data.parameter_location == "path":
        return case
    for known in KNOWN:
        place, name = known["parameter"].split(".", 1)
        if place == "path" and name in case.path_parameters and re.search(known.get("addresses", ""), case.operation.path):
            case.path_parameters[name] = known["value"]
    return case


def reset():
    for world in CONTROL.get(f"{CONTROL_URL}/v1/worlds").json()["data"]:
        if world["name"] != "default":
            CONTROL.delete(f"{CONTROL_URL}/v1/worlds/{quote(world['name'], safe='')}").raise_for_status()
    # Not from a snapshot, which a request may delete.
    CONTROL.post(f"{CONTROL_URL}/v1/worlds/default/reset").raise_for_status()


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Hypothesis ends a run of scenarios, without a word, when requests that it repeats get another response than before."""
    global scenario
    if case.meta is None or case.meta.phase.name != "stateful":
        return
    current = current_build_context()
    if current is not scenario:
        scenario = current
        reset()


@schemathesis.hook
def after_call(context, case, response):
    """What one request deletes is there for the next, which is about something else. A scenario goes on with what it did."""
    if case.operation.method == "delete" and response.status_code == 200 and case.meta is not None and case.meta.phase.name != "stateful":
        reset()
