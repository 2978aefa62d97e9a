import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, PROGRAM, runPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const WORLD = `
profile: clients
apps: [{id: "1001", secret: s3cret, callback: {url: "http://127.0.0.1:9/hook", verified: true}, subscriptions: [{object: chatapp_business_account, fields: [messages]}]}]
users: [{id: "3001"}]
pages: [{id: "2001", name: Cafe, roles: [{user: "3001", tasks: [MESSAGING]}]}]
chatapp_accounts: [{id: "4001", subscribed_apps: [{app: "1001"}]}]
tokens: [{token: page-token, type: page, app: "1001", page: "2001", user: "3001", scopes: [pages_messaging]}]
`;

/** This app answers a message with a persona. The app knows Plaza only by its environment variables, and the world by the name \`default\`. */
const SCENARIO = `
import { createServer } from "node:http";
const { PLAZA_BASE_URL, PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY, STORM_CALLBACK_PORT, STORM_CALLBACK_URL } = process.env;
const isRight = process.argv[2] === "right";
const known = new Set();
let answered;
const done = new Promise((resolve) => { answered = resolve; });
const server = createServer(async (request, response) => {
  for await (const _ of request);
  response.end();
  const id = request.headers["webhook-id"];
  if (isRight && known.has(id)) return;
  known.add(id);
  const body = new URLSearchParams({ name: "Bo", profile_picture_url: "https://example.com/a.png", access_token: "page-token" });
  const sent = await fetch(PLAZA_BASE_URL + "/v26.0/2001/personas", { method: "POST", body });
  if (!sent.ok) throw new Error(await sent.text());
  await sent.text();
  setTimeout(answered, 200);
});
await new Promise((resolve) => server.listen(Number(STORM_CALLBACK_PORT), "127.0.0.1", resolve));
if (new URL(STORM_CALLBACK_URL).pathname !== "/hook") throw new Error("the path of the callback is lost");
const headers = { authorization: "Bearer " + PLAZA_CONTROL_KEY };
const messages = [{ from: "15550199", id: "m1", timestamp: "1795000000", type: "text", text: { body: "hello" } }];
const event = JSON.stringify({ account: "4001", field: "messages", value: { messaging_product: "chatapp", messages } });
await fetch(PLAZA_CONTROL_URL + "/v1/worlds/default/in-app/chatapp", { method: "POST", headers, body: event });
await done;
process.exit(0);
`;

function scenarioFolder(): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "world.yaml"), WORLD);
  writeFileSync(join(cwd, "scenario.mjs"), SCENARIO);
  return cwd;
}

const COMMAND = ["storm", "--world", "world.yaml", "--only", "twice"];

test("a scenario that answers a repeated webhook twice fails, and the one that knows its webhooks passes", async () => {
  const cwd = scenarioFolder();
  const wrong = await runPlaza([...COMMAND, "--data", "data", "--junit", "storm.xml", "--", "node", "scenario.mjs"], { cwd });
  expect({ code: wrong.code, stderr: wrong.stderr }).toEqual({ code: 1, stderr: "" });
  expect(wrong.stdout).toContain("the world ends with 2 personas; without a fault it ends with 1");
  expect(wrong.stdout).toContain("store the webhook-id of each webhook");
  // The printed line uses the data that the first run has created.
  const again = "--world world.yaml --only twice --data data --junit storm.xml --import --schedule messages#1=twice";
  expect(wrong.stdout).toContain(`plaza storm ${again} -- node scenario.mjs`);
  expect(readFileSync(join(cwd, "storm.xml"), "utf8")).toContain('<testcase classname="storm" name="messages#1=twice"');
  const expectation = `${PROGRAM} expect requests --operation createPersona`;
  const right = await runPlaza(["storm", ...again.split(" "), "--invariant", expectation, "--", "node", "scenario.mjs", "right"], { cwd });
  expect({ code: right.code, last: right.stdout.trim().split("\n").at(-1) }).toMatchObject({ code: 0, last: expect.stringContaining("all passed") });
});

test("an invariant is a command that finds the world of the run", async () => {
  const cwd = scenarioFolder();
  const count = `node -e "fetch(process.env.PLAZA_CONTROL_URL + '/v1/worlds/default/nodes/personas', { headers: { authorization: 'Bearer ' + process.env.PLAZA_CONTROL_KEY } }).then((response) => response.json()).then(({ data }) => process.exit(data.length === 1 ? 0 : 3))" # postgres://u:s3cret@h/d`;
  const { code, stdout } = await runPlaza([...COMMAND, "--invariant", count, "--", "node", "scenario.mjs"], { cwd });
  expect(code).toBe(1);
  expect(stdout).toContain("does not hold: the command ended with 3");
  // The printed line that runs a schedule again does not contain the password of a database.
  expect(stdout).toContain(" # postgres://u:…@h/d' --schedule");
  expect(stdout).not.toContain("s3cret");
});

test("a scenario that gives its world another content by the test kit meets the faults there", async () => {
  const { code, stdout, stderr } = await runPlaza(["storm", "--only", "503", "--", process.execPath, join(import.meta.dir, "suites/labels.ts")]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain("createLabel#1=503");
});

test.each([
  [["--pairs", "many"], '--pairs: "many" is not a whole number of at least 0'],
  [["--jobs", "0"], '--jobs: "0" is not a whole number of at least 1'],
  [["--only", "504"], "there is no fault 504"],
  [["--schedule", "createLabel#1=503"], "the run has no createLabel#1"],
])("%p is refused before any fault, with exit code 2", async (options, message) => {
  const { code, stderr } = await runPlaza([...COMMAND.slice(0, 3), ...options, "--", "node", "scenario.mjs"], { cwd: scenarioFolder() });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("a command that is missing, or fails without a fault, is named", async () => {
  expect((await runPlaza(["storm", "--", "no-such-program"])).stderr).toContain("no-such-program cannot be run");
  const { code, stderr } = await runPlaza(["storm", "--", "node", "-e", "console.error('Error: no luck'); process.exit(4)"]);
  expect({ code, isNamed: stderr.includes("the scenario fails without any fault: the command ended with 4\nError: no luck") }).toEqual({
    code: 2,
    isNamed: true,
  });
});
