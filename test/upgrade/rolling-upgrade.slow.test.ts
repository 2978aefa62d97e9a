/** D-346, D-347: runs two releases at the same time on one PostgreSQL, under requests. The ledger records each request and its result. */
import { expect, test } from "bun:test";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { freePort } from "#harness/processes/free-port";
import { temporaryFolder, worldFile } from "#harness/server";

const RELEASE_1 = [join(import.meta.dir, "../../bin/plaza")];
const LATER = [process.execPath, join(import.meta.dir, "later-release.ts")];
const TOKEN = "page-token";

const WORLD = {
  users: [{ id: "3001", name: "Ada" }],
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", created_time: 1_767_225_600 }],
  pages: [{ id: "2001", name: "Cafe", roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  tokens: [{ token: TOKEN, type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging"] }],
};

interface Run {
  readonly child: Bun.Subprocess<"ignore", "pipe", number>;
  log(): string;
}

function run(release: 1 | 2 | 3, args: readonly string[], data: string): Run {
  const folder = temporaryFolder();
  const file = join(folder, "log");
  const child = Bun.spawn([...(release === 1 ? RELEASE_1 : LATER), ...args], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH ?? "", LATER_RELEASE: String(release), PLAZA_DATA: data, PLAZA_SANDBOX: "false" },
      ...{ PLAZA_CONTROL_KEY: "key-of-the-operator", PLAZA_SECRET_KEY: "11".repeat(32) },
    },
    ...{ stdin: "ignore", stdout: "pipe", stderr: openSync(file, "w") },
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  return { child, log: () => readFileSync(file, "utf8") };
}

async function ended({ child, log }: Run): Promise<{ code: number; text: string }> {
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return { code, text: text + log() };
}

const start = (release: 1 | 2 | 3, data: string, controlPort = 0, more: readonly string[] = []) =>
  run(release, ["start", "--json", "--quiet", "--port", "0", "--control-port", String(controlPort), "--rtmp-port", "off", ...more], data);

/** The promise resolves with the address of the graph when the server is ready. */
async function ready({ child, log }: Run): Promise<string> {
  const { value } = await child.stdout.getReader().read();
  if (value === undefined) throw new Error(`it ended with ${await child.exited}: ${log()}`);
  return (JSON.parse(new TextDecoder().decode(value)) as { base_url: string }).base_url;
}

/** Of each group of this many labels, the clients keep one until the end, and delete the others. */
const KEPT_EVERY = 20;

/** Clients behind a load balancer: each creates a label at one server, and reads the label at another server. */
class Clients {
  /** The servers to which the balancer sends requests. */
  targets: readonly string[];
  readonly created = new Map<string, string>();
  readonly wrong: string[] = [];
  readonly #busy = new Map<string, number>();
  #count = 0;
  #made = 0;
  #isEnding = false;
  readonly #loops: readonly Promise<void>[];

  constructor(targets: readonly string[]) {
    this.targets = targets;
    this.#loops = Array.from({ length: 6 }, () => this.#loop());
  }

  async rounds(count: number): Promise<void> {
    for (const until = this.#made + count; this.#made < until; ) await Bun.sleep(5);
  }

  /** Removes a server from the list as a load balancer does: the server gets no new requests, and its running requests end. */
  async leave(target: string): Promise<void> {
    this.targets = this.targets.filter((one) => one !== target);
    while ((this.#busy.get(target) ?? 0) > 0) await Bun.sleep(5);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#loops);
  }

  async #loop(): Promise<void> {
    while (!this.#isEnding) {
      const n = this.#count++;
      const name = `label-${n}`;
      const made = await this.ask(this.#target(n), "2001/custom_labels?", new URLSearchParams({ page_label_name: name }));
      const id = String(made.body.id);
      if (made.status !== 200) this.wrong.push(`create ${name}: ${made.status}`);
      else {
        this.#made++;
        this.created.set(id, name);
      }
      const read = await this.ask(this.#target(n + 1), `${id}?fields=page_label_name`);
      if (read.status !== 200 || read.body.page_label_name !== name) this.wrong.push(`read ${name}: ${read.status} ${JSON.stringify(read.body)}`);
      // A page has at most 5,000 labels, and nobody knows how fast the machine is.
      if (n % KEPT_EVERY !== 0) await this.#remove(id, this.#target(n));
    }
  }

  async #remove(id: string, target: string): Promise<void> {
    const { status } = await this.ask(target, `${id}?method=delete`, new URLSearchParams());
    if (status === 200) this.created.delete(id);
    else this.wrong.push(`delete ${id}: ${status}`);
  }

  #target(n: number): string {
    return this.targets[n % this.targets.length] as string;
  }

  async ask(target: string, path: string, body?: URLSearchParams): Promise<{ status: number; body: Record<string, unknown> }> {
    this.#busy.set(target, (this.#busy.get(target) ?? 0) + 1);
    try {
      const response = await fetch(`${target}/v26.0/${path}&access_token=${TOKEN}&oauth_token=${TOKEN}`, {
        ...(body === undefined ? {} : { method: "POST", body }),
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      return { status: 0, body: { error: String(error) } };
    } finally {
      this.#busy.set(target, (this.#busy.get(target) ?? 0) - 1);
    }
  }
}

test("D-346: three releases follow each other while clients write and read: no request is lost, and none is wrong", async () => {
  const data = await (await sharedPostgres()).newDatabase();
  const first = start(1, data, 0, ["--world", worldFile(WORLD)]);
  const one = await ready(first);
  const clients = new Clients([one]);
  await clients.rounds(600);

  // The second release waits for its migrations, and reports that it waits.
  const dry = await ended(run(2, ["migrate", "--dry-run"], data));
  expect(dry).toEqual({ code: 0, text: "default: later/priority\ndefault: later/priority_filled\n2 to run; nothing was changed\n" });
  const controlPort = freePort();
  const second = start(2, data, controlPort);
  while (!second.log().includes("waiting for plaza migrate"));
  const readyz = () => fetch(`http://127.0.0.1:${controlPort}/readyz`).catch(() => undefined);
  let response = await readyz();
  for (; response === undefined; response = await readyz());
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ error: { code: "unavailable", message: "the data waits for plaza migrate" } });
  expect((await fetch(`http://127.0.0.1:${controlPort}/healthz`)).status).toBe(200);
  const migrated = await ended(run(2, ["migrate"], data));
  expect(migrated.code).toBe(0);
  expect(migrated.text).toEndWith("2 run\n");
  expect(await ended(run(2, ["migrate"], data))).toEqual({ code: 0, text: "nothing to migrate\n" });
  const two = await ready(second);

  // Both releases serve requests, on the schema of the second release.
  clients.targets = [one, two];
  await clients.rounds(600);

  // The third release would remove columns that the first one uses.
  const early = await ended(run(3, ["migrate"], data));
  expect(early.code).toBe(2);
  expect(early.text).toMatch(
    /plaza: the migration later\/things_gone would change data that a running process of version \S+ uses: end the processes of that version/,
  );
  await clients.leave(one);
  first.child.kill("SIGTERM");
  expect(await first.child.exited).toBe(0);
  expect((await ended(run(3, ["migrate"], data))).code).toBe(0);
  const third = start(3, data);
  const three = await ready(third);
  clients.targets = [two, three];
  await clients.rounds(600);
  await clients.leave(two);
  second.child.kill("SIGTERM");
  expect(await second.child.exited).toBe(0);
  await clients.rounds(100);
  await clients.end();

  expect(clients.wrong).toEqual([]);
  for (const [id, name] of clients.created) expect((await clients.ask(three, `${id}?fields=page_label_name`)).body.page_label_name).toBe(name);
  // The second release works on the schema of the third, and the first release refuses this schema.
  await ready(start(2, data));
  const refused = await ended(start(1, data));
  expect(refused.code).toBe(2);
  expect(refused.text).toContain("this version does not know the migration later/things_gone");
});
