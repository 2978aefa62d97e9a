/** Checks the two forms of error objects of the interface (Resources: Error object, flat form and wrapped form; D-14, D-20, D-21). */

import type { Response } from "../http/response.ts";
import { matches, type Problem, problem } from "./matchers.ts";
import { valueAt } from "./paths.ts";

type FieldType = "string" | "integer" | "boolean" | "object";

interface Form {
  readonly required: Readonly<Record<string, FieldType>>;
  readonly optional: Readonly<Record<string, FieldType>>;
}

// The flat form of errors (Spec: Error object, flat form). D-20: every error has a `pftrace_id`.
const flat: Form = {
  required: { message: "string", code: "integer", pftrace_id: "string" },
  optional: {
    type: "string",
    error_subcode: "integer",
    is_transient: "boolean",
    error_data: "object",
    error_user_msg: "string",
    error_user_title: "string",
  },
};

// The wrapped form of errors (Spec: Error object, wrapped form). D-21: `error_data` has the name of a wrong parameter, although the interface
// document does not list this field.
const wrapped: Form = {
  required: { message: "string", type: "string", code: "integer", pftrace_id: "string" },
  optional: { error_subcode: "integer", is_transient: "boolean", error_data: "object", error_user_msg: "string", error_user_title: "string" },
};

/**
 * The error that a case expects. A case may leave out each of these keys, but the suite always checks that the response has the complete form
 * of an error.
 */
export interface ErrorExpectation {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly subcode?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  readonly parameter?: unknown;
  readonly transient?: unknown;
}

const places: Readonly<Record<keyof ErrorExpectation, string>> = {
  status: "",
  code: "code",
  subcode: "error_subcode",
  type: "type",
  message: "message",
  parameter: "error_data.parameter",
  transient: "is_transient",
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export function checkFlatError(response: Response, expected: ErrorExpectation, profile: string): Problem[] {
  if (!isObject(response.json) || (response.json.code === undefined && response.json.message === undefined))
    return [...checkStatus(response, expected), problem("the body", "a flat error object", response.json ?? response.text)];
  const { error, ...rest } = response.json;
  // D-20 [clients]: the error has the flat fields, and `error` with the same object.
  const twin = profile === "clients" ? matches(error, { equals: rest }, "error") : matches(error, { absent: true }, "error");
  return [...checkStatus(response, expected), ...twin, ...checkFields(rest, flat, expected, response, "")];
}

export function checkWrappedError(response: Response, expected: ErrorExpectation): Problem[] {
  const error = valueAt(response.json, "error");
  if (!isObject(error)) return [...checkStatus(response, expected), problem("error", "an error object", response.json ?? response.text)];
  return [
    ...checkStatus(response, expected),
    ...matches(response.json, { keys: ["error"] }, "the body"),
    ...checkFields(error, wrapped, expected, response, "error."),
  ];
}

function checkStatus(response: Response, expected: ErrorExpectation): Problem[] {
  const ownStatus = matches(response.status, expected.status ?? { min: 400 }, "status");
  // D-14: every response with status 401 has the header WWW-Authenticate.
  const challenge =
    response.status === 401 ? matches(response.headers.get("www-authenticate"), { matches: "^[A-Za-z]+ " }, "header www-authenticate") : [];
  return [...ownStatus, ...challenge];
}

function checkFields(error: Record<string, unknown>, form: Form, expected: ErrorExpectation, response: Response, prefix: string): Problem[] {
  const problems: Problem[] = [];
  for (const [name, type] of Object.entries(form.required)) problems.push(...matches(error[name], { type }, prefix + name));
  for (const [name, type] of Object.entries(form.optional)) {
    if (error[name] !== undefined) problems.push(...matches(error[name], { type }, prefix + name));
  }
  for (const name of Object.keys(error)) {
    if (!(name in form.required) && !(name in form.optional))
      problems.push(problem(prefix + name, "an error does not have such a field", error[name]));
  }
  // D-20: `pftrace_id` has the value of the header `x-pf-trace-id`.
  problems.push(...matches(response.headers.get("x-pf-trace-id"), { equals: error.pftrace_id }, "header x-pf-trace-id"));
  for (const [name, matcher] of Object.entries(expected)) {
    const place = places[name as keyof ErrorExpectation];
    if (place === undefined) throw new Error(`an error cannot be expected by ${name}: the keys are ${Object.keys(places).join(", ")}`);
    if (name === "status") continue;
    // The message of the error must contain the text in the case, unless the case uses operators.
    const wanted = name === "message" && typeof matcher === "string" ? { contains: matcher } : matcher === "none" ? { absent: true } : matcher;
    problems.push(...matches(valueAt(error, place), wanted, prefix + place));
  }
  return problems;
}
