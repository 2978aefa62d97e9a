/** Checks responses of a server by the schemas of its own OpenAPI document. */

import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import { jsonOf } from "#conformance/http/response";
import type { WireRequest, WireResponse } from "#conformance/http/wire";
import type { OpenapiDocument, Operation } from "./documents.ts";

export interface LiveResponse {
  readonly method: string;
  /** The URL of the API of the graph. `path` is the path and query of the request, relative to this URL. */
  readonly address: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

interface KnownPath {
  readonly servers: readonly string[];
  readonly pattern: RegExp;
  readonly path: string;
  readonly literals: number;
  readonly operations: Readonly<Record<string, Operation>>;
}

export class DocumentedResponses {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #paths: readonly KnownPath[];
  readonly #validators = new Map<string, ValidateFunction>();
  /** The names of the operations that returned status 200. */
  readonly succeeded = new Set<string>();
  count = 0;

  constructor(document: OpenapiDocument) {
    this.#ajv.addSchema(document, "document");
    this.#paths = Object.entries(document.paths)
      .map(([path, operations]) => ({
        path,
        operations,
        servers: [...new Set(Object.values(operations).flatMap(({ servers = document.servers }) => servers.map(({ url }) => url)))],
        pattern: new RegExp(`^${path.replace("{version}", "v[0-9.]+").replace("{id}", "([1-9][0-9]*|me)")}$`),
        literals: path.split("/").filter((segment) => !segment.startsWith("{")).length,
      }))
      .sort((one, other) => other.literals - one.literals);
  }

  /** The difference between a response and the document; undefined if they agree, or if no document describes the request. */
  problemOf(response: LiveResponse): string | undefined {
    const known = this.#find(response);
    const operation = known?.operations[response.method.toLowerCase()];
    if (known === undefined || operation === undefined) return this.#undescribed(response);
    this.count++;
    const described = operation.responses[String(response.status)];
    if (described === undefined) return `the document does not have the status ${response.status}`;
    if (response.status === 200) this.succeeded.add(operation.operationId);
    if (described.content === undefined) return response.body === undefined ? undefined : "the document describes no body for this response";
    return this.#check(pointer("paths", known.path, response.method.toLowerCase(), "responses", String(response.status)), response.body);
  }

  /** For an unknown address or method, the documents only promise that an error has one of the two forms. */
  #undescribed({ status, body }: LiveResponse): string | undefined {
    if (status < 400 || body === undefined) return undefined;
    const problems = ["WrappedError", "FlatError"].map((name) => this.#compiled(pointer("components", "schemas", name))(body));
    return problems.includes(true) ? undefined : "the error has neither of the two forms";
  }

  /** The path of the documents that fits the URL of the request. A path without a version gets the default version. */
  #find({ address, path }: LiveResponse): KnownPath | undefined {
    const plain = path.split("?")[0] as string;
    const isThere = (candidate: string) => this.#paths.find(({ servers, pattern }) => servers.includes(address) && pattern.test(candidate));
    return isThere(plain) ?? isThere(`/v26.0${plain}`);
  }

  #check(place: string, body: unknown): string | undefined {
    const validate = this.#compiled(`${place}/content/application~1json/schema`);
    return validate(body) ? undefined : this.#ajv.errorsText(validate.errors);
  }

  #compiled(place: string): ValidateFunction {
    const known = this.#validators.get(place) ?? this.#ajv.compile({ $ref: `document#${place}` });
    this.#validators.set(place, known);
    return known;
  }
}

export const pointer = (...steps: string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

/** Checks the requests and responses that the conformance cases exchange with their server. */
export class DocumentedExchanges {
  readonly #addresses: Readonly<Record<string, string>>;
  readonly #documented: DocumentedResponses;
  readonly #problems: string[] = [];

  private constructor(addresses: Readonly<Record<string, string>>, document: OpenapiDocument) {
    this.#addresses = addresses;
    this.#documented = new DocumentedResponses(document);
  }

  static async of(addresses: Readonly<Record<string, string>>): Promise<DocumentedExchanges> {
    const response = await fetch(`${addresses.base}/openapi.json`);
    return new DocumentedExchanges(addresses, (await response.json()) as OpenapiDocument);
  }

  get succeeded(): ReadonlySet<string> {
    return this.#documented.succeeded;
  }

  readonly observe = (request: WireRequest, response: WireResponse): void => {
    const problem = this.#problemOf(request, response);
    if (problem !== undefined)
      this.#problems.push(`${request.method} ${request.target}: ${response.status} ${problem}\n${response.text.slice(0, 1000)}`);
  };

  /** The problems that were found since the previous call. */
  takeProblems(): string[] {
    return this.#problems.splice(0);
  }

  #problemOf(request: WireRequest, { status, headers, text }: WireResponse): string | undefined {
    // An injected fault makes the server respond like a proxy, which no document describes.
    if (headers.get("content-type")?.startsWith("text/html") === true) return undefined;
    const surface = surfaceOf(this.#addresses, request.origin + request.target);
    const isDescribed = !/[?&](method|ids)=/.test(request.target);
    if (surface === undefined || !isDescribed || !["GET", "POST", "DELETE"].includes(request.method)) return undefined;
    // A form or a JSON body may name another method for the request, or may be a batch.
    if (request.body !== undefined && /\b(method|batch)\b/.test(Buffer.from(request.body).toString())) return undefined;
    return this.#documented.problemOf({ ...surface, method: request.method, status, body: ownKeys(jsonOf(text)) });
  }
}

/** The response body without additions such as `debug`, which the document does not describe. */
function ownKeys(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const { __debug__: _, metadata: __, ...own } = body as Record<string, unknown>;
  return own;
}

const SURFACES = ["app", "microblog", "ads", "social_login", "base"];

/** The API of the graph to which a URL belongs. The base API has its URL at the root, so all paths that do not belong to another API belong to it. */
function surfaceOf(addresses: Readonly<Record<string, string>>, url: string): { address: string; path: string } | undefined {
  for (const name of ["control", ...SURFACES]) {
    const address = (addresses[name] ?? "").replace(/\/$/, "");
    if (address === "" || !(url === address || url.startsWith(`${address}/`) || url.startsWith(`${address}?`))) continue;
    return name === "control" ? undefined : { address, path: url.slice(address.length) };
  }
  return undefined;
}
