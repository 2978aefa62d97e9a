/** Runs one case on one server: the steps in their order, up to the first step that fails. */

import type { Case } from "./cases.ts";
import { checkResponse, type Expectation } from "./checks/expectations.ts";
import { type Problem, problem } from "./checks/matchers.ts";
import { valueAt } from "./checks/paths.ts";
import type { Receiver } from "./http/receiver.ts";
import { curlLine, exchange, type RequestStep } from "./http/requests.ts";
import { jsonOf, type Response } from "./http/response.ts";
import type { WireRequest, WireResponse } from "./http/wire.ts";
import { fill, type Names, uniqueWord } from "./names.ts";
import type { ExchangeStep, ReceiveStep, Step } from "./step-format.ts";

export interface Target {
  /** The addresses of the surfaces: base, app, microblog, ads and social_login, and also control and world if the suite can use the control API. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly controlKey?: string;
  /** Makes the ids for `{{fresh_id}}`. With the same ids, a case sends the same requests to two servers, so that their responses can be compared. */
  readonly freshId?: () => string;
  /** Called with every request and its response, including those of the control API. */
  readonly observe?: (request: WireRequest, response: WireResponse) => void;
}

export interface CaseFailure {
  readonly step: number;
  /** The request of the failed step as a command for a shell. */
  readonly sent: string;
  readonly problems: readonly Problem[];
  readonly response: string;
}

/** The greatest number of pages that a case reads. If a list has more pages, it probably never ends, and the case fails. */
const PAGES_MAX = 500;

/** Runs a case. Returns the failure, or undefined if the case passed. */
export async function runCase(testCase: Case, target: Target, receiver: Receiver): Promise<CaseFailure | undefined> {
  let session: Session;
  try {
    session = new Session(testCase, target, receiver);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    return { step: 0, sent: "", response: "", problems: [{ where: "the case's variables", expected: "to have its variables replaced", got }] };
  }
  for (const [index, step] of testCase.steps.entries()) {
    const failure = await session.take(step, index + 1);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

class Session {
  readonly #names: Names;
  readonly #kept = new Map<string, Response>();
  #sent = "";
  #response: Response | undefined;

  constructor(
    readonly testCase: Case,
    readonly target: Target,
    readonly receiver: Receiver,
  ) {
    this.#names = new Map<string, unknown>([
      ["unique", uniqueWord(target.freshId?.())],
      ...(target.freshId === undefined ? [] : [["fresh_id", target.freshId] as [string, unknown]]),
      ["receiver", receiver.address],
      ...Object.entries(target.addresses).map(([name, address]): [string, unknown] => [`${name}_url`, address.replace(/\/$/, "")]),
    ]);
    for (const [name, value] of Object.entries(testCase.vars)) this.#names.set(name, fill(value, this.#names));
  }

  async take(step: Step, number: number): Promise<CaseFailure | undefined> {
    this.#sent = "";
    this.#response = undefined;
    let problems: Problem[];
    try {
      problems = await this.#perform(step);
    } catch (error) {
      problems = [{ where: "the step", expected: "to be run", got: error instanceof Error ? error.message : String(error) }];
    }
    if (problems.length === 0) return undefined;
    return { step: number, sent: this.#sent, problems, response: this.#response === undefined ? "" : describe(this.#response) };
  }

  async #perform(step: Step): Promise<Problem[]> {
    switch (step.kind) {
      case "set":
        for (const [name, value] of Object.entries(step.variables)) this.#names.set(name, fill(value, this.#names));
        return [];
      case "wait":
        await new Promise((resolve) => setTimeout(resolve, step.wait_ms));
        return [];
      case "receive":
        return await this.#receive(step);
      case "request":
        return await this.#requests(step);
    }
  }

  async #requests(step: ExchangeStep): Promise<Problem[]> {
    const times = Number(step.repeat === undefined ? 1 : fill(step.repeat, this.#names));
    for (let n = 1; n <= times; n++) {
      if (step.repeat !== undefined) this.#names.set("n", String(n));
      const problems = await this.#request(step);
      if (problems.length > 0) return problems;
    }
    return [];
  }

  async #request(step: ExchangeStep): Promise<Problem[]> {
    const filled = addressed(fill({ ...step, expect: undefined, save: undefined }, this.#names) as ExchangeStep);
    const response = step.follow === undefined ? await this.#send(filled) : await this.#follow(filled);
    this.#response = response;
    if (step.isControl && step.expect === undefined && (response.status < 200 || response.status > 299)) {
      return [problem("the status of the control API", "200 to 299", response.status)];
    }
    if (step.minted_as !== undefined) {
      // operating.md: the server returns the value of a token only in the response that creates it.
      const value = valueAt(response.json, "token");
      if (typeof value !== "string") return [problem("token", "the minted value", response.json)];
      this.#names.set(step.minted_as, value);
      this.#names.set(`${step.minted_as}_id`, valueAt(response.json, "id"));
    }
    return this.#conclude(step, response);
  }

  async #receive(step: ReceiveStep): Promise<Problem[]> {
    const path = String(fill(step.path, this.#names));
    const count = Number(fill(step.count, this.#names));
    this.#sent = `# waiting for webhook ${count} at ${path}`;
    // A step with `count: 0` expects that no webhook arrives.
    const webhook = await this.receiver.webhook(path, Math.max(count, 1), step.within_ms);
    if (count === 0) return webhook === undefined ? [] : [problem(`webhooks at ${path}`, "none", webhook.text)];
    if (webhook === undefined) return [problem(`webhook ${count} at ${path}`, `to arrive within ${step.within_ms} ms`, undefined)];
    this.#response = webhook;
    return this.#conclude(step, webhook);
  }

  #conclude(step: Step, response: Response): Problem[] {
    if (step.response_as !== undefined) this.#kept.set(step.response_as, response);
    if (step.expect !== undefined) {
      const expected = fill(step.expect, this.#names) as Expectation;
      const problems = checkResponse(response, expected, { profile: this.testCase.profile, kept: this.#kept });
      if (problems.length > 0) return problems;
    }
    return Object.entries(step.save ?? {}).flatMap(([name, place]) => {
      const value = placeIn(response, String(fill(place, this.#names)));
      this.#names.set(String(fill(name, this.#names)), value);
      return value === undefined ? [problem(place, `a value to save as ${name}`, value)] : [];
    });
  }

  async #send(step: RequestStep): Promise<Response> {
    const isAdministrative = step.on === "control" || step.on === "world";
    const key: Record<string, string> =
      isAdministrative && this.target.controlKey !== undefined ? { Authorization: `Bearer ${this.target.controlKey}` } : {};
    const { request, response } = await exchange(step, this.target.addresses, key).catch((error: Error) => {
      this.#sent = `${step.method} ${step.target}`;
      throw error;
    });
    this.#sent = curlLine(request, this.target.controlKey);
    this.target.observe?.(request, response);
    return toResponse(response);
  }

  /** Reads all pages of a list, by the links (`next`, `previous`), or by cursors that this function puts into the query (`after`, `before`). */
  async #follow(step: ExchangeStep): Promise<Response> {
    let items: unknown[] = [];
    let response = await this.#send(step);
    for (let pages = 1; ; pages++) {
      const data = valueAt(response.json, "data");
      if (response.status !== 200 || !Array.isArray(data)) throw new Error(`page ${pages} must be a list, but is: ${describe(response)}`);
      const found = data.map((item) => valueAt(item, step.take ?? "id"));
      // If the pages are read backwards, each page is put in front of the pages that were read before, so that the items are in the order of the
      // list.
      items = step.follow === "previous" || step.follow === "before" ? [...found, ...items] : [...items, ...found];
      if (pages > PAGES_MAX) throw new Error(`the list does not end after ${PAGES_MAX} pages`);
      const isLink = step.follow === "next" || step.follow === "previous";
      const onward = valueAt(response.json, isLink ? `paging.${step.follow}` : `paging.cursors.${step.follow}`);
      if (typeof onward !== "string") return { ...response, items, pages };
      const { query, ...rest } = step;
      const following = isLink
        ? { ...rest, token: bearerOnly(step.token), target: onward }
        : { ...rest, query: { ...query, [step.follow ?? "after"]: onward } };
      response = await this.#send(following);
    }
  }
}

/**
 * Returns the header with the token. The link to a further page already has the tokens of the query (D-32), so the function returns only the header,
 * which every request must send.
 */
const bearerOnly = (token: unknown): unknown => {
  if (typeof token === "string") return token === "none" ? token : { bearer: token };
  return typeof token === "object" && token !== null && "bearer" in token ? { bearer: token.bearer } : "none";
};

/** Splits `send: METHOD /path` into method and path. */
function addressed(step: ExchangeStep): ExchangeStep {
  if (step.target !== "") return step;
  const space = step.method.indexOf(" ");
  if (space < 0) throw new Error(`"${step.method}" is not a method and a path`);
  return { ...step, method: step.method.slice(0, space), target: step.method.slice(space + 1) };
}

const toResponse = (response: WireResponse): Response => ({ ...response, json: jsonOf(response.text) });

/**
 * Returns a value of the response: `header:name`, `status`, `items`, `text`, or a JSON path. If a regular expression follows the name of the value,
 * the result is the first group of the match in the value.
 */
function placeIn(response: Response, place: string): unknown {
  const [, outer, pattern] = /^(\S+) \/(.+)\/$/.exec(place) ?? [];
  if (outer !== undefined && pattern !== undefined) return new RegExp(pattern).exec(String(placeIn(response, outer)))?.[1];
  if (place.startsWith("header:")) return response.headers.get(place.slice("header:".length).toLowerCase());
  if (place === "status") return response.status;
  if (place === "items") return response.items;
  if (place === "text") return response.text;
  return valueAt(response.json, place);
}

function describe(response: Response): string {
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const text = response.text.length > 4000 ? `${response.text.slice(0, 4000)}… (${response.text.length} characters)` : response.text;
  return `${response.status}\n${headers}\n\n${text}`;
}
