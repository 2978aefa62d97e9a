"""Schemathesis over the graph: what breaks a schema must be refused, unless it is the same as what fits it (D-34)."""

import json
import re

import document_hooks  # noqa: F401 - registers its hooks
import jsonschema_rs
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks
from schemathesis.specs.openapi.coverage import _schema as coverage
from schemathesis.transport.serialization import Binary

judges_of = coverage._judges


def without_files(value):
    if isinstance(value, Binary):
        return ""
    return {key: without_files(one) for key, one in value.items()} if isinstance(value, dict) else value


class JudgeOfForms:
    """Its own judge of a form ends the run where the form holds a file and conditions about it. What is in a file no schema says."""

    def __init__(self, judge):
        self.judge = judge

    def is_valid(self, value):
        return self.judge.is_valid(without_files(value))


coverage._judges = lambda schema, context: [JudgeOfForms(judge) for judge in judges_of(schema, context)]

INTEGER = re.compile(r"^-?\d{1,17}$")
DECIMAL = re.compile(r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
FLAGS = {"true": True, "1": True, "false": False, "0": False}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def fits(value, schema, document):
    whole = {**schema, "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(whole).is_valid(value)


def parsed(text, start):
    try:
        return json.loads(text) if text.lstrip().startswith(start) else text
    except ValueError:
        return text


def parts(value):
    """Of a list of plain values: a text may hold several."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]


def as_text(value):
    return json.dumps(value) if is_number(value) else value


def read(value, schema, document):
    """The value in the form that the schema asks for, where a text, a number or null stands for one."""
    if "$ref" in schema:
        return read(value, document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], document)
    readings = [read(value, one, document) for one in schema.get("anyOf", []) if "type" in one or "$ref" in one or "enum" in one]
    for reading in readings:
        if fits(reading, {"anyOf": schema["anyOf"]}, document):
            return reading
    kind = schema.get("type")
    if kind == "string":
        return as_text(value)
    if kind == "integer" and isinstance(value, str) and INTEGER.match(value):
        return int(value)
    if kind == "number" and isinstance(value, str) and DECIMAL.match(value):
        return float(value)
    if kind == "boolean":
        return FLAGS.get(str(as_text(value)).lower(), value)
    if kind == "array":
        items = schema.get("items", {})
        is_plain = items.get("type") != "object"
        given = parsed(value, "[") if isinstance(value, str) else value
        if isinstance(given, str) and is_plain:
            given = [] if given == "" else [given]
        if isinstance(given, list) and is_plain:
            given = [part for one in given for part in parts(one)]
        return [read(one, items, document) for one in given] if isinstance(given, list) else given
    if kind == "object":
        given = parsed(value, "{") if isinstance(value, str) else value
        if not isinstance(given, dict):
            return given
        properties = schema.get("properties", {})
        return {key: read(one, properties.get(key, {}), document) for key, one in given.items() if one is not None}
    return value


def is_the_same(case):
    """Whether all that breaks the schema is how a body writes what fits it."""
    if any(case.meta.is_negative_at(location) for location in ParameterLocation if location != ParameterLocation.BODY):
        return False
    document = case.operation.schema.raw_schema
    content = case.operation.definition.raw["requestBody"]["content"]
    schema = content.get(case.media_type, content["application/json"])["schema"]
    # A form that holds no parameters is a request without any.
    is_empty = case.media_type != "application/json" and not isinstance(case.body, dict)
    body = {} if is_empty else without_files(case.body)
    return isinstance(body, dict) and fits(read(body, schema, document), schema, document)


@schemathesis.check
def rejection_beyond_d34(ctx, response, case):
    """Of what is posted: the check of that name is off there."""
    # 413 is a refusal, which the check does not count as one: a list of too many items is a body of too many bytes.
    if case.method.lower() != "post" or case.meta is None or response.status_code == 413:
        return None
    if case.meta.is_negative_at(ParameterLocation.BODY) and is_the_same(case):
        return None
    return checks.negative_data_rejection(ctx, response, case)
