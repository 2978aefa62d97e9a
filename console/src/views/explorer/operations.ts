/** The operations of the graph, and requests that are made from a filled-in form. */

import { api, dataOf } from "../../api/client.ts";
import { type Addresses, addressOf, type Sendable } from "../../api/graph/request-anew.ts";
import { losesDigits, parseExact } from "../../parts/json.ts";

type Operations = Awaited<ReturnType<typeof readOperations>>;
const readOperations = (w: string) => dataOf(api.GET("/v1/worlds/{w}/operations", { params: { path: { w } } }));
export type Operation = Operations["data"][number];
export type Parameter = Operation["parameters"][number];

export interface Filled {
  readonly id: string;
  /** The version in the address; empty for an address without a version. */
  readonly version: string;
  /** The texts that a person typed, by the name of the parameter. */
  readonly values: Readonly<Record<string, string>>;
}

/** The parameters that all lists have, and the parameters that all operations with a selection of fields have. */
export const generalParameters = ({ takes_fields, is_list }: Operation): Parameter[] => [
  ...(takes_fields ? [general("fields", "string")] : []),
  ...(is_list ? [general("limit", "integer"), general("after", "string")] : []),
];

const general = (name: string, type: string): Parameter => ({ name, in: "query", required: false, schema: { type } });

export interface Shape {
  readonly kind: "text" | "number" | "boolean" | "choice" | "list" | "json";
  readonly choices: readonly string[];
}

/** The kind of field in which a person types a value of this schema. */
export function shapeOf(schema: Readonly<Record<string, unknown>>): Shape {
  const alternatives = Array.isArray(schema.anyOf) ? (schema.anyOf as Record<string, unknown>[]) : [];
  const constants = alternatives.flatMap((one) => ("const" in one ? [String(one.const)] : []));
  const choices = Array.isArray(schema.enum) ? schema.enum.map(String) : constants.length === alternatives.length ? constants : [];
  if (choices.length > 0) return { kind: "choice", choices };
  if (alternatives[0] !== undefined) return shapeOf(alternatives[0]);
  const items = (schema.items ?? {}) as { readonly type?: string };
  if (schema.type === "array") return { kind: items.type === "object" || items.type === "array" ? "json" : "list", choices };
  if (schema.type === "object") return { kind: "json", choices };
  if (schema.type === "boolean") return { kind: "boolean", choices };
  return { kind: schema.type === "integer" || schema.type === "number" ? "number" : "text", choices };
}

/** Converts a typed text to the value of a parameter. Throws if the text is not a value of the parameter's type. */
function typedValue({ name, schema }: Parameter, text: string): unknown {
  switch (shapeOf(schema).kind) {
    case "json":
      try {
        return parseExact(text);
      } catch (error) {
        throw error instanceof SyntaxError ? new Error(`${name} is not valid JSON`) : error;
      }
    case "list":
      return text.split(",").map((one) => one.trim());
    case "boolean":
      return text === "true";
    case "number":
      // The server also accepts a number as text, and keeps all digits of the number.
      return Number.isNaN(Number(text)) || losesDigits(text) ? text : Number(text);
    default:
      return text;
  }
}

/** Makes a request from a filled-in form. Uses `token` wherever the operation requires a token. */
export function requestOf(operation: Operation, { id, version, values }: Filled, server: Addresses, token: string): Sendable {
  const { method, surface, path, token_places, all_places, parameters } = operation;
  const places = all_places ? token_places : [token_places.includes("bearer") ? "bearer" : (token_places[0] ?? "bearer")];
  const query = new URLSearchParams();
  const body: Record<string, unknown> = {};
  for (const parameter of [...parameters, ...generalParameters(operation)]) {
    const text = values[parameter.name];
    if (text === undefined || text === "") continue;
    const value = typedValue(parameter, text);
    if (parameter.in === "body") body[parameter.name] = value;
    else query.set(parameter.name, typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  for (const place of places) if (place.endsWith("_token")) query.set(place, token);
  const filled = path.replace("{id}", encodeURIComponent(id)).replace("/{version}", version === "" ? "" : `/${version}`);
  const hasBody = method === "POST" && Object.keys(body).length > 0;
  return {
    method,
    url: `${addressOf(server, surface)}${filled}${query.size === 0 ? "" : `?${query}`}`,
    headers: {
      ...(places.includes("bearer") ? { authorization: `Bearer ${token}` } : {}),
      ...(hasBody ? { "content-type": "application/json" } : {}),
    },
    body: hasBody ? JSON.stringify(body) : undefined,
  };
}
