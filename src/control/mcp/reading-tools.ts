/** The tools of MCP that only read: about the server, about the contract, and about recent events. */
import { Type } from "typebox";
import { timeText } from "#kernel/clock";
import { explained, type Recorded } from "../client/explained.ts";
import { PRINCIPALS } from "../client/graph-call.ts";
import { type ControlRequests, WrongParameter } from "../client/requests.ts";
import { statusLines, statusOf } from "../client/status.ts";
import { type Delivery, lineOf } from "../client/triggered.ts";
import { findSections, type Section, sectionsIn } from "./search.ts";
import { ANSWER_CHARACTERS_MAX, input, type Tool, ToolFailure, tool } from "./tool.ts";

/** The greatest number of nodes of each kind in the status; the nodes show the caller whose tokens it can use. */
const NAMED_MAX = 5;

const status = tool("status", {
  description: "The server, its world's time, its problems, and the people, pages, accounts and apps as whom you can send requests. Begin here.",
  input: input({}),
  isReading: true,
  rest: "find_nodes lists the nodes of one kind.",
  async run({ control: find }) {
    const control = await find();
    const { now, frozen } = await control.request("GET", "clock");
    return [
      ...statusLines(await statusOf(control)),
      `  clock        ${timeText(now)}${frozen ? ", frozen" : ""}`,
      ...(await principals(control)),
    ].join("\n");
  },
});

async function principals(control: ControlRequests): Promise<string[]> {
  const lines: string[] = [];
  for (const [kind, names] of Object.entries(PRINCIPALS)) {
    const { data } = (await control.request("GET", `nodes/${kind}?limit=${NAMED_MAX + 1}`)) as { data: readonly Record<string, unknown>[] };
    const shown = data.slice(0, NAMED_MAX).map((node) => [node.id, names.map((name) => node[name]).find((name) => name !== undefined)].join(" "));
    if (shown.length > 0) lines.push(`  ${kind}: ${shown.join(", ")}${data.length > NAMED_MAX ? ", …" : ""}`);
  }
  return lines;
}

/** The paths of the pages with operations begin with this text. Each area of the interface has a page with operations. */
const CONTRACT = "llms/";
const isOperation = ({ page, heading }: Section): boolean => page.startsWith(CONTRACT) && /^\w+$/.test(heading);
/** The greatest number of further search results that a tool's answer names after the best result. */
const OTHERS_MAX = 7;
/** The number of characters of a section that a tool's answer shows. Most sections are shorter than this limit. */
const SECTION_CHARACTERS_MAX = 3_000;

const findOperation = tool("find_operation", {
  description:
    "Finds an operation of the graph by its name or by words, with its address, token, parameters, errors and an example, and lists the next best operations.",
  input: input({
    query: Type.String({ minLength: 1, maxLength: 200, description: "name or words, e.g. createLabel, or attach a label to a person" }),
  }),
  isReading: true,
  rest: "Read the rest in the area's page with read_docs.",
  async run({ pages }, { query }) {
    const operations = sectionsIn(await pages()).filter(isOperation);
    const named = operations.find(({ heading }) => heading.toLowerCase() === query.trim().toLowerCase());
    const [best, ...others] = named === undefined ? findSections(operations, query) : [named];
    if (best === undefined) throw new ToolFailure(`no operation contains a word of ${query}; read_docs with page llms.txt lists all operations`);
    const next = others.slice(0, OTHERS_MAX).map(({ heading, text }) => `- ${heading}: ${/^`([^`]+)`/m.exec(text)?.[1] ?? ""}`);
    return [`page: ${best.page}`, best.text, ...(next.length === 0 ? [] : [`Others:\n${next.join("\n")}`])].join("\n\n");
  },
});

const readDocs = tool("read_docs", {
  description:
    "Finds the section of the documentation that answers a question: guides for tests and webhooks, world files, commands, errors, decisions. Or reads a page.",
  input: input({
    query: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "words of a question; the answer is the best section" })),
    page: Type.Optional(Type.String({ description: "a page to read instead, e.g. guides/testing.md" })),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: "the number of characters to skip" })),
  }),
  isReading: true,
  rest: "Read the page with its name as page and a greater offset.",
  async run({ pages: read }, { query, page, offset = 0 }) {
    const pages = await read();
    if (page !== undefined) return partOf(pages, page, offset);
    if (query === undefined) return [...pages].map(([name, text]) => `${name} ${text.length}`).join("\n");
    const [best, ...others] = findSections(sectionsIn(pages), query);
    if (best === undefined) throw new ToolFailure(`no page contains a word of ${query}; without query and page, read_docs lists the pages`);
    const at = SECTION_CHARACTERS_MAX + (pages.get(best.page) as string).indexOf(best.text);
    const text =
      best.text.length <= SECTION_CHARACTERS_MAX ? best.text : `${best.text.slice(0, SECTION_CHARACTERS_MAX)}\n… the rest begins at offset ${at}`;
    const next = others.slice(0, OTHERS_MAX).map((one) => `- ${one.page}: ${one.heading}`);
    return [`page: ${best.page}`, text, ...(next.length === 0 ? [] : [`Others:\n${next.join("\n")}`])].join("\n\n");
  },
});

/**
 * The number of characters of a page that a tool's answer shows. The answer may be 200 characters longer, for a sentence about the rest of the page.
 */
const PART_CHARACTERS_MAX = ANSWER_CHARACTERS_MAX - 200;

function partOf(pages: ReadonlyMap<string, string>, page: string, offset: number): string {
  const text = pages.get(page);
  if (text === undefined) throw new WrongParameter("page", `the page ${page} does not exist; without query and page, read_docs lists the pages`);
  if (offset >= text.length) throw new WrongParameter("offset", `must be below ${text.length}, the number of characters of ${page}`);
  const end = offset + PART_CHARACTERS_MAX;
  const rest = end < text.length ? `\n… the next part begins at offset ${end} of ${text.length}` : "";
  return text.slice(offset, end) + rest;
}

const explainRequest = tool("explain_request", {
  description:
    "Explains the response to a graph request: token, permission, parameters, error and its cause, webhooks. Without a trace, explains the last failure.",
  input: input({ trace_id: Type.Optional(Type.String({ minLength: 1, description: "pftrace_id of the error, or the trace in list_recent" })) }),
  isReading: true,
  rest: "plaza explain TRACE --json prints the whole explanation.",
  async run({ control: find }, { trace_id }) {
    const control = await find();
    const trace = trace_id ?? (await lastFailure(control));
    const request = (await control.request("GET", `requests/${encodeURIComponent(trace)}`)) as Recorded & Sent;
    const texts = [
      ["query", request.query],
      ["sent", request.request_body],
      ["response", request.response_body],
    ].filter(([, text]) => text !== "");
    return [
      ...(await explained(control, request)),
      ...texts.map(([name, text]) => `${name?.padEnd(11)} ${text?.slice(0, BODY_CHARACTERS_MAX)}`),
    ].join("\n");
  },
});

interface Sent {
  readonly query: string;
  readonly request_body: string;
}

/** The number of characters of a response body that the explanation of a failed request shows. */
const BODY_CHARACTERS_MAX = 1_000;

async function lastFailure(control: ControlRequests): Promise<string> {
  const found: { trace_id: string; time: number }[] = [];
  for (const digit of [4, 5]) found.push(...(await control.request("GET", `requests?status_class=${digit}&limit=1`)).data);
  const [last] = found.sort((a, b) => b.time - a.time);
  if (last === undefined) throw new ToolFailure("no request has failed");
  return last.trace_id;
}

/** The greatest number of entries in a list that a tool returns. Each entry of the list is one line. */
const ROWS_MAX = 50;

const listRecent = tool("list_recent", {
  description: "The newest requests to the graph, webhooks to apps, or events of an app, one a line, the newest first.",
  input: input({
    of: Type.Union([Type.Literal("requests"), Type.Literal("webhooks"), Type.Literal("app_events")]),
    app: Type.Optional(Type.String({ description: "for app_events: the id of the app" })),
    search: Type.Optional(Type.String({ description: "for requests: a part of the path, the operation or the query" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX, description: "10 by default" })),
  }),
  isReading: true,
  rest: "Reduce limit, or call explain_request for one request.",
  async run({ control: find }, { of, app, search, limit = 10 }) {
    const control = await find();
    const lines = await listed[of](control, limit, { app, search });
    return lines.length === 0 ? `no ${of.replace("_", " ")}` : lines.join("\n");
  },
});

interface Filter {
  readonly app: string | undefined;
  readonly search: string | undefined;
}

const listed: Readonly<
  Record<"requests" | "webhooks" | "app_events", (control: ControlRequests, limit: number, filter: Filter) => Promise<string[]>>
> = {
  async requests(control, limit, { search }) {
    const query = new URLSearchParams({ limit: String(limit), ...(search === undefined ? {} : { search }) });
    const { data } = (await control.request("GET", `requests?${query}`)) as { data: (Recorded & Sent)[] };
    return data.map((one) =>
      `${timeText(one.time)} ${one.method} ${one.path} ${one.status} ${one.operation} ${one.trace_id} ${one.reason ?? one.request_body}`.trim(),
    );
  },
  async webhooks(control, limit) {
    const { data } = (await control.request("GET", `deliveries?limit=${limit}`)) as { data: Delivery[] };
    return data.map((one) => `${timeText(one.time)} ${one.object}.${one.field} of ${one.entity} ${lineOf(one)}`);
  },
  async app_events(control, limit, { app }) {
    if (app === undefined) throw new WrongParameter("app", "is required for app_events: the id of the app");
    const { data } = (await control.request("GET", `app-events/${encodeURIComponent(app)}/test-events`)) as { data: object[] };
    return data.slice(0, limit).map((one) => JSON.stringify(one));
  },
};

const findNodes = tool("find_nodes", {
  description:
    "Shows a node, or the nodes of a kind, as entries of a world file. The kinds are the keys of a world file, e.g. pages, labels, tokens.",
  input: input({
    kind: Type.String({ minLength: 1, description: "e.g. labels" }),
    id: Type.Optional(Type.String({ minLength: 1, description: "only the node with this id" })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX, description: "10 by default" })),
    after: Type.Optional(Type.String({ description: "the value of after in the last response" })),
  }),
  isReading: true,
  rest: "Name one node by its id, or reduce limit.",
  async run({ control: find }, { kind, id, limit = 10, after }) {
    const control = await find();
    if (id !== undefined) return JSON.stringify(await control.request("GET", `nodes/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`));
    const path = kind === "tokens" ? "tokens" : `nodes/${encodeURIComponent(kind)}`;
    const query = new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) });
    const { data, paging } = (await control.request("GET", `${path}?${query}`)) as { data: object[]; paging: { next?: string } };
    const lines = data.map((one) => JSON.stringify(one));
    if (lines.length === 0) return `no ${kind}`;
    const next = paging.next === undefined ? undefined : new URL(paging.next).searchParams.get("after");
    return [...lines, ...(next === undefined ? [] : [`… there are more: after=${next}`])].join("\n");
  },
});

export const readingTools: readonly Tool[] = [status, findOperation, readDocs, explainRequest, listRecent, findNodes];
