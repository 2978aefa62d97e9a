/**
 * Checks that each webhook arrives at least once, and seldom more than once. The server is killed many times in the middle of its deliveries, while
 * the receiver fails three requests in ten.
 */
import { test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres, startPostgresCluster } from "#harness/postgres-cluster";
import { isProving, tries } from "#harness/proof";
import { startServer, temporaryFolder, worldFile } from "#harness/server";
import { startReceiverProcess } from "../webhooks/receiver-process.ts";
import { Ledger, settle, worldOf } from "./webhook-ledger.ts";

const WRITERS = 16;
const FAILING = 0.3;
/**
 * The number of events that are acknowledged before a kill. Each kill of the server waits for a few more events than the kill before, so that it
 * comes at a different moment of the delivery.
 */
const LOAD_EVENTS = 2_500;
const KILLS = tries(3, 20);

async function killAgainAndAgain(data: string): Promise<void> {
  const receiver = await startReceiverProcess(FAILING);
  const ledger = new Ledger();
  const world = worldFile(worldOf(receiver));
  let server = await startServer(["--data", data, "--world", world]);
  for (let kill = 0; kill < KILLS; kill++) {
    const writers = Array.from({ length: WRITERS }, () => ledger.write(server, () => false));
    await ledger.grows(LOAD_EVENTS + 37 * kill);
    await server.kill();
    await Promise.all(writers);
    server = await startServer(["--data", data]);
  }
  await settle(server, ledger, receiver, data.startsWith("postgres") ? 40_000 : 20_000);
  ledger.check();
}

test(`killed ${KILLS} times on SQLite`, () => killAgainAndAgain(temporaryFolder()), isProving ? 300_000 : 60_000);

test(
  `killed ${KILLS} times on PostgreSQL`,
  async () => killAgainAndAgain(await (await sharedPostgres()).newDatabase()),
  isProving ? 300_000 : 90_000,
);

test("PostgreSQL restarted in the middle", async () => {
  const cluster = await startPostgresCluster();
  afterThisTest(() => cluster.stop());
  const receiver = await startReceiverProcess(FAILING);
  const ledger = new Ledger();
  const server = await startServer(["--data", await cluster.newDatabase(), "--world", worldFile(worldOf(receiver))]);
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, () => ledger.write(server, () => isOver));
  for (let restart = 0; restart < tries(1, 5); restart++) {
    await ledger.grows(LOAD_EVENTS);
    await cluster.restart("fast");
  }
  await ledger.grows(LOAD_EVENTS);
  isOver = true;
  await Promise.all(writers);
  await settle(server, ledger, receiver, 40_000);
  ledger.check();
});

test("two processes on PostgreSQL, one of which is killed: the other takes over", async () => {
  const receiver = await startReceiverProcess(FAILING);
  const ledger = new Ledger();
  const data = await (await sharedPostgres()).newDatabase();
  const one = await startServer(["--data", data, "--world", worldFile(worldOf(receiver))]);
  const other = await startServer(["--data", data]);
  let isOver = false;
  const writers = [one, other].flatMap((server) => Array.from({ length: WRITERS / 2 }, () => ledger.write(server, () => isOver)));
  await ledger.grows(LOAD_EVENTS);
  await one.kill();
  await ledger.grows(LOAD_EVENTS);
  isOver = true;
  await Promise.all(writers);
  await settle(other, ledger, receiver, 40_000);
  ledger.check();
});
