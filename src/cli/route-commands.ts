/** Commands of one request to the control API. Without a running server, the command opens the data itself. */
import { type Command, Option } from "commander";
import type { RouteCommand } from "./ask-route.ts";
import { controlCommand, runs } from "./command-options.ts";

interface Group {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly RouteCommand[];
}

const OF_WORLD = "/v1/worlds/{world_name}";
const ID_OF_TOKEN = ["--id <ID>", "id of the token, as list shows it", "required"] as const;

export const tokenCommands: Group = {
  name: "token",
  summary: "creates, lists and revokes tokens, and creates apps",
  commands: [
    {
      name: "mint",
      summary: "creates a token and prints its value, once",
      asks: `POST ${OF_WORLD}/tokens`,
      options: [
        ["--type <TYPE>", "app, user, page, social_user, microblog_user or system_user", "required"],
        ["--app <ID>", "the app", "required"],
        ["--user <ID>", "the user, for a user, system user or page token"],
        ["--page <ID>", "the page, for a page token"],
        ["--social-account <ID>", "the account, for a social user token"],
        ["--microblog-user <ID>", "the user, for a microblog user token"],
        ["--scopes <A,B>", "scopes, separated by commas"],
        ["--expires-at <TIME>", "Unix seconds or ISO 8601 (default: never)"],
      ],
    },
    { name: "list", summary: "lists the tokens, without their values", asks: `GET ${OF_WORLD}/tokens?limit=1000`, isList: true },
    { name: "revoke", summary: "revokes a token", asks: `DELETE ${OF_WORLD}/tokens/{id}`, options: [ID_OF_TOKEN] },
    {
      name: "create-app",
      summary: "creates an app and prints it with its secret",
      asks: `POST ${OF_WORLD}/nodes/apps`,
      options: [
        ["--name <NAME>", "name of the app", "required"],
        ["--id <ID>", "id of the app (default: a new id)"],
      ],
      // The first app may be created before the first start.
      makesData: true,
    },
  ],
};

/** `new` and `import`, which send a file, are in `world.ts`. */
export const worldCommands: Group = {
  name: "world",
  summary: "creates, lists and deletes worlds, saves and restores their state",
  commands: [
    { name: "list", summary: "lists the worlds", asks: "GET /v1/worlds", isList: true },
    {
      name: "export",
      summary: "prints the state of a world as a world file",
      asks: `GET ${OF_WORLD}/export`,
      options: [["--secrets", "include the secrets and verify tokens of apps"]],
    },
    {
      name: "delete",
      summary: "deletes a world with everything in it",
      asks: "DELETE /v1/worlds/{name}",
      argument: ["<name>", "name of the world"],
    },
    { name: "reset", summary: "resets a world to its state when it was created", asks: `POST ${OF_WORLD}/reset` },
    {
      name: "snapshot",
      summary: "saves the state of a world under a name",
      asks: `POST ${OF_WORLD}/snapshots`,
      argument: ["<snapshot>", "letters, digits, - and _"],
      sentAs: { snapshot: "name" },
    },
    {
      name: "restore",
      summary: "restores the state of a world from a snapshot",
      asks: `POST ${OF_WORLD}/snapshots/{snapshot}/restore`,
      argument: ["<snapshot>", "its name"],
    },
  ],
};

export const keyCommands: Group = {
  name: "key",
  summary: "creates, lists, revokes and replaces control keys, and replaces the sealing key",
  commands: [
    {
      name: "create",
      summary: "creates a control key and prints it, once",
      asks: "POST /v1/control-keys",
      options: [
        ["--access <ACCESS>", "full, or read for GET requests only", "required"],
        ["--name <NAME>", "what it is for"],
        ["--expires-at <TIME>", "Unix seconds (default: never)"],
      ],
    },
    {
      name: "list",
      summary: "lists created and replaced keys, without their values",
      asks: "GET /v1/control-keys?limit=1000",
      isList: true,
    },
    {
      name: "revoke",
      summary: "revokes a key",
      asks: "DELETE /v1/control-keys/{id}",
      options: [["--id <ID>", "id of the key, as list shows it", "required"]],
    },
    {
      name: "rotate",
      summary: "replaces the control key that the command uses, and prints the new one, once",
      asks: "POST /v1/control-keys/rotate",
      options: [["--overlap-seconds <N>", "how long the old key stays valid (default: a day)"]],
      isKeyReplaced: true,
      makesData: true,
    },
    {
      name: "sealing",
      summary: "shows the keys that seal stored secrets, and how many secrets are still sealed with an older key",
      asks: "GET /v1/sealing-key",
    },
    {
      name: "rotate-sealing",
      summary: "replaces the sealing key of a data folder",
      asks: "POST /v1/sealing-key/rotate",
      options: [["--overlap-seconds <N>", "how long the old key still opens secrets (default: a week)"]],
    },
  ],
};

export const addWorldName = (command: Command): Command => command.option("--world-name <NAME>", "name of the world", "default");

export function addGroup(plaza: Command, { name, summary, commands }: Group): Command {
  const group = plaza.command(name).description(summary);
  for (const command of commands) addRouteCommand(group, command);
  return group;
}

function addRouteCommand(group: Command, command: RouteCommand): void {
  const { argument, options = [] } = command;
  const added = controlCommand(group, command.name, command.summary);
  if (command.asks.includes("{world_name}")) addWorldName(added);
  for (const [flags, summary, isRequired] of options) added.addOption(new Option(flags, summary).makeOptionMandatory(isRequired === "required"));
  if (argument !== undefined) added.argument(...argument);
  added.action(
    runs(async (given, value) => {
      const { askRoute } = await import("./ask-route.ts");
      return askRoute(command, argument === undefined ? given : { ...given, [argument[0].slice(1, -1)]: value });
    }),
  );
}
