/** Checks requests and responses of the control API by the API's own OpenAPI document. */
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import type { Registry } from "#graph/contract/registry";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { pointer } from "./documented-exchanges.ts";

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly requestBody?: { readonly content: Json };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface ControlExchange {
  readonly method: string;
  readonly url: string;
  /** The JSON body that was sent; undefined if the body is not JSON or there is no body. */
  readonly sent: unknown;
  readonly status: number;
  readonly received: unknown;
}

export class ControlDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly #ajv = new Ajv2020({ strict: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(registry: Registry) {
    const document: Json = JSON.parse(JSON.stringify(openapiOf(controlRoutes(registry), sectionsOf(registry), "http://127.0.0.1:4001")));
    this.paths = document.paths as ControlDocument["paths"];
    this.#ajv
      .addFormat("binary", true)
      .addFormat("uri", URL.canParse)
      .addFormat("date", /^\d{4}-\d{2}-\d{2}$/);
    this.#ajv.addSchema(document, "sent");
    this.#ajv.addSchema(closed(document) as Json, "received");
  }

  /** The difference between an exchange and the OpenAPI document; undefined if they agree. */
  problemOf({ method, url, sent, status, received }: ControlExchange): string | undefined {
    const { pathname } = new URL(url, "http://127.0.0.1:4001");
    // The control API also serves its own document and pages for monitoring, which the document does not describe.
    if (!pathname.startsWith("/v1/") || pathname === "/v1/openapi.json") return undefined;
    const known = this.#find(pathname);
    const name = method.toLowerCase();
    const operation = known === undefined ? undefined : this.paths[known]?.[name];
    if (known === undefined || operation === undefined)
      return this.#problem("received", pointer("components", "schemas", "Error"), received) ?? undescribed(known, status);
    const response = operation.responses[status] as { readonly $ref?: string } | undefined;
    if (response === undefined) return `the document does not have the status ${status}`;
    const place = response.$ref?.slice(1) ?? pointer("paths", known, name, "responses", String(status));
    const problem = this.#problem("received", `${place}/content/application~1json/schema`, received);
    if (problem !== undefined || status >= 400 || sent === undefined || operation.requestBody?.content["application/json"] === undefined)
      return problem;
    const body = `${pointer("paths", known, name, "requestBody")}/content/application~1json/schema`;
    const refusal = this.#problem("sent", body, sent);
    return refusal === undefined ? undefined : `takes a body that the document does not allow: ${refusal}`;
  }

  /** The path of the document that fits the URL; if several fit, the path with the most fixed segments. */
  #find(path: string): string | undefined {
    const given = path.split("/");
    const isAt = (known: readonly string[]) =>
      known.length === given.length && known.every((segment, at) => segment.startsWith("{") || segment === given[at]);
    const names = (known: string): number => known.split("{").length;
    return Object.keys(this.paths)
      .filter((known) => isAt(known.split("/")))
      .sort((one, other) => names(one) - names(other))[0];
  }

  #problem(document: "sent" | "received", place: string, value: unknown): string | undefined {
    const reference = `${document}#${place}`;
    const validate = this.#validators.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#validators.set(reference, validate);
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }
}

const undescribed = (known: string | undefined, status: number): string | undefined =>
  [401, 403, 404, ...(known === undefined ? [] : [405])].includes(status)
    ? undefined
    : `the status ${status} comes from an address that is not in the document`;

/** The schema of a response without further keys: an undocumented key of a response is a mistake of the document, even if readers ignore the key. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isOpen = inner.type === "object" && inner.properties !== undefined && inner.additionalProperties === undefined;
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
