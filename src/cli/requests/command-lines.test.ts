/** The request of each command line to the control API, and the help of its options. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { controlRoutes } from "#control/routes";
import { commandLine } from "#harness/cli/command-line";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { buildRegistry } from "#main";
import { nameOf } from "../ask-route.ts";
import { program } from "../program.ts";
import { keyCommands, tokenCommands, worldCommands } from "../route-commands.ts";

const WORLD = "/v1/worlds/default";
const get = (path: string): Asked => ({ method: "GET", path });
const remove = (path: string): Asked => ({ method: "DELETE", path });
const post = (path: string, body?: unknown): Asked => ({ method: "POST", path, ...(body === undefined ? {} : { body }) });

describe("a command asks", () => {
  test.each<[line: string, asked: Asked]>([
    ["token mint --type app --app 1001", post(`${WORLD}/tokens`, { type: "app", app: "1001" })],
    [
      "token mint --type page --app 1 --user 2 --page 3 --social-account 4 --microblog-user 5 --scopes a,,b --expires-at 1800000000 --world-name w",
      post("/v1/worlds/w/tokens", {
        ...{ type: "page", app: "1", user: "2", page: "3", social_account: "4", microblog_user: "5", scopes: ["a", "b"] },
        expires_at: 1_800_000_000,
      }),
    ],
    [
      "token mint --type app --app 1 --expires-at 2030-01-01T00:00:00Z",
      post(`${WORLD}/tokens`, { type: "app", app: "1", expires_at: "2030-01-01T00:00:00Z" }),
    ],
    ["token list --world-name a/b", get("/v1/worlds/a%2Fb/tokens?limit=1000")],
    ["token revoke --id 1/2", remove(`${WORLD}/tokens/1%2F2`)],
    ["token create-app --name Mine", post(`${WORLD}/nodes/apps`, { name: "Mine" })],
    ["token create-app --name Mine --id 7", post(`${WORLD}/nodes/apps`, { id: "7", name: "Mine" })],
    ["key create --access read", post("/v1/control-keys", { access: "read" })],
    [
      "key create --access full --name ci --expires-at 1800000000",
      post("/v1/control-keys", { access: "full", name: "ci", expires_at: 1_800_000_000 }),
    ],
    ["key create --access full --expires-at soon", post("/v1/control-keys", { access: "full", expires_at: "soon" })],
    ["key list", get("/v1/control-keys?limit=1000")],
    ["key revoke --id a/b", remove("/v1/control-keys/a%2Fb")],
    ["key rotate", post("/v1/control-keys/rotate", {})],
    ["key rotate --overlap-seconds 60", post("/v1/control-keys/rotate", { overlap_seconds: 60 })],
    ["key sealing", get("/v1/sealing-key")],
    ["key rotate-sealing", post("/v1/sealing-key/rotate", {})],
    ["key rotate-sealing --overlap-seconds 1d", post("/v1/sealing-key/rotate", { overlap_seconds: "1d" })],
    ["world list", get("/v1/worlds")],
    ["world export", get(`${WORLD}/export`)],
    ["world export --secrets --world-name orders", get("/v1/worlds/orders/export?secrets=true")],
    ["world new orders", post("/v1/worlds", { name: "orders" })],
    ["world delete a/b", remove("/v1/worlds/a%2Fb")],
    ["world reset --world-name orders", post("/v1/worlds/orders/reset")],
    ["world snapshot two", post(`${WORLD}/snapshots`, { name: "two" })],
    ["world restore a/b --world-name orders", post("/v1/worlds/orders/snapshots/a%2Fb/restore")],
    ["logs", get(`${WORLD}/requests?limit=20`)],
    ["logs --operation listPersonas --status 200 --limit 5", get(`${WORLD}/requests?operation=listPersonas&status=200&limit=5`)],
    ["deliveries list", get(`${WORLD}/deliveries?limit=20`)],
    [
      "deliveries list --status failed,waiting --callback http://a/ --field messages --limit 3",
      get(`${WORLD}/deliveries?status=failed%2Cwaiting&callback=http%3A%2F%2Fa%2F&field=messages&limit=3`),
    ],
    ["deliveries show 5/1", get(`${WORLD}/deliveries/5%2F1`)],
    ["deliveries resend 5/1 --world-name orders", post("/v1/worlds/orders/deliveries/5%2F1/replay")],
    ["deliveries resend --since 1795000000", post(`${WORLD}/deliveries/replay`, { since: 1_795_000_000 })],
    ["deliveries resend --since 2026-01-01 --callback http://a/", post(`${WORLD}/deliveries/replay`, { since: "2026-01-01", callback: "http://a/" })],
  ])("%s", async (line, expected) => {
    const stub = controlStub(() => ({ data: [], replayed: 0 }));
    written();
    expect(await commandLine(...line.split(" "), ...stub.flags)).toBe(0);
    expect(stub.asked).toEqual([expected]);
    expect(stub.headers[0]?.get("authorization")).toBe(`Bearer ${stub.key}`);
  });

  test("for a world with the text of its file, and imports one as text whose progress it wants to know", async () => {
    const stub = controlStub(() => ({ pages: 1 }));
    const streams = written();
    const file = join(temporaryFolder(), "world.yaml");
    writeFileSync(file, "pages: [{id: 1}]\n");
    expect(await commandLine("world", "new", "orders", file, ...stub.flags)).toBe(0);
    expect(await commandLine("world", "import", file, "--world-name", "a/b", ...stub.flags)).toBe(0);
    expect(stub.asked).toEqual([
      post("/v1/worlds", { name: "orders", file: "pages: [{id: 1}]\n" }),
      post("/v1/worlds/a%2Fb/import", "pages: [{id: 1}]\n"),
    ]);
    expect(stub.headers.map((headers) => headers.get("content-type"))).toEqual(["application/json", "text/plain"]);
    expect(stub.headers[1]?.get("accept")).toBe("text/event-stream");
    expect(streams).toEqual({ out: '{\n  "pages": 1\n}\n'.repeat(2), err: "" });
  });

  test("nothing where its file is empty or cannot be read", async () => {
    const stub = controlStub();
    const streams = written();
    const file = join(temporaryFolder(), "empty.yaml");
    writeFileSync(file, " \n");
    expect(await commandLine("world", "import", file, ...stub.flags)).toBe(2);
    expect(await commandLine("world", "new", "orders", `${file}.none`, ...stub.flags)).toBe(2);
    expect(streams.err.split("\n")).toEqual([
      `plaza: <file>: ${file} is empty: name a world file`,
      expect.stringContaining(`plaza: [file]: ${file}.none cannot be read: `),
      "",
    ]);
    expect(stub.asked).toEqual([]);
  });

  test("as often as it is given ids, and ends with what the control API refuses", async () => {
    const stub = controlStub(({ path }) =>
      path.endsWith("3/replay") ? Response.json({ error: { message: "there is no 3" } }, { status: 404 }) : {},
    );
    const streams = written();
    expect(await commandLine("deliveries", "resend", "1", "2", "3", "4", ...stub.flags)).toBe(1);
    expect(stub.asked.map(({ path }) => path)).toEqual([1, 2, 3].map((id) => `${WORLD}/deliveries/${id}/replay`));
    expect(streams).toEqual({ out: "1 is sent again\n2 is sent again\n", err: "plaza: there is no 3\n" });
  });
});

describe("a command that is one request", () => {
  const routes = new Map(controlRoutes(buildRegistry()).map((route) => [`${route.method} ${route.path}`, route]));
  const commands = [tokenCommands, worldCommands, keyCommands].flatMap(({ name, commands: own }) =>
    own.map((command) => [`${name} ${command.name}`, command] as const),
  );
  test.each(commands)("%s has the options that its route knows", (_, { asks, options = [], argument, sentAs = {} }) => {
    const [method, template = ""] = asks.split(" ");
    const [path] = template.replace("{world_name}", "{w}").split("?");
    const name =
      path?.endsWith("/nodes/apps") === true
        ? "/v1/worlds/{w}/nodes/{key}"
        : path?.replace(/\{(name|snapshot)\}/, path.includes("snapshots") ? "{name}" : "{w}");
    const route = routes.get(`${method} ${name}`);
    expect(`${route?.method} ${route?.path}`).toBe(`${method} ${name}`);
    const forms = [...options.map(([flags]) => flags), ...(argument === undefined ? [] : [argument[0]])];
    const sent = forms.map(nameOf).filter((one) => !template.includes(`{${one}}`));
    const schema = method === "GET" ? route?.query : route?.body;
    // An app is checked by its section.
    const known = schema === "entry" ? ["name", "id"] : Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
    expect(known).toEqual(expect.arrayContaining(sent.map((one) => sentAs[one] ?? one)));
  });
});

describe("the program", () => {
  const commandAt = (path: string, settings: Parameters<typeof program>[0] = []): Command =>
    path.split(" ").reduce((command, name) => command.commands.find((one) => one.name() === name) as Command, program(settings));
  const optionOf = (path: string, flag: string) => commandAt(path).options.find(({ long }) => long === flag);

  test("has these commands, and shows all but the one that only it starts itself", () => {
    const pathsBelow = (command: Command, path = ""): string[] =>
      command.commands.flatMap((one) => [`${path}${one.name()}`, ...pathsBelow(one, `${path}${one.name()} `)]);
    expect(pathsBelow(program([])).filter((path) => path !== "help" && !path.endsWith(" help"))).toEqual([
      ...["start", "exec", "worker", "status", "stop", "logs", "doctor", "backup", "init", "completion", "conform", "record", "compare", "schema"],
      ...["listen", "trigger", "deliveries", "deliveries list", "deliveries show", "deliveries resend"],
      ...["token", "token mint", "token list", "token revoke", "token create-app"],
      ...["world", "world list", "world export", "world delete", "world reset", "world snapshot", "world restore", "world new", "world import"],
      ...["feed", "feed upload", "live", "live play", "live stop"],
      ...["key", "key create", "key list", "key revoke", "key rotate", "key sealing", "key rotate-sealing"],
    ]);
    expect(program([]).helpInformation()).toContain("\n  exec ");
    expect(program([]).helpInformation()).not.toContain("worker");
  });

  test("says the default of an option that takes a simple value, and of no other", () => {
    expect(optionOf("start", "--control-port")?.description).toEndWith(" (default: 4001)");
    // A switch, one without a default, and a list.
    for (const flag of ["--pretty", "--tls-key", "--surface-hosts"]) expect(optionOf("start", flag)?.description).not.toContain("(default: ");
    expect(optionOf("exec", "--control-port")?.description).toEndWith(" (default: 0)");
    expect(optionOf("exec", "--host")?.description).toEndWith(" (default: 127.0.0.1)");
  });

  test("has the opposite of a switch where there is one, takes an option again where it may stand several times, and no secret at all", () => {
    const flags = commandAt("start").options.map(({ long }) => long);
    expect(flags).toEqual(expect.arrayContaining(["--sandbox", "--no-sandbox", "--pretty"]));
    expect(flags).not.toContain("--no-port");
    for (const secret of ["--control-key", "--secret-key", "--further-secret-keys"]) expect(flags).not.toContain(secret);
    expect(commandAt("exec").options.map(({ long }) => long)).not.toContain("--workers");
    expect(commandAt("exec").options.map(({ long }) => long)).not.toContain("--json");
    const start = commandAt("start").exitOverride();
    start.parseOptions(["--allow-callback", "a", "--allow-callback", "b", "--port", "5", "--port", "6"]);
    expect(start.opts()).toMatchObject({ allowCallback: ["a", "b"], port: "6" });
  });

  test("lists the secrets, which are variables alone, in the help of start", () => {
    const streams = written();
    commandAt("start").outputHelp();
    expect(streams.out).toContain("\n  PLAZA_CONTROL_KEY  ");
    expect(streams.out).toContain("\n  PLAZA_SECRET_KEY  ");
    expect(streams.out).not.toContain("\n  PLAZA_PORT ");
  });
});
