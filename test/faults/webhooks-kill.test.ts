/**
 * At least once, and seldom more: the server is killed in the middle of its deliveries, again and again, while the receiver
 * fails three times in ten.
 */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres, startPostgresCluster } from "#harness/postgres-cluster";
import { isProving, tries } from "#harness/proof";
import { startServer, temporaryFolder, worldFile } from "#harness/server";
import { control, Ledger, settle, startReceiverProcess, worldOf } from "./webhook-ledger.ts";

const WRITERS = 32;
const FAILING = 0.3;
/** Under load before each kill. */
const LOAD_MS = 1_500;
const KILLS = tries(3, 20);

async function killAgainAndAgain(data: string): Promise<void> {
  const receiver = await startReceiverProcess(FAILING);
  const ledger = new Ledger();
  const world = worldFile(worldOf(receiver));
  let server = await startServer(["--data", data, "--world", world]);
  for (let kill = 0; kill < KILLS; kill++) {
    const writers = Array.from({ length: WRITERS }, () => ledger.write(server, () => false));
    await Bun.sleep(LOAD_MS);
    await server.kill();
    await Promise.all(writers);
    server = await startServer(["--data", data]);
  }
  await settle(server, ledger, receiver, data.startsWith("postgres") ? 40_000 : 20_000);
  const { events } = ledger.check();
  expect(events).toBeGreaterThan(KILLS * 200);
  await control(server, "clock/advance", { seconds: 0 });
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
    await Bun.sleep(LOAD_MS);
    await cluster.restart("fast");
  }
  await Bun.sleep(LOAD_MS);
  isOver = true;
  await Promise.all(writers);
  await settle(server, ledger, receiver, 40_000);
  ledger.check();
}, 120_000);

test("two processes on PostgreSQL, of which one is killed: the other takes over", async () => {
  const receiver = await startReceiverProcess(FAILING);
  const ledger = new Ledger();
  const data = await (await sharedPostgres()).newDatabase();
  const one = await startServer(["--data", data, "--world", worldFile(worldOf(receiver))]);
  const other = await startServer(["--data", data]);
  let isOver = false;
  const writers = [one, other].flatMap((server) => Array.from({ length: WRITERS / 2 }, () => ledger.write(server, () => isOver)));
  await Bun.sleep(LOAD_MS);
  await one.kill();
  await Bun.sleep(LOAD_MS);
  isOver = true;
  await Promise.all(writers);
  await settle(other, ledger, receiver, 40_000);
  ledger.check();
}, 90_000);
