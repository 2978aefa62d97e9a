/** Checks a response against the `expect` block of a step. */

import type { Response } from "../http/response.ts";
import { checkFlatError, checkWrappedError, type ErrorExpectation } from "./error-forms.ts";
import { matches, type Problem, problem } from "./matchers.ts";
import { valueAt } from "./paths.ts";

export interface Expectation {
  readonly status?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The expected value or operators of each value, by its JSON path. */
  readonly json?: Readonly<Record<string, unknown>>;
  /**
   * The exact keys of objects, by the JSON path of each object. If `keys` is a list instead of an object, the list has the keys
   * of the response's body.
   */
  readonly keys?: Readonly<Record<string, unknown>> | readonly string[];
  /** The expected value or operators of the raw body. */
  readonly text?: unknown;
  readonly flat_error?: ErrorExpectation;
  readonly wrapped_error?: ErrorExpectation;
  /** An error in either of the two forms, if the interface document does not say which form the server must use. */
  readonly any_error?: ErrorExpectation;
  readonly same_response_as?: SameResponse;
  readonly items?: unknown;
  readonly pages?: unknown;
}

interface SameResponse {
  readonly response: string;
  /**
   * Texts that may differ from the earlier response, such as the id of the request: each text of the earlier response with the
   * text that this response must have instead.
   */
  readonly replacing?: Readonly<Record<string, string>>;
}

export interface CheckSurroundings {
  readonly profile: string;
  /** The responses that earlier steps have stored with `response_as`. */
  readonly kept: ReadonlyMap<string, Response>;
}

export function checkResponse(response: Response, expected: Expectation, around: CheckSurroundings): Problem[] {
  const problems: Problem[] = [];
  if (expected.status !== undefined) problems.push(...matches(response.status, expected.status, "status"));
  for (const [name, matcher] of Object.entries(expected.headers ?? {})) {
    problems.push(...matches(response.headers.get(name.toLowerCase()), matcher, `header ${name}`));
  }
  for (const [path, matcher] of Object.entries(expected.json ?? {})) {
    if (response.json === undefined) return [...problems, problem("the body", "JSON", response.text)];
    problems.push(...matches(valueAt(response.json, path), matcher, path === "" ? "$" : path));
  }
  problems.push(...checkKeys(response.json, expected.keys ?? {}));
  if (expected.text !== undefined) problems.push(...matches(response.text, expected.text, "the body"));
  if (expected.flat_error !== undefined) problems.push(...checkFlatError(response, expected.flat_error, around.profile));
  if (expected.wrapped_error !== undefined) problems.push(...checkWrappedError(response, expected.wrapped_error));
  if (expected.any_error !== undefined) {
    const isWrapped = valueAt(response.json, "code") === undefined;
    problems.push(...(isWrapped ? checkWrappedError(response, expected.any_error) : checkFlatError(response, expected.any_error, around.profile)));
  }
  if (expected.same_response_as !== undefined) problems.push(...checkSameResponse(response, expected.same_response_as, around.kept));
  if (expected.items !== undefined) problems.push(...matches(response.items, expected.items, "items of all pages"));
  if (expected.pages !== undefined) problems.push(...matches(response.pages, expected.pages, "number of pages"));
  return problems;
}

function checkKeys(json: unknown, keys: NonNullable<Expectation["keys"]>): Problem[] {
  const byPath = Array.isArray(keys) ? { "": keys } : (keys as Readonly<Record<string, unknown>>);
  return Object.entries(byPath).flatMap(([path, names]) => {
    const value = valueAt(json, path);
    const matcher = path.includes("*") ? { each: { keys: names } } : { keys: names };
    return matches(value, matcher, path === "" ? "$" : path);
  });
}

/** Headers that differ between any two responses: the time, the trace id, and the usage, which grows with each request. */
const CHANGING_HEADERS = new Set(["date", "x-pf-trace-id", "x-app-usage", "x-business-use-case-usage", "content-length"]);

function checkSameResponse(response: Response, same: SameResponse, kept: ReadonlyMap<string, Response>): Problem[] {
  const earlier = kept.get(same.response);
  if (earlier === undefined) throw new Error(`no earlier step stores its response as ${same.response}`);
  const headersOf = (of: Response) => Object.fromEntries([...of.headers].filter(([name]) => !CHANGING_HEADERS.has(name)).sort());
  return [
    ...matches(response.status, earlier.status, "status, as before"),
    ...matches(headersOf(response), { equals: headersOf(earlier) }, "headers, as before"),
    ...matches(
      withoutTrace(response),
      substitute(withoutTrace(earlier), same.replacing ?? {}),
      "the same body as before, byte for byte except the trace id",
    ),
  ];
}

function withoutTrace(response: Response): string {
  const trace = valueAt(response.json, "pftrace_id") ?? valueAt(response.json, "error.pftrace_id");
  return typeof trace === "string" ? response.text.replaceAll(trace, "TRACE") : response.text;
}

const substitute = (text: string, replacing: Readonly<Record<string, string>>): string =>
  Object.entries(replacing).reduce((result, [from, to]) => result.replaceAll(from, String(to)), text);
