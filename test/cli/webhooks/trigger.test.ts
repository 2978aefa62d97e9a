import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startReceiver, valuesAt } from "#harness/receiver";
import { type Server, startServer, worldFile } from "#harness/server";
import { endAll, newFolder, runPlaza } from "../plaza-process.ts";

afterEach(endAll);

const worldAt = (url: string) => ({
  clock: { now: 1_795_000_000, frozen: true },
  apps: [
    {
      id: "1001",
      secret: "s3cret",
      callback: { url },
      subscriptions: [
        { object: "chatapp_business_account", fields: ["messages", "calls"] },
        { object: "page", fields: ["custom_labels"] },
      ],
    },
  ],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  pages: [{ id: "2001", subscribed_apps: [{ app: "1001", subscribed_fields: ["custom_labels"] }] }],
});

async function open() {
  const receiver = startReceiver();
  const server = await startServer(["--data", ":memory:", "--world", worldFile(worldAt(receiver.url))]);
  const env = envOf(server);
  return { server, receiver, plaza: (...args: string[]) => runPlaza(args, { env }) };
}

const envOf = ({ control_url, control_key }: Server) => ({ PLAZA_CONTROL_URL: control_url, PLAZA_CONTROL_KEY: control_key });

function script(text: string): string {
  const file = join(newFolder(), "script.yaml");
  writeFileSync(file, text);
  return file;
}

test("--list describes every event, without a server", async () => {
  const { code, stdout, stderr } = await runPlaza(["trigger", "--list"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^page\.custom_labels +a label is created or deleted, attached to a person or detached$/m);
  expect(stdout).toMatch(/^social\.comments +\S/m);
});

test("--override changes the example, and a value that breaks the field's contract is refused with its place", async () => {
  const { plaza, receiver } = await open();
  expect((await plaza("trigger", "custom_labels", "--override", "label.name=vip", "--override", "label.id=77")).code).toBe(0);
  expect(valuesAt(receiver)).toEqual([{ action: "created", label: { id: "77", name: "vip" } }]);
  expect(await plaza("trigger", "custom_labels", "--override", "action=painted")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("value.action"),
  });
});

test("a script triggers its events step by step, moves the clock and merges nodes", async () => {
  const { plaza, receiver } = await open();
  const file = script(`
- world: {labels: [{id: "5001", page: "2001", name: vip}]}
- {event: custom_labels, entity: 2001, override: {label.name: vip, label.id: "5001"}}
- advance: 3600
- {event: calls, value: {after: an hour}}
`);
  const { code, stdout, stderr } = await plaza("trigger", "--script", file);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "merged labels into the world",
    expect.stringMatching(/^\d+ app 1001 .*: delivered 200 in [\d.]+ ms$/),
    "the world's time is 2026-11-18T12:06:40.000Z",
    expect.stringMatching(/^\d+ app 1001 .*: delivered 200 in [\d.]+ ms$/),
    "",
  ]);
  expect(valuesAt(receiver)).toEqual([{ action: "created", label: { id: "5001", name: "vip" } }, { after: "an hour" }]);
  expect(receiver.posts.map(({ json }) => json.entry[0].time)).toEqual([1_795_000_000, 1_795_003_600]);
});

test("a script ends with the first event that a callback refuses, and a wrong one does nothing", async () => {
  const { plaza, receiver } = await open();
  receiver.response = () => new Response(null, { status: 500 });
  expect((await plaza("trigger", "--script", script("[{event: calls}, {event: messages}]"))).code).toBe(1);
  expect(receiver.posts).toHaveLength(1);
  for (const [text, message] of [
    ["[{event: calls}, {event: mesages}]", "did you mean messages?"],
    ["[{event: calls}, {advance: soon}]", "step 2 of"],
    ["[{event: calls}, {wait: 5}]", "step 2 of"],
    ["[{event: calls, entity: x}]", "entity must be an id"],
    ["[{event: calls, value: {}, override: {a: 1}}]", "give only one of the two"],
    ["[{event: calls, times: 3}]", "times"],
    ["event: calls", "must contain a list of steps"],
    ["[", "--script"],
  ] as const)
    expect(await plaza("trigger", "--script", script(text))).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  expect(await plaza("trigger", "--script", "nowhere.yaml")).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be read") });
  expect(receiver.posts).toHaveLength(1);
});

test("plaza deliveries lists sent webhooks, shows one with its body, and sends it again", async () => {
  const { plaza, receiver } = await open();
  expect(await plaza("deliveries", "list")).toEqual({ code: 0, stdout: "", stderr: "no deliveries\n" });
  await plaza("trigger", "calls");
  receiver.response = () => new Response(null, { status: 500 });
  await plaza("trigger", "custom_labels");
  const listed = (await plaza("deliveries", "list")).stdout.trim().split("\n");
  expect(listed).toEqual([
    expect.stringMatching(/^2026-11-18T11:06:40\.000Z page\.custom_labels of 2001 \d+ app 1001 \S+: waiting \(retry\) 500 in [\d.]+ ms$/),
    expect.stringMatching(/^2026-11-18T11:06:40\.000Z chatapp_business_account\.calls\sof 4001 \d+ app 1001 \S+: delivered 200 in [\d.]+ ms$/),
  ]);
  const one = (...args: string[]) => plaza("deliveries", "list", "--json", ...args).then(({ stdout }) => JSON.parse(stdout));
  expect(await one("--status", "waiting")).toMatchObject({ field: "custom_labels" });
  expect(await one("--field", "calls", "--callback", receiver.url)).toMatchObject({ status: "delivered" });
  const { id } = await one("--limit", "1");
  expect(JSON.parse((await plaza("deliveries", "show", id)).stdout)).toMatchObject({ id, body: receiver.posts[1]?.body });
  receiver.response = () => new Response("taken");
  expect(await plaza("deliveries", "resend", id)).toEqual({ code: 0, stdout: `${id} is sent again\n`, stderr: "" });
  while ((await one("--limit", "1")).status !== "delivered") await Bun.sleep(20);
  expect(receiver.posts.map(({ body }) => body)).toEqual([expect.any(String), receiver.posts[1]?.body as string, receiver.posts[1]?.body as string]);
  expect((await plaza("deliveries", "resend", "--since", "1795000000", "--callback", receiver.url)).stdout).toBe("2 sent again\n");
  expect((await plaza("deliveries", "resend", "--since", "2030-01-01")).stdout).toBe("0 sent again\n");
});
