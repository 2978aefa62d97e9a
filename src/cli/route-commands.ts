/** The commands that send one request to the control API. The options of the commands are made from the contracts of the routes. */
import { type Command, Option } from "commander";
import { type TObject, Type } from "typebox";
import type { ControlRoute } from "#control-contract/route";
import { READ_AS, type SchemaNode } from "#graph/schema/schema-node";
import type { AskedRoute, Parameter, Shape } from "./ask-route.ts";
import { collected, controlCommand, runs, serverCommand } from "./command-options.ts";
import type { PrivateUse } from "./control-client.ts";

/** The routes of the control API, by their operations. */
export type Routes = ReadonlyMap<string, ControlRoute>;

export interface RouteCommand extends PrivateUse {
  readonly operation: string;
  /** The summary of the command. The default summary is the first sentence of the route's summary. */
  readonly summary?: string;
  /** The names of the parameters that are arguments of the command, in this order. */
  readonly args?: readonly string[];
  /** The names on the command line of parameters that have another name in the API, by the name in the API. */
  readonly named?: Readonly<Record<string, string>>;
  /** The values that the command always sends for some parameters. */
  readonly sends?: Readonly<Record<string, unknown>>;
  /** The parameters that are options of the command. By default, a parameter is an option if it is neither an argument nor in `sends`. */
  readonly options?: readonly string[];
  /** The schema of the request body, if the route's own schema only says that the body is a node. */
  readonly body?: TObject;
  /** Whether the command works without a running server, by opening the data in its own process. */
  readonly isAlone?: true;
}

interface Group {
  readonly summary: string;
  readonly commands: Readonly<Record<string, RouteCommand>>;
}

const id = Type.Optional(Type.String({ format: "id", description: "a new id by default" }));
const newApp = Type.Object({ name: Type.String({ description: "name of the app" }), id });
const snapshot = { args: ["name"], named: { name: "snapshot" } } as const;
const node = { args: ["key", "id"], named: { key: "kind" } } as const;
const ofApp = { args: ["app"] } as const;
const byId = { args: ["id"] } as const;

/** The commands of the command line, by group. The commands `world new` and `world import` send a file, so these two commands are in `world.ts`. */
export const routeGroups = {
  token: {
    summary: "creates, lists and revokes tokens, and creates apps",
    commands: {
      mint: { operation: "mintToken", isAlone: true },
      list: { operation: "listTokens", isAlone: true },
      copy: { operation: "copyToken", isAlone: true },
      revoke: { operation: "revokeToken", isAlone: true },
      // A user may create the first app before the first start of the server.
      "create-app": {
        ...{ operation: "createNode", summary: "creates an app and prints it with its secret", sends: { key: "apps" }, body: newApp },
        ...{ isAlone: true, makesData: true },
      },
    },
  },
  world: {
    summary: "creates, lists and deletes worlds, saves and restores their state",
    commands: {
      list: { operation: "listWorlds", isAlone: true },
      export: { operation: "exportWorld", summary: "prints the state of a world as a world file", isAlone: true },
      delete: { operation: "deleteWorld", args: ["w"], named: { w: "name" }, isAlone: true },
      move: { operation: "moveWorld", summary: "moves a world to another database of --databases", args: ["w"], named: { w: "name" } },
      reset: { operation: "resetWorld", isAlone: true },
      snapshot: { operation: "takeSnapshot", ...snapshot, isAlone: true },
      snapshots: { operation: "listSnapshots", isAlone: true },
      restore: { operation: "restoreSnapshot", ...snapshot, isAlone: true },
      "delete-snapshot": { operation: "deleteSnapshot", ...snapshot, isAlone: true },
    },
  },
  node: {
    summary: "lists, shows, makes, changes and deletes nodes; their kinds are the keys of a world file",
    commands: {
      list: { operation: "listNodes", summary: "lists the nodes of a kind", args: ["key"], named: { key: "kind" } },
      show: { operation: "readNode", summary: "shows a node as an entry of a world file", ...node },
      make: { operation: "createNode", summary: "creates a node, with a new id if none is given", args: ["key"], named: { key: "kind" } },
      change: { operation: "updateNode", summary: "changes values of a node; null restores the default of a value", ...node },
      delete: { operation: "deleteNode", ...node },
    },
  },
  clock: {
    summary: "shows, sets, moves and stops the time of a world",
    commands: {
      show: { operation: "readClock", summary: "shows the time of a world" },
      set: { operation: "setClock", summary: "sets the time, stops it or lets it run" },
      advance: { operation: "advanceClock", args: ["seconds"] },
      freeze: { operation: "setClock", summary: "stops the time", sends: { frozen: true }, options: [] },
      run: { operation: "setClock", summary: "lets the time run", sends: { frozen: false }, options: [] },
      deadlines: { operation: "listDeadlines", summary: "lists the coming background jobs and the next retry of each callback, the earliest first" },
    },
  },
  fault: {
    summary: "makes requests and webhooks fail on purpose",
    commands: {
      add: { operation: "createFault" },
      list: { operation: "listFaults" },
      clear: { operation: "deleteFaults" },
    },
  },
  callback: {
    summary: "lists, pauses and resumes the callbacks that get webhooks",
    commands: {
      list: { operation: "listCallbacks" },
      pause: { operation: "pauseCallback", ...byId },
      resume: { operation: "resumeCallback", ...byId },
    },
  },
  expect: {
    summary: "waits for requests, webhooks or app events, and ends with exit code 1 if they do not come",
    commands: {
      requests: { operation: "expectRequests", summary: "waits until the last requests contain the expected ones; if not, prints the nearest one" },
      "app-events": {
        ...{
          operation: "expectAppEvents",
          summary: "waits until the last events of an app contain the expected ones; if not, prints the nearest one",
        },
        ...ofApp,
      },
      webhooks: { operation: "expectWebhooks", summary: "waits until the last webhooks contain the expected ones; if not, prints the nearest one" },
    },
  },
  events: {
    summary: "lists app events with their sums and attribution, and records clicks and impressions of ads",
    commands: {
      list: { operation: "listAppEvents", summary: "lists the events of an app, the newest first", ...ofApp },
      names: { operation: "listEventNames", summary: "lists the names of an app's events, with counts and exact sums", ...ofApp },
      activate: { operation: "activateEventName", args: ["app", "name"] },
      deactivate: { operation: "deactivateEventName", args: ["app", "name"] },
      sums: { operation: "listEventSums", summary: "lists counts and exact sums by day, name and currency", ...ofApp },
      tested: { operation: "readTestEvents", summary: "lists the latest events of the App channel, each with a verdict", ...ofApp },
      report: { operation: "readAttributionReport", summary: "counts the events that are attributed to ads", ...ofApp },
      device: { operation: "readDevice", summary: "shows a device by one of its ids: its clicks, its impressions, its newest events", ...ofApp },
      click: { operation: "recordClick" },
      impression: { operation: "recordImpression" },
      retention: { operation: "readEventRetention", summary: "shows how long raw events are kept" },
      retain: { operation: "setEventRetention" },
    },
  },
  "in-app": {
    summary: "acts as a person in the app: writes a message, presses a button, comments, removes an app",
    commands: {
      chatapp: { operation: "emitChatappEvent" },
      message: { operation: "sendInApp", summary: "sends a message of an account to itself, as in the app" },
      messages: { operation: "readInApp", summary: "shows the messages of an account with itself" },
      postback: { operation: "pressInApp", summary: "presses a button in a message of an account to itself" },
      comment: { operation: "commentInApp", summary: "comments on a post as an account" },
      "live-comment": { operation: "commentLiveInApp", summary: "comments on a live video as an account" },
      "remove-app": { operation: "removeAppInApp", summary: "removes an app as a person, who may also ask the app to delete her data" },
      "data-deletions": { operation: "listDataDeletions", summary: "lists requests of people to delete data, with the answers of the apps" },
    },
  },
  live: {
    summary: "sends a test clip to live videos, and acts as their pages and the platform",
    commands: {
      list: { operation: "listRunningLiveVideos", summary: "lists the running broadcasts, the newest first" },
      show: { operation: "readLiveState", summary: "shows the state of a video: its feed, its key, its history", ...byId },
      publish: { operation: "publishLiveVideo", ...byId },
      end: { operation: "endBroadcast", ...byId },
      sealing: { operation: "setSealing", ...byId },
      takedown: { operation: "takeDownLiveVideo", ...byId },
      notice: { operation: "repeatRestoreNotice", ...byId },
      restore: { operation: "restoreLiveVideo", ...byId },
      viewer: { operation: "checkViewer", summary: "says whether a viewer may watch a video, and if not, why", ...byId },
    },
  },
  feed: {
    summary: "uploads files to product feeds, and shows the reports of the uploads",
    commands: {
      uploads: { operation: "listFeedUploads", ...byId },
      report: { operation: "readFeedUpload", summary: "prints the report of an upload", args: ["id", "n"] },
    },
  },
  person: {
    summary: "erases people, and counts the erased records",
    commands: {
      erase: { operation: "erasePerson", ...byId },
      erasure: { operation: "readErasure", summary: "shows how many records an erasure erased, by kind", ...byId },
      erasures: { operation: "listErasures" },
    },
  },
  version: {
    summary: "shows the calendar of versions, and which versions the apps use",
    commands: {
      calendar: { operation: "readVersions", summary: "shows when each version was released and when it stops working, and the migrations" },
      outlook: { operation: "readVersionOutlook", summary: "shows which version would serve the last requests of each app at a later time" },
    },
  },
  key: {
    summary: "creates, lists, revokes and replaces control keys, and replaces the sealing key",
    commands: {
      create: { operation: "createControlKey", summary: "creates a control key and prints the key, which is not shown again", isAlone: true },
      list: { operation: "listControlKeys", summary: "lists created and replaced keys, without their values", isAlone: true },
      revoke: { operation: "revokeControlKey", isAlone: true },
      rotate: {
        ...{
          operation: "rotateControlKey",
          summary: "replaces the control key that the command uses, and prints the new key, which is not shown again",
        },
        ...{ isAlone: true, isKeyReplaced: true, makesData: true },
      },
      sealing: {
        operation: "readSealingKey",
        summary: "shows the keys that seal stored secrets, and how many secrets an older key seals",
        isAlone: true,
      },
      "rotate-sealing": { operation: "rotateSealingKey", summary: "replaces the sealing key of a data folder", isAlone: true },
    },
  },
  audit: {
    summary: "shows the requests that were sent with control keys",
    commands: {
      list: { operation: "listAudit", summary: "prints the requests that were sent with control keys, the newest first", isAlone: true },
    },
  },
} satisfies Readonly<Record<string, Group>>;

/** Adds a group of commands. If no command of the group is run, completed or described, `routes` is undefined and the group stays empty. */
export function addGroup(plaza: Command, name: keyof typeof routeGroups, routes: Routes | undefined): Command {
  const { summary, commands }: Group = routeGroups[name];
  const group = plaza.command(name).description(summary);
  if (routes === undefined) return group;
  for (const [own, command] of Object.entries(commands)) addRouteCommand(group, own, command, routes.get(command.operation) as ControlRoute);
  return group;
}

function addRouteCommand(group: Command, name: string, command: RouteCommand, route: ControlRoute): void {
  const asked = askedRouteOf(command, route);
  const declare = command.isAlone === true ? controlCommand : serverCommand;
  const added = declare(group, name, command.summary ?? firstSentence(route.summary));
  if (command.isAlone === true && asked.path.includes("{world_name}")) addWorldName(added);
  for (const one of asked.args) added.argument(`<${one.flag}>`, one.description);
  for (const one of asked.options) for (const option of optionsOf(one)) added.addOption(option);
  added.option("--json", "print JSON, also on a terminal");
  added.action(
    runs(async (given, ...values) => {
      const { askRoute } = await import("./ask-route.ts");
      const sent = Object.fromEntries(asked.args.map((one, i) => [keyOf(one), values[i]]));
      return askRoute(asked, { ...given, ...sent }, command.isAlone === true ? command : undefined);
    }),
  );
}

export const addWorldName = (command: Command): Command => command.option("--world-name <NAME>", "name of the world", "default");

/** The first sentence of a summary: `Deletes all faults. They …` → `deletes all faults`. */
const firstSentence = (summary: string): string => (summary.charAt(0).toLowerCase() + summary.slice(1)).replace(/\. .*$/s, "");

/** The key under which commander stores an option's value. */
const keyOf = ({ flag }: Parameter): string => flag.replaceAll("-", "_");

function askedRouteOf({ operation, args = [], named = {}, sends = {}, options, body: entry }: RouteCommand, route: ControlRoute): AskedRoute {
  const body = entry ?? route.body;
  const isList = (route.response as SchemaNode).properties?.paging !== undefined || route.response === "entries";
  const isPaged = isList && route.query?.properties.after !== undefined;
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) =>
      parameterOf("path", name, { type: "string", description: pathWords[name] }, true),
    ),
    ...parametersIn("query", route.query).filter(({ name }) => !isPaged || (name !== "after" && name !== "limit")),
    ...(body === "entry" ? [fileOfNode, valuesOfNode] : parametersIn("body", body as TObject | undefined)),
  ]
    .filter(({ name }) => !Object.hasOwn(sends, name) && (name !== "w" || args.includes("w")))
    .map((one) => ({ ...one, flag: named[one.name] ?? one.flag }));
  return {
    ...{ operation, method: route.method, sends, isPaged, isList, hasBody: body !== undefined },
    path: args.includes("w") ? route.path : route.path.replace("{w}", "{world_name}"),
    args: args.map((name) => parameters.find((one) => one.name === name) as Parameter),
    options: parameters.filter(({ name }) => !args.includes(name) && options?.includes(name) !== false),
  };
}

/** The descriptions of the parameters of paths. */
const pathWords: Readonly<Record<string, string>> = {
  w: "name of the world",
  id: "the id, from the command list",
  key: "a key of a world file, e.g. labels",
  name: "the name",
  app: "id of the app",
  n: "number of the upload, from the command uploads",
};

const valuesOfNode: Parameter = {
  ...{ place: "body", name: "set", flag: "set", shape: "pairs", isRequired: false },
  description: "a value of the node, e.g. page=2001; a value that is not text is written as JSON; repeatable",
};
const fileOfNode: Parameter = {
  ...{ place: "body", name: "file", flag: "file", shape: "file", isRequired: false },
  description: "the node as an entry of a world file, YAML or JSON; - reads standard input",
};

const parametersIn = (place: Parameter["place"], schema: TObject | undefined): Parameter[] =>
  Object.entries((schema?.properties ?? {}) as Record<string, Described>).map(([name, one]) =>
    parameterOf(place, name, one, ((schema as SchemaNode | undefined)?.required ?? []).includes(name) && one.default === undefined),
  );

interface Described extends SchemaNode {
  readonly description?: string | undefined;
}

function parameterOf(place: Parameter["place"], name: string, schema: Described, isRequired: boolean): Parameter {
  const choices = choicesOf(schema);
  const words = schema.description ?? "";
  const fallback = schema.default === undefined || typeof schema.default === "object" ? "" : ` (default: ${schema.default})`;
  return {
    ...{ place, name, flag: name.replaceAll("_", "-"), isRequired, shape: shapeOf(schema) },
    ...(choices === undefined ? {} : { choices }),
    description: `${words}${isRequired ? " (required)" : fallback}`.trim(),
  };
}

function choicesOf({ enum: values, const: only, anyOf }: SchemaNode): readonly string[] | undefined {
  const found = values ?? (only === undefined ? anyOf?.map((one) => one.const) : [only]);
  return found?.every((one) => typeof one === "string") === true ? found : undefined;
}

function shapeOf(schema: SchemaNode): Shape {
  if (schema[READ_AS] === "time") return "time";
  if (schema[READ_AS] !== undefined) return "id";
  const types = [schema.type, ...(schema.anyOf ?? []).map(({ type }) => type)].filter((one) => one !== undefined);
  if (types.includes("boolean") || schema.const === true) return "switch";
  if (schema.type === "array") return schema.items?.type === "string" || schema.items?.anyOf !== undefined ? "list" : "json";
  if (types.includes("integer") || types.includes("number")) return "number";
  if (types.includes("string") || choicesOf(schema) !== undefined) return schema.format === "id" ? "id" : "text";
  return "json";
}

const VALUES: Readonly<Record<Exclude<Shape, "switch">, string>> = {
  ...{ text: "TEXT", id: "ID", number: "N", time: "TIME", list: "A,B", json: "JSON", pairs: "KEY=VALUE", file: "FILE" },
};

function optionsOf({ flag, shape, description, isRequired, choices }: Parameter): Option[] {
  if (shape === "switch") {
    const on = new Option(`--${flag}`, description);
    return isRequired ? [on, new Option(`--no-${flag}`, `the opposite of --${flag}`)] : [on];
  }
  const option = new Option(`--${flag} <${VALUES[shape]}>`, description).makeOptionMandatory(isRequired);
  if (choices !== undefined) option.choices([...choices]);
  return [shape === "pairs" ? option.argParser(collected) : option];
}
