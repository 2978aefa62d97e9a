/** Checks `plaza start` with a world file that changes, an export at the end, a custom handler, and a config file with another name. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sharedPostgres } from "#harness/postgres-cluster";
import { startReceiver } from "#harness/receiver";
import { endAll, newFolder, type RunningPlaza, runPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const CAFE = 'apps: [{id: "1001", secret: s3cret}]\npages: [{id: "2001", name: Cafe}]\n';

function worldFile(text: string): string {
  const file = join(newFolder(), "world.yaml");
  writeFileSync(file, text);
  return file;
}

/** Waits until the server's log has these words. */
function logOf({ process }: RunningPlaza): (words: string) => Promise<void> {
  let text = "";
  void (async () => {
    for await (const part of process.stderr) text += new TextDecoder().decode(part);
  })();
  return async (words) => {
    while (!text.includes(words)) await Bun.sleep(20);
  };
}

const nameOf = async (plaza: RunningPlaza) => (await plaza.control("GET", "nodes/pages/2001")).body.name;

describe("--watch", () => {
  test("a written or replaced file changes the world; a wrong or empty one is named in the log and changes nothing", async () => {
    const file = worldFile(CAFE);
    const plaza = await startPlaza(["--data", ":memory:", "--world", file, "--watch"]);
    const isLogged = logOf(plaza);
    expect(await nameOf(plaza)).toBe("Cafe");
    writeFileSync(file, CAFE.replace("Cafe", "Bar"));
    while ((await nameOf(plaza)) !== "Bar") await Bun.sleep(20);
    writeFileSync(file, `${CAFE}labels: [{id: "5001", page: "999", name: vip}]\n`);
    await isLogged("labels[0].page refers to 999, which does not exist (line 3)");
    writeFileSync(file, "");
    await isLogged("the file is empty");
    expect(await nameOf(plaza)).toBe("Bar");
    // Replaces the world file as editors do: a new file is written and renamed to the old name.
    writeFileSync(`${file}.new`, CAFE.replace("Cafe", "Pub"));
    renameSync(`${file}.new`, file);
    while ((await nameOf(plaza)) !== "Pub") await Bun.sleep(20);
  });

  test("a reset loads the current file, with the handler of --callback, and keeps following it", async () => {
    const file = worldFile(CAFE);
    const url = "http://127.0.0.1:9/hook";
    const plaza = await startPlaza(["--data", newFolder(), "--world", file, "--watch", "--callback", url]);
    expect((await plaza.control("PATCH", "nodes/pages/2001", { name: "Changed by an app" })).status).toBe(200);
    expect((await plaza.control("POST", "reset")).status).toBe(200);
    expect(await nameOf(plaza)).toBe("Cafe");
    expect((await plaza.control("GET", "nodes/apps/1001")).body.callback).toMatchObject({ url });
    writeFileSync(file, CAFE.replace("Cafe", "Bar"));
    while ((await nameOf(plaza)) !== "Bar") await Bun.sleep(20);
  });

  test("all processes of --workers see the changes", async () => {
    const file = worldFile(
      `${CAFE}users: [{id: "3001"}]\npersonas: [{id: "5101", page: "2001", name: Bo}]\ntokens: [{token: demo-page-token, type: page, app: "1001", page: "2001", scopes: [pages_messaging]}]\n`,
    );
    const data = await (await sharedPostgres()).newDatabase();
    const plaza = await startPlaza(["--data", data, "--workers", "2", "--world", file, "--watch"]);
    const names = async () => {
      const responses = await Promise.all(Array.from({ length: 8 }, () => plaza.page("personas")));
      return new Set(responses.map(({ body }) => (body.data as { name: string }[] | undefined)?.[0]?.name));
    };
    expect(await names()).toEqual(new Set(["Bo"]));
    writeFileSync(file, readFileSync(file, "utf8").replace("name: Bo", "name: Mo"));
    while (!(await names()).has("Mo") || (await names()).size > 1) await Bun.sleep(20);
    expect((await plaza.end()).code).toBe(0);
  });

  test("it needs a file", async () => {
    expect(await runPlaza(["start", "--data", ":memory:", "--watch"])).toMatchObject({ code: 2, stderr: "plaza: --watch: requires --world FILE\n" });
  });
});

describe("--export", () => {
  test.each([1, 2])("writes the world's state when %d processes end, readable only by its owner, and it can be loaded again", async (workers) => {
    const file = join(newFolder(), "after.json");
    const data = workers === 1 ? ":memory:" : await (await sharedPostgres()).newDatabase();
    const first = await startPlaza(["--data", data, "--workers", String(workers), "--export", file]);
    expect((await first.control("POST", "nodes/labels", { id: "77", page: "2001", name: "kept" })).status).toBe(201);
    expect(existsSync(file)).toBeFalse();
    expect((await first.end()).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = await startPlaza(["--data", ":memory:", "--world", file]);
    expect((await second.control("GET", "nodes/labels/77")).body.name).toBe("kept");
    expect((await second.page("custom_labels")).status).toBe(200);
  });

  test.each([
    [[], undefined],
    [["--export-secrets"], "s3cret"],
  ])("writes secrets only if they are requested: %p", async (flags, secret) => {
    const file = join(newFolder(), "after.json");
    const plaza = await startPlaza(["--data", ":memory:", "--world", worldFile(CAFE), "--export", file, ...flags]);
    expect((await plaza.end()).code).toBe(0);
    expect(JSON.parse(readFileSync(file, "utf8")).apps[0].secret).toBe(secret);
  });

  test("a path that cannot be written is refused at the start, and a failure at the end is reported", async () => {
    const nowhere = await runPlaza(["start", "--data", ":memory:", "--export", "/no/such/folder/world.json"]);
    expect(nowhere).toMatchObject({ code: 2, stderr: "plaza: --export: there is no folder /no/such/folder\n" });
    const alone = await runPlaza(["start", "--data", ":memory:", "--export-secrets"]);
    expect(alone).toMatchObject({ code: 2, stderr: "plaza: --export-secrets: requires --export FILE\n" });
    const file = worldFile(CAFE);
    for (const name of [file, `${dirname(file)}/./${basename(file)}`]) {
      const same = await runPlaza(["start", "--data", ":memory:", "--world", file, "--export", name]);
      expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("is the file of --world") });
    }
    const folder = newFolder();
    const plaza = await startPlaza(["--data", ":memory:", "--export", folder]);
    const { code, stderr } = await plaza.end();
    expect(code).toBe(1);
    expect(stderr).toContain(`the world could not be written to ${folder}`);
  });
});

describe("--callback", () => {
  test("sends every webhook of the demo world to an own handler, even after a restart with another address", async () => {
    const data = newFolder();
    for (let start = 0; start < 2; start++) {
      const receiver = startReceiver();
      const plaza = await startPlaza(["--data", data, "--callback", receiver.url]);
      const events = [
        { object: "chatapp_business_account", field: "messages", entity: "4001" },
        { object: "social", field: "messages", entity: "6001" },
        { object: "social", field: "comments", entity: "6001" },
        { object: "page", field: "custom_labels", entity: "2001" },
        { object: "page", field: "live_videos", entity: "2001" },
      ];
      for (const event of events)
        expect({ event, ...(await plaza.control("POST", "deliveries/trigger", event)) }).toMatchObject({ event, status: 200 });
      await plaza.control("POST", "clock/advance", { seconds: 1 });
      expect(receiver.posts).toHaveLength(events.length);
      await plaza.end();
    }
  });

  test("an impossible value is refused", async () => {
    const start = (args: readonly string[], env: Record<string, string> = {}) =>
      runPlaza(["start", "--data", ":memory:", "--port", "0", "--control-port", "0", ...args], { env });
    const callback = ["--callback", "http://localhost:3000/hook"];
    expect(await start(["--callback", "localhost:3000"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not an http or https address"),
    });
    expect(await start(["--callback", "http://host.docker.internal:3000/hook"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "--callback: host.docker.internal is a name of an inner network; --allow-callback host.docker.internal allows it",
      ),
    });
    const several = worldFile('apps: [{id: "1001"}, {id: "1002"}]');
    expect(await start([...callback, "--world", several])).toMatchObject({ code: 2, stderr: expect.stringContaining("the world has several apps") });
    const none = worldFile("pages: []");
    expect(await start([...callback, "--world", none])).toMatchObject({ code: 2, stderr: expect.stringContaining("the world has no app") });
    const env = { PLAZA_CONTROL_KEY: "0123456789abcdef" };
    expect(await start([...callback, "--no-sandbox"], env)).toMatchObject({ code: 2, stderr: expect.stringContaining("is for the sandbox") });
  });
});

describe("--config", () => {
  test("names the config file, for the start and for commands, like PLAZA_CONFIG; the flag has precedence", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "one.yaml"), "data: first\nprofile: clients\n");
    writeFileSync(join(cwd, "two.yaml"), "data: second\n");
    const env = { PLAZA_CONFIG: "two.yaml" };
    await startPlaza(["--config", "one.yaml"], { cwd, env });
    await startPlaza([], { cwd, env });
    const worlds = async (args: readonly string[]) =>
      JSON.parse((await runPlaza(["world", "list", ...args], { cwd, env })).stdout) as { profile: string };
    expect((await worlds(["--config", "one.yaml"])).profile).toBe("clients");
    expect((await worlds([])).profile).toBe("strict");
  });

  test("a file that is missing, or is not a map, is named", async () => {
    const cwd = newFolder();
    const start = (...args: string[]) => runPlaza(["start", "--data", ":memory:", ...args], { cwd });
    expect(await start("--config", "none.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^plaza: --config: none.yaml cannot be read: /),
    });
    writeFileSync(join(cwd, "list.yaml"), "- 1\n");
    expect(await start("--config", "list.yaml")).toMatchObject({ code: 2, stderr: "plaza: list.yaml: must contain a map of options\n" });
    writeFileSync(join(cwd, "own.yaml"), "config: other.yaml\n");
    expect(await start("--config", "own.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("config in own.yaml: there is no such option"),
    });
  });
});
