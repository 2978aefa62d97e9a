/** Each command that is made from a route runs against the control API; the test compares the API's responses with its OpenAPI document. */
import { expect, test } from "bun:test";
import { commandLine } from "#harness/cli/command-line";
import { controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { openControl } from "#harness/control";
import { fullWorld } from "#harness/full-world";
import { type RouteCommand, routeGroups } from "../route-commands.ts";

/** The command lines, in an order in which the world has the nodes that each command needs. */
const lines: readonly string[] = [
  "token mint --type app --app 1001",
  "token list",
  "token create-app --name Mine",
  "world export",
  "node list labels",
  "node show labels 5001",
  "node make labels --set page=2001 --set name=new",
  "node change labels 5001 --set name=better",
  "node delete labels 5001",
  "clock show",
  "clock set --frozen",
  "clock advance 60",
  "clock freeze",
  "clock run",
  "clock deadlines",
  "fault add --operation listPersonas --status 503",
  "fault list",
  "fault clear",
  "callback list",
  "expect requests --count 0",
  "expect app-events 1001 --count 0",
  "expect webhooks --count 0",
  "events list 1001",
  "events names 1001",
  "events sums 1001",
  "events tested 1001",
  "events report 1001",
  "events device 1001 --advertiser-id 6d92078a-8246-4ba4-ae5b-76104861e7dc",
  "events retention",
  "events retain --days 30",
  "in-app chatapp --account 4001 --field messages --value {}",
  "in-app message --social-account 6001 --text hi",
  "in-app comment --social-account 6001 --media 6101 --text nice",
  "in-app messages --social-account 6001",
  "in-app remove-app --app 1001 --user 3001",
  "in-app data-deletions",
  "live list",
  "live show 5301",
  "live publish 5301",
  "live sealing 5301 --fails",
  "live viewer 5301",
  "live end 5301",
  "feed uploads 8101",
  "person erase 9001",
  "person erasures",
  "version calendar",
  "version outlook",
  "key create --access read",
  "key list",
  "audit list",
];

/**
 * Commands that need other worlds, a failed delivery, an upload, an open notice, or a data folder with keys. The requests of these commands are in
 * `command-lines.test.ts`.
 */
const elsewhere = [
  ...["token copy", "token revoke", "world list", "world delete", "world reset", "world snapshot", "world snapshots", "world restore"],
  ...[
    "world delete-snapshot",
    "world move",
    "callback pause",
    "callback resume",
    "events activate",
    "events deactivate",
    "events click",
    "events impression",
  ],
  ...["in-app postback", "in-app live-comment", "live takedown", "live notice", "live restore", "feed report", "person erasure"],
  ...["key revoke", "key rotate", "key sealing", "key rotate-sealing"],
];

test("the command prints what the route returns", async () => {
  const { request, plaza } = await openControl({ world: fullWorld });
  const stub = controlStub(async ({ method, path, body }) => {
    const { status, body: returned } = await request(method, path.replace("/v1/worlds/default/", ""), body as object);
    last = returned;
    return Response.json(returned, { status });
  });
  const streams = written();
  let last: { readonly data?: unknown[]; readonly paging?: object; readonly warnings?: unknown } = {};
  for (const line of lines) {
    Object.assign(streams, { out: "", err: "" });
    const code = await commandLine(...line.split(" "), ...stub.flags, "--json");
    expect({ line, code, err: streams.err }).toEqual({ line, code: 0, err: "" });
    if (last.paging === undefined) expect({ line, printed: JSON.parse(streams.out) }).toEqual({ line, printed: last as unknown });
    else
      expect({
        line,
        printed: streams.out
          .split("\n")
          .slice(0, -1)
          .map((one) => JSON.parse(one)),
      }).toEqual({ line, printed: last.data as unknown[] });
  }
  await plaza.close();
});

/** Commands that are not made from a route, but print the entries of a route's response; requests are printed with the newest last. */
const byHand = [
  { line: "logs", path: "requests?limit=20", isReversed: true },
  { line: "deliveries list", path: "deliveries?limit=20", isReversed: false },
];

test("a command that is not made from a route prints entries of the response as well", async () => {
  const { request, plaza } = await openControl({ world: fullWorld });
  const stub = controlStub(async ({ method, path, body }) => {
    const { status, body: returned } = await request(method, path.replace("/v1/worlds/default/", ""), body as object);
    return Response.json(returned, { status });
  });
  for (const [at, operation] of ["listLabels", "listPersonas"].entries())
    plaza.world.requests.add({
      ...{ trace_id: `A${at}`, operation, method: "GET", surface: "base", path: "/v26.0/2001", query: "", status: 200 },
      ...{ time: at, duration_ms: 1, app: "1001", request_body: "", response_body: "{}" },
    });
  const streams = written();
  for (const { line, path, isReversed } of byHand) {
    Object.assign(streams, { out: "", err: "" });
    expect({ line, code: await commandLine(...line.split(" "), ...stub.flags, "--json") }).toEqual({ line, code: 0 });
    const { data } = (await request("GET", path)).body as { data: unknown[] };
    const printed = streams.out
      .split("\n")
      .slice(0, -1)
      .map((one) => JSON.parse(one));
    expect({ line, printed }).toEqual({ line, printed: isReversed ? data.reverse() : data });
  }
  Object.assign(streams, { out: "", err: "" });
  expect(await commandLine("explain", "A1", ...stub.flags, "--json")).toBe(0);
  expect(JSON.parse(streams.out)).toEqual((await request("GET", "requests/A1")).body);
  await plaza.close();
});

test("each command is tried here, or named with the reason why not", () => {
  const all = Object.entries(routeGroups as Readonly<Record<string, { readonly commands: Readonly<Record<string, RouteCommand>> }>>);
  const names = all.flatMap(([group, { commands }]) => Object.keys(commands).map((name) => `${group} ${name}`));
  const tried = lines.map((line) => line.split(" ").slice(0, 2).join(" "));
  expect(new Set([...tried, ...elsewhere])).toEqual(new Set(names));
});
