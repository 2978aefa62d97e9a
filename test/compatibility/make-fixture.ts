/**
 * Makes a fixture: the data that the program of this commit writes, on both databases, and its responses.
 * `node_modules/bun/bin/bun.exe test/compatibility/make-fixture.ts 0.1.0` writes `fixtures/0.1.0/`. The program never overwrites a fixture, because
 * older programs wrote the other fixtures, and nobody can write those again.
 */
import { Database } from "bun:sqlite";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { endAll, newFolder, startPlaza } from "../cli/plaza-process.ts";
import { FETCHED_FEED, fill } from "./fill.ts";
import { openFolder, openPostgres, type Place } from "./places.ts";
import { recordedRequests, requestsBehind } from "./recorded-requests.ts";
import { ask, type Recorded, type RecordedRequest, toLines } from "./responses.ts";

/** The seed, from which the program derives ids, tokens and secrets, so that they are the same each time. */
const SEED = "7";
/** The sealing key of the PostgreSQL fixture. The sealing key protects only the data of this fixture. */
const POSTGRES_KEY = Buffer.from("key of the compatibility fixture").toString("base64");

/** Starts callbacks that accept webhooks, callbacks that fail, and callbacks that are gone, and serves a feed file for the server to fetch. */
function startReceiver() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/feed.jsonl") return new Response(FETCHED_FEED);
      if (request.method === "GET") return new Response(searchParams.get("hub.challenge"));
      if (pathname.startsWith("/failing")) return new Response("not today", { status: 500 });
      return pathname === "/gone" ? new Response("never again", { status: 410 }) : new Response("thanks");
    },
  });
}

async function fillPlace({ data, env }: Place): Promise<void> {
  const empty = join(newFolder(), "empty.yaml");
  writeFileSync(empty, "users: []\n");
  const plaza = await startPlaza(["--data", data, "--world", empty, "--seed", SEED], { env });
  const receiver = startReceiver();
  await fill(plaza.ready, receiver.url.origin, readFileSync(join(import.meta.dir, "world.yaml"), "utf8"));
  const { code, stderr } = await plaza.end();
  await receiver.stop(true);
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
}

async function record({ data, env }: Place): Promise<Recorded[]> {
  const plaza = await startPlaza(["--data", data], { env });
  const recorded: Recorded[] = [];
  const waiting: RecordedRequest[] = [...recordedRequests];
  for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
    const response = await ask(plaza.ready, request);
    recorded.push(response);
    waiting.unshift(...requestsBehind(request, response.body));
  }
  await plaza.end();
  return recorded;
}

/**
 * Opens a copy of the data, and records the responses of the program. The requests are recorded twice, because responses that differ each time prove
 * nothing.
 */
async function writeResponses(folder: string, open: () => Promise<Place>): Promise<void> {
  const [first, second] = [toLines(await record(await open())), toLines(await record(await open()))];
  if (first !== second) {
    const after = second.split("\n");
    throw new Error(`the second recording differs: ${first.split("\n").filter((line, at) => line !== after[at])}`);
  }
  writeFileSync(join(folder, "responses.jsonl"), first);
  console.log(`${folder}: ${first.split("\n").length - 1} responses`);
}

async function makeSqlite(folder: string): Promise<void> {
  const data = newFolder();
  await fillPlace({ data, env: {} });
  const database = new Database(join(data, "default.sqlite"));
  database.run("VACUUM");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  mkdirSync(folder, { recursive: true });
  for (const file of ["default.sqlite", "secret.key"]) copyFileSync(join(data, file), join(folder, file));
  await writeResponses(folder, () => openFolder(folder));
}

async function makePostgres(folder: string, cluster: PostgresCluster): Promise<void> {
  const url = await cluster.newDatabase();
  await fillPlace({ data: url, env: { PLAZA_SECRET_KEY: POSTGRES_KEY } });
  const how = ["--schema=plaza_*", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100"];
  const dump = execFileSync("pg_dump", [...how, url], { encoding: "utf8" });
  mkdirSync(folder, { recursive: true });
  // Lines that begin with a backslash are commands of psql, which the database itself would not understand.
  writeFileSync(join(folder, "dump.sql"), dump.replace(/^\\.*\n/gm, ""));
  writeFileSync(join(folder, "secret.key"), `${POSTGRES_KEY}\n`);
  await writeResponses(folder, async () => openPostgres(folder, await cluster.newDatabase()));
}

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("the name of the fixture is missing");
const folder = join(import.meta.dir, "fixtures", name);
if (existsSync(folder)) throw new Error(`${folder} is there already`);
const cluster = await startPostgresCluster();
try {
  await makeSqlite(join(folder, "sqlite"));
  await makePostgres(join(folder, "postgres"), cluster);
} finally {
  await endAll();
  await cluster.stop();
}
