/** The tools of MCP that act: they send requests, make webhooks and nodes, wait, and change the time and the state of a world. */
import { type TObject, type TSchema, Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import { explainedRefusal } from "../client/explained.ts";
import { graphRequestOf, withoutDebug } from "../client/graph-call.ts";
import { moveToNextDeadline } from "../client/next-deadline.ts";
import { type ControlRequests, expectSeen, WrongParameter } from "../client/requests.ts";
import { anyEntityOf, fieldOf, lineOf, triggered } from "../client/triggered.ts";
import { input, parametersOf, type Tool, ToolFailure, tool } from "./tool.ts";

type Routes = ReadonlyMap<string, ControlRoute>;

const anyMap = (description: string) =>
  Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description })));

const sendRequest = tool("send_request", {
  description: "Sends a request to the graph as a person, page, account or app of the world, and returns the response. A refusal is explained.",
  input: input({
    method: Type.Union([Type.Literal("GET"), Type.Literal("POST"), Type.Literal("DELETE")]),
    path: Type.String({ minLength: 1, maxLength: 2_000, description: "with or without a version, e.g. 2001/custom_labels" }),
    as: Type.Optional(
      Type.String({
        minLength: 1,
        description: "send a token of this page, person, account or app, by a name or id of status",
      }),
    ),
    parameters: anyMap("parameters of the form of a POST, else of the query"),
    body: anyMap("a JSON body, instead of a form"),
  }),
  rest: "Select less with the parameter fields, or a smaller limit.",
  async run({ control: find, callGraph, isReader }, { method, path, as, parameters = {}, body }) {
    if (isReader && method !== "GET") throw new ToolFailure("this key may only read");
    requirePath(path);
    const control = await find();
    const fields = Object.entries(parameters).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const);
    const request = await graphRequestOf(control, { method, path, as, fields, body: body === undefined ? undefined : JSON.stringify(body) });
    const { response, text } = await responseOf(callGraph(request));
    const shown = withoutDebug(text);
    const answer = `${response.status} ${shown === undefined ? text : JSON.stringify(shown)}`;
    return response.ok ? answer : [answer, ...(await explainedRefusal(control, text))].join("\n");
  },
});

/** The greatest number of bytes of a response that a tool reads. The answer of a tool is always shorter than this limit. */
const RESPONSE_BYTES_MAX = 1_000_000;

async function responseOf(sent: Promise<Response>): Promise<{ response: Response; text: string }> {
  try {
    const response = await sent;
    let bytes = Buffer.alloc(0);
    for await (const piece of response.body ?? []) {
      bytes = Buffer.concat([bytes, piece]);
      if (bytes.length >= RESPONSE_BYTES_MAX) break;
    }
    return { response, text: bytes.toString("utf8") };
  } catch (error) {
    throw new ToolFailure(`the response of the graph is incomplete: ${error instanceof Error ? error.message : error}`);
  }
}

/** Throws for a path that could lead to another world than the world of the caller's key. */
function requirePath(path: string): void {
  const [address = ""] = path.split("?");
  if (/^\/?w\//i.test(address)) throw new WrongParameter("path", "must not contain the world: leave out /w/ and the name of the world");
  if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\|^\/?\//i.test(address.replace(/^\//, "")))
    throw new WrongParameter("path", "must not contain the segments . or .., or \\ or //");
}

const triggerEvent = tool("trigger_event", {
  description: "Makes a webhook event and waits for the delivery to each subscribed app. By default the event has an example payload.",
  input: input({
    event: Type.String({ minLength: 1, description: "a webhook field, e.g. messages, or object and field, e.g. page.messages" }),
    entity: Type.Optional(Type.String({ description: "id of the account, page or catalog; the first of the world by default" })),
    phone_number: Type.Optional(Type.String({ description: "id of a phone number of the account" })),
    value: anyMap("the payload"),
  }),
  rest: "list_recent of webhooks shows the deliveries.",
  async run({ control: find, webhookFields }, { event, entity, phone_number, value }) {
    const field = fieldOf(webhookFields, event);
    const control = await find();
    const given = { ...(phone_number === undefined ? {} : { phone_number }), ...(value === undefined ? {} : { value }) };
    const lines: string[] = [];
    let isRefused = false;
    for await (const delivery of triggered(control, field, { entity: entity ?? (await anyEntityOf(control, field.object)), ...given })) {
      isRefused ||= delivery.status !== "delivered";
      lines.push(lineOf(delivery));
      const answer = delivery.attempts.at(-1)?.answer;
      if (answer !== undefined && answer !== "") lines.push(`  answer: ${answer}`);
    }
    if (isRefused) throw new ToolFailure(lines.join("\n"));
    return lines.join("\n");
  },
});

/**
 * For each kind of expectation, the operation and its most common parameters. The other parameters of an expectation's operation are keys
 * of the tool's parameter `match`.
 */
const expectedOf = {
  requests: { operation: "expectRequests", names: ["operation"] },
  webhooks: { operation: "expectWebhooks", names: ["field", "entity"] },
  app_events: { operation: "expectAppEvents", names: ["event_name", "verdict"] },
} as const;
const pathsOf = { requests: "requests/expect", webhooks: "deliveries/expect" } as const;

function expectTool(routes: Routes): Tool {
  const kinds = Object.entries(expectedOf).flatMap(([of, { operation, names }]) =>
    Object.entries(parametersOf(routes, operation, names)).map(([name, schema]) => [name, described(schema, of)] as const),
  );
  return tool("expect", {
    description:
      "Waits until the last requests, webhooks or app events contain an expected one. If none comes, shows the nearest one and its differences.",
    input: input({
      of: Type.Union([Type.Literal("requests"), Type.Literal("webhooks"), Type.Literal("app_events")]),
      app: Type.Optional(Type.String({ description: "for app_events: the id of the app" })),
      ...Object.fromEntries(kinds),
      ...parametersOf(routes, "expectRequests", ["match", "count", "within_ms"]),
    }),
    rest: "Narrow the expectation with match.",
    async run({ control: find }, given: Record<string, unknown>) {
      const { of, app, ...body } = given as { of: keyof typeof expectedOf; app?: string };
      if (of === "app_events" && app === undefined) throw new WrongParameter("app", "is required for app_events: the id of the app");
      const control = await find();
      const path = of === "app_events" ? `app-events/${encodeURIComponent(app ?? "")}/expect` : pathsOf[of];
      const { problem, nearest, data } = await expectSeen(control, `${control.world}/${path}`, body);
      const seen = [`${data.length} seen`, ...data.map((one) => JSON.stringify(one))].join("\n");
      if (problem === undefined) return seen;
      throw new ToolFailure([problem, nearest === undefined ? "" : `nearest: ${JSON.stringify(nearest)}`, seen].join("\n"));
    },
  });
}

/**
 * Describes a parameter of one kind of expectation. A parameter of only one kind gets no default, because the other kinds of
 * expectations refuse the parameter.
 */
const described = ({ default: _, description = "", ...schema }: TSchema & { default?: unknown; description?: string }, of: string): TSchema =>
  Type.Optional({ ...schema, description: `${of}: ${description}` });

const makeNodes = tool("make_nodes", {
  description:
    "Creates or replaces all or none of the nodes in lists as in a world file, e.g. {labels: [{id, page, name}], tokens: [{token, type, app, …}]}.",
  input: input({
    nodes: Type.Unsafe<Record<string, unknown[]>>(
      Type.Record(Type.String(), Type.Array(Type.Unknown()), {
        description: "lists by key (read_docs page reference/world-files.md)",
      }),
    ),
  }),
  rest: "find_nodes shows nodes.",
  async run({ control: find }, { nodes }) {
    const control = await find();
    const { warnings = [] } = await control.request("POST", "import", nodes);
    const counts = Object.entries(nodes).map(([kind, entries]) => `${entries.length} ${kind}`);
    return [`stored ${counts.join(", ")}`, ...(warnings as string[]).map((warning) => `warning: ${warning}`)].join("\n");
  },
});

const changeNode = tool("change_node", {
  description:
    "Changes some values of a node and keeps the others; null restores a default. E.g. the callback of an app: {callback: {url, verified: true}, subscriptions: [{object, fields}]}.",
  input: input({
    kind: Type.String({ minLength: 1, description: "e.g. apps" }),
    id: Type.String({ minLength: 1 }),
    changes: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
  }),
  rest: "find_nodes shows the node.",
  async run({ control: find }, { kind, id, changes }) {
    const control = await find();
    return JSON.stringify(await control.request("PATCH", `nodes/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`, changes));
  },
});

const clockTool = (routes: Routes): Tool =>
  tool("clock", {
    description: "Shows or changes the world's time. When the response arrives, everything that falls due by the new time has happened.",
    input: input({
      action: Type.Unsafe<keyof typeof clockActions>({ enum: Object.keys(clockActions), description: "next moves to the next deadline" }),
      seconds: Type.Optional({
        ...((routes.get("advanceClock") as ControlRoute).body as TObject).properties.seconds,
        description: "for advance",
      }),
      now: Type.Optional(Type.Union([Type.Integer(), Type.String()], { description: "for set: Unix seconds or ISO 8601" })),
    }),
    rest: "",
    run: async ({ control: find }, { action, ...given }: ClockInput) => JSON.stringify(await clockActions[action](await find(), given)),
  });

interface ClockInput {
  readonly action: keyof typeof clockActions;
  readonly seconds?: number;
  readonly now?: number | string;
}

const clockActions = {
  show: (control: ControlRequests, _: Omit<ClockInput, "action">) => control.request("GET", "clock"),
  advance(control: ControlRequests, { seconds }: Omit<ClockInput, "action">) {
    if (seconds === undefined) throw new WrongParameter("seconds", "is required to advance the time");
    return control.request("POST", "clock/advance", { seconds });
  },
  set(control: ControlRequests, { now }: Omit<ClockInput, "action">) {
    if (now === undefined) throw new WrongParameter("now", "is required to set the time");
    return control.request("PUT", "clock", { now });
  },
  freeze: (control: ControlRequests, _: Omit<ClockInput, "action">) => control.request("PUT", "clock", { frozen: true }),
  run: (control: ControlRequests, _: Omit<ClockInput, "action">) => control.request("PUT", "clock", { frozen: false }),
  next: async (control: ControlRequests, _: Omit<ClockInput, "action">) =>
    (await moveToNextDeadline(control)) ?? { due: "the world has no further deadline" },
};

/** The parameters of a fault that integration tests use. */
const FAULT_PARAMETERS = [...["operation", "webhook", "node", "query", "status", "code", "rate_limit", "latency_ms", "reset", "effect", "times"]];

const faultTool = (routes: Routes): Tool =>
  tool("fault", {
    description: "Makes requests to an operation fail or wait, or webhooks get lost, repeated or reordered. Lists and clears such faults.",
    input: input({
      action: Type.Union([Type.Literal("add"), Type.Literal("list"), Type.Literal("clear")]),
      ...parametersOf(routes, "createFault", FAULT_PARAMETERS),
    }),
    rest: "Clear the faults that are not needed.",
    async run({ control: find }, { action, ...fault }: { action: string }) {
      const control = await find();
      if (action === "add") return JSON.stringify(await control.request("POST", "faults", fault));
      if (Object.keys(fault).length > 0) throw new WrongParameter(Object.keys(fault)[0] as string, `cannot be used with the action ${action}`);
      return JSON.stringify(await control.request(action === "list" ? "GET" : "DELETE", "faults"));
    },
  });

const snapshot = tool("snapshot", {
  description:
    "Saves the state of the world under a name, restores it, or lists or deletes saved states; reset restores the state at the creation of the world.",
  input: input({
    action: Type.Unsafe<keyof typeof snapshotActions | "list" | "reset">({ enum: ["take", "restore", "list", "delete", "reset"] }),
    name: Type.Optional(Type.String({ minLength: 1, description: "the name of the snapshot" })),
  }),
  rest: "Delete snapshots that are not needed.",
  async run({ control: find }, { action, name }) {
    const control = await find();
    if (action === "list") return JSON.stringify((await control.request("GET", "snapshots")).data);
    if (action === "reset") return JSON.stringify(await control.request("POST", "reset"));
    if (name === undefined) throw new WrongParameter("name", `is required to ${action} a snapshot`);
    return JSON.stringify(await snapshotActions[action](control, name));
  },
});

const snapshotActions = {
  take: (control: ControlRequests, name: string) => control.request("POST", "snapshots", { name }),
  restore: (control: ControlRequests, name: string) => control.request("POST", `snapshots/${encodeURIComponent(name)}/restore`),
  delete: (control: ControlRequests, name: string) => control.request("DELETE", `snapshots/${encodeURIComponent(name)}`),
};

export const actingTools = (routes: Routes): readonly Tool[] => [
  ...[sendRequest, triggerEvent, expectTool(routes), makeNodes, changeNode, clockTool(routes), faultTool(routes), snapshot],
];
