/** Tests the request that each command line sends to the control API, and the help of its options. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { ControlRoute } from "#control-contract/route";
import { commandLine, routes } from "#harness/cli/command-line";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { program } from "../program.ts";
import { type RouteCommand, routeGroups } from "../route-commands.ts";

const WORLD = "/v1/worlds/default";
const get = (path: string): Asked => ({ method: "GET", path });
const remove = (path: string): Asked => ({ method: "DELETE", path });
const post = (path: string, body?: unknown): Asked => ({ method: "POST", path, ...(body === undefined ? {} : { body }) });

describe("a command sends", () => {
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
    ["token copy --id 7", post(`${WORLD}/tokens/7/copy`)],
    ["node list labels", get(`${WORLD}/nodes/labels?limit=1000`)],
    ["node show labels 5/1", get(`${WORLD}/nodes/labels/5%2F1`)],
    ["node delete labels 5 --world-name w", remove("/v1/worlds/w/nodes/labels/5")],
    [
      "node make labels --set page=2001 --set page_label_name=vip --set users=[1,2] --set id=9007199254740993",
      post(`${WORLD}/nodes/labels`, { page: 2001, page_label_name: "vip", users: [1, 2], id: "9007199254740993" }),
    ],
    ["node change labels 5 --set page_label_name=null", { method: "PATCH", path: `${WORLD}/nodes/labels/5`, body: { page_label_name: null } }],
    ["clock show", get(`${WORLD}/clock`)],
    ["clock set --now 2030-01-01 --frozen", { method: "PUT", path: `${WORLD}/clock`, body: { now: "2030-01-01", frozen: true } }],
    ["clock advance 90.5 --within-ms 5", post(`${WORLD}/clock/advance`, { seconds: 90.5, within_ms: 5 })],
    ["clock freeze", { method: "PUT", path: `${WORLD}/clock`, body: { frozen: true } }],
    ["clock run", { method: "PUT", path: `${WORLD}/clock`, body: { frozen: false } }],
    ["clock deadlines", get(`${WORLD}/clock/deadlines`)],
    [
      'fault add --operation listPersonas --status 503 --times 2 --query {"a":"b"}',
      post(`${WORLD}/faults`, { operation: "listPersonas", status: 503, times: 2, query: { a: "b" } }),
    ],
    ["fault add --operation * --reset", post(`${WORLD}/faults`, { operation: "*", reset: true })],
    ["fault list", get(`${WORLD}/faults`)],
    ["fault clear", remove(`${WORLD}/faults`)],
    ["callback pause a/b", post(`${WORLD}/callbacks/a%2Fb/pause`)],
    ["expect requests --operation createPersona --count 2", post(`${WORLD}/requests/expect`, { operation: "createPersona", count: 2 })],
    [
      'expect webhooks --field messages --match {"entity":"2001"}',
      post(`${WORLD}/deliveries/expect`, { field: "messages", match: { entity: "2001" } }),
    ],
    ["events sums 1001 --since 5", get(`${WORLD}/app-events/1001/sums?since=5`)],
    ["events deactivate 1001 a/b", post(`${WORLD}/app-events/1001/names/a%2Fb/deactivate`)],
    ["in-app message --social-account 4 --text hi", post(`${WORLD}/in-app/self-message`, { social_account: "4", text: "hi" })],
    ["in-app messages --social-account 4", get(`${WORLD}/in-app/messages?social_account=4`)],
    ["live takedown 5301 --reason COPYRIGHT", post(`${WORLD}/live-videos/5301/takedown?reason=COPYRIGHT`)],
    ["live sealing 5301 --no-fails", { method: "PUT", path: `${WORLD}/live-videos/5301/sealing`, body: { fails: false } }],
    ["person erase 9001", remove(`${WORLD}/people/9001`)],
    ["feed report 7 2", get(`${WORLD}/feeds/7/uploads/2`)],
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
    ["world list", get("/v1/worlds?limit=1000")],
    ["world snapshots", get(`${WORLD}/snapshots`)],
    ["world delete-snapshot two", remove(`${WORLD}/snapshots/two`)],
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

  test("for a world with the text of its file, and imports a file as text with progress", async () => {
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

  test("nothing if its file is empty or cannot be read", async () => {
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

  test("once for each id, and ends with the first refusal of the control API", async () => {
    const stub = controlStub(({ path }) =>
      path.endsWith("3/replay") ? Response.json({ error: { message: "there is no 3" } }, { status: 404 }) : {},
    );
    const streams = written();
    expect(await commandLine("deliveries", "resend", "1", "2", "3", "4", ...stub.flags)).toBe(1);
    expect(stub.asked.map(({ path }) => path)).toEqual([1, 2, 3].map((id) => `${WORLD}/deliveries/${id}/replay`));
    expect(streams).toEqual({ out: "1 is sent again\n2 is sent again\n", err: "plaza: there is no 3\n" });
  });
});

const groups = Object.entries(routeGroups as Readonly<Record<string, { readonly commands: Readonly<Record<string, RouteCommand>> }>>);

describe("a command that is made from a route", () => {
  test("names an operation of the control API, and its parameters", () => {
    for (const [group, { commands }] of groups) {
      for (const [name, { operation, args = [], named = {}, sends = {}, options = [] }] of Object.entries(commands)) {
        const { path, query, body } = routes.get(operation) as ControlRoute;
        const known = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one as string);
        for (const schema of [query, body]) known.push(...Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}));
        expect({ group, name, known }).toEqual({
          ...{ group, name },
          known: expect.arrayContaining([...args, ...Object.keys(named), ...Object.keys(sends), ...options]),
        });
      }
    }
  });

  test("explains each option and argument", () => {
    const silent = (command: Command, path: string): string[] => [
      ...command.options.filter(({ description }) => description.replace(/\(.*\)/, "").trim() === "").map(({ flags }) => `${path} ${flags}`),
      ...command.registeredArguments.filter(({ description }) => description === "").map((one) => `${path} <${one.name()}>`),
      ...command.commands.filter((one) => one.name() !== "completion").flatMap((one) => silent(one, `${path} ${one.name()}`)),
    ];
    expect(silent(program({ routes }), "plaza")).toEqual([]);
  });

  test("refuses a command line without a required option, and JSON that is none, before it asks", async () => {
    const stub = controlStub();
    const streams = written();
    await expect(commandLine("token", "mint", "--app", "1", ...stub.flags)).rejects.toThrow("required option '--type <TEXT>'");
    expect(await commandLine("fault", "add", "--operation", "*", "--query", "{a", ...stub.flags)).toBe(2);
    expect(await commandLine("node", "make", "labels", "--set", "page", ...stub.flags)).toBe(2);
    expect(streams.err).toContain("plaza: --query: {a is not JSON\n");
    expect(streams.err).toContain("plaza: --set: page is not KEY=VALUE\n");
    expect(stub.asked).toEqual([]);
  });
});

describe("the program", () => {
  const commandAt = (path: string, declared: Parameters<typeof program>[0] = { routes }): Command =>
    path.split(" ").reduce((command, name) => command.commands.find((one) => one.name() === name) as Command, program(declared));
  const optionOf = (path: string, flag: string) => commandAt(path).options.find(({ long }) => long === flag);

  test("has these commands, and hides the one that only it starts", () => {
    const made = new Set(groups.flatMap(([group, { commands }]) => [group, ...Object.keys(commands).map((name) => `${group} ${name}`)]));
    const pathsBelow = (command: Command, path = ""): string[] =>
      command.commands.flatMap((one) => [`${path}${one.name()}`, ...pathsBelow(one, `${path}${one.name()} `)]);
    const byHand = (path: string) => !path.split(" ").includes("help") && !made.has(path);
    expect(pathsBelow(program({ routes })).filter(byHand)).toEqual([
      ...[
        "start",
        "exec",
        "intercept",
        "storm",
        "review",
        "trace",
        "worker",
        "status",
        "stop",
        "logs",
        "call",
        "login",
        "explain",
        "mcp",
        "doctor",
        "migrate",
        "backup",
        "init",
        "completion",
      ],
      ...["conform", "record", "compare", "schema", "listen", "trigger", "deliveries", "deliveries list", "deliveries show", "deliveries resend"],
      ...["world new", "world import", "clock next", "live play", "live stop", "feed upload"],
    ]);
    expect(pathsBelow(program({}))).toContain("token");
    expect(pathsBelow(program({}))).not.toContain("token mint");
    expect(program({ routes }).helpInformation()).toContain("\n  exec ");
    expect(program({ routes }).helpInformation()).not.toContain("worker");
  });

  test("shows the default of options with a simple value only", () => {
    expect(optionOf("start", "--control-port")?.description).toEndWith(" (default: 4001)");
    // The help shows no default for a switch, for an option without a default, and for a list.
    for (const flag of ["--pretty", "--tls-key", "--surface-hosts"]) expect(optionOf("start", flag)?.description).not.toContain("(default: ");
    expect(optionOf("exec", "--control-port")?.description).toEndWith(" (default: 0)");
    expect(optionOf("exec", "--host")?.description).toEndWith(" (default: 127.0.0.1)");
  });

  test("has the opposite of a switch if there is one, accepts repeatable options, and has no option for a secret", () => {
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

  test("lists the secrets, which can only be variables, in the help of start", () => {
    const streams = written();
    commandAt("start").outputHelp();
    expect(streams.out).toContain("\n  PLAZA_CONTROL_KEY  ");
    expect(streams.out).toContain("\n  PLAZA_SECRET_KEY  ");
    expect(streams.out).not.toContain("\n  PLAZA_PORT ");
  });
});
