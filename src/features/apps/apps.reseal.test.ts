import { expect, test } from "bun:test";
import type { Config } from "#config/config";
import { keyRingOf } from "#config/secret-key";
import { exportWorld } from "#graph/worlds/file/import-export";
import { openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { everyValue } from "#harness/search/stored-values";
import { masterKeyId } from "#storage/sealing";
import { randomKey } from "#system";
import { resealSecret } from "./apps.store.ts";

const SEALING_KEY = "/v1/sealing-key";
/** The number of apps in the test, which is more than the job seals in one transaction. */
const APPS = 250;

const ownKeys = () => keyRingOf({ data: ":memory:", secret_key: undefined, further_secret_keys: [] } as unknown as Config, randomKey);

const world = {
  apps: Array.from({ length: APPS }, (_, index) => ({
    id: String(10_000 + index),
    secret: `secret of ${index}`,
    callback: { url: `https://receiver.example/${index}`, verify_token: `token of ${index}` },
    subscriptions: [{ object: "page", fields: ["live_videos"], callback: { url: "https://receiver.example/page", verify_token: `page ${index}` } }],
  })),
};

/** Returns each value in any table that looks like a sealed value. */
const sealedValues = async ({ world: { database } }: TestPlaza): Promise<string[]> =>
  (await everyValue(database)).map(({ text }) => text).filter((text) => /^v\d\./.test(text));

onEachDatabase("D-171: the sealing key is replaced", (database) => {
  const open = async () => {
    const keys = ownKeys();
    const control = await openControl({ database, world, keys });
    // The replaced secret of the app is still stored, and it is sealed as well.
    await control.request("PATCH", "nodes/apps/10000", { secret: "another secret" });
    return { ...control, keys, exported: async () => (await exportWorld(control.plaza.world, control.plaza.registry, { secrets: true })).apps };
  };

  test("a job seals every value again; the old key stays for the overlap, for what it sealed and signed, and is then deleted", async () => {
    const { plaza, request, keys, exported } = await open();
    const old = masterKeyId(keys.current);
    const before = await exported();
    const next = (await request("GET", "nodes/apps?limit=1")).body.paging.next as string;
    const cursorStatus = async () => (await request("GET", new URL(next).pathname + new URL(next).search)).status;

    const rotated = await request("POST", `${SEALING_KEY}/rotate`, { overlap_seconds: 3_600 });
    expect(rotated).toMatchObject({ status: 200, body: { previous: [{ key_id: old, valid_until: 1_795_003_600 }] } });
    expect(rotated.body.waiting).toBe(3 * APPS + 1);
    // Until the job has run, the export of the world equals the export from before the key was replaced.
    expect(await exported()).toEqual(before);
    await plaza.world.work.runDue();
    expect((await request("GET", SEALING_KEY)).body).toMatchObject({ previous: [{ key_id: old }], waiting: 0 });
    const sealed = await sealedValues(plaza);
    expect(sealed).toHaveLength(3 * APPS + 1);
    expect(sealed.filter((value) => !value.startsWith(plaza.world.sealer.prefix))).toEqual([]);
    expect(await cursorStatus()).toBe(200);
    // The job does not change values that the current key has sealed.
    await plaza.world.database.write((tx) => plaza.world.ports.get("sealed_values").schedule(tx, plaza.world));
    await plaza.world.work.runDue();
    expect(new Set(await sealedValues(plaza))).toEqual(new Set(sealed));

    plaza.time.realMs += 3_600_000;
    await plaza.world.work.runDue();
    expect((await request("GET", SEALING_KEY)).body).toEqual({ key_id: masterKeyId(keys.current), previous: [], waiting: 0 });
    expect(await exported()).toEqual(before);
    expect(await cursorStatus()).toBe(400);
  });

  test("the job may end after any of its transactions, even with another replacement in between, and nothing is lost", async () => {
    const { plaza, request, exported } = await open();
    const before = await exported();
    const { database: store, work } = plaza.world;
    const write = store.write.bind(store);
    for (let failing = 0; failing < 5; failing++) {
      await request("POST", `${SEALING_KEY}/rotate`, { overlap_seconds: 60 });
      let count = 0;
      Object.assign(store, {
        write: async (body: Parameters<typeof write>[0]) => {
          if (count++ === failing) throw new Error("the process ended here");
          return write(body);
        },
      });
      await work.runDue().catch(() => {});
      expect(count).toBeGreaterThan(failing);
      Object.assign(store, { write });
      expect(await exported()).toEqual(before);
    }
    await write((tx) => plaza.world.ports.get("sealed_values").schedule(tx, plaza.world));
    plaza.time.realMs += 60_000;
    await work.runDue();
    expect((await request("GET", SEALING_KEY)).body).toMatchObject({ previous: [], waiting: 0 });
    expect(await exported()).toEqual(before);
  });

  test("a value that no key opens stays, and keeps the previous keys", async () => {
    const { plaza, request, keys } = await open();
    const strange = plaza.world.sealer.seal("x").replace(plaza.world.sealer.prefix, "v1.0123456789abcdef.");
    const app = await plaza.world.ports.get("app").findFacts(plaza.world.database.reader, "10001" as never);
    await plaza.world.database.write((tx) => resealSecret(tx, app as never, strange));
    await request("POST", `${SEALING_KEY}/rotate`, { overlap_seconds: 60 });
    plaza.time.realMs += 60_000;
    await plaza.world.work.runDue();
    expect((await request("GET", SEALING_KEY)).body.waiting).toBe(1);
    expect(keys.previous).toHaveLength(1);
    expect(await sealedValues(plaza)).toContain(strange);
  });
});

onEachDatabase("D-171: previous keys that stay", (database) => {
  const NOW_MS = 1_795_000_000_000;

  /**
   * Returns the milliseconds after which the job runs again if the previous keys have these end times, or undefined if the job is not scheduled
   * again.
   */
  async function askedAgainIn(...ends: readonly (number | undefined)[]): Promise<number | undefined> {
    const previous = ends.map((end, at) => ({ key: new Uint8Array(32).fill(at), untilMs: end === undefined ? undefined : NOW_MS + end }));
    const keys = { current: new Uint8Array(32).fill(9), previous, isOwn: true, rotate: () => {}, retire: () => {} };
    const plaza = await openPlaza({ database, keys, world: { apps: [{ id: "1001" }] } });
    await plaza.world.database.write((tx) => plaza.world.ports.get("sealed_values").schedule(tx, plaza.world));
    await plaza.world.work.runDue();
    const [job] = (await plaza.dump(["jobs.due_ms"])) as { value: number }[];
    return job === undefined ? undefined : Number(job.value) - NOW_MS;
  }

  test("are checked at the end of the first one, and each hour while another world still needs one", async () => {
    expect([await askedAgainIn(5_000), await askedAgainIn(9_000, 5_000, undefined, 7_000)]).toEqual([5_000, 5_000]);
    expect([await askedAgainIn(0), await askedAgainIn(-1, 5_000), await askedAgainIn(1)]).toEqual([3_600_000, 3_600_000, 1]);
    // A previous key that the configuration gives has no end time.
    expect([await askedAgainIn(), await askedAgainIn(undefined)]).toEqual([undefined, undefined]);
  });
});

test("D-171: only the operator can replace a configured key", async () => {
  const { request } = await openControl();
  const refused = await request("POST", `${SEALING_KEY}/rotate`, {});
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
  expect(refused.body.error.message).toContain("PLAZA_FURTHER_SECRET_KEYS");
  expect((await request("POST", `${SEALING_KEY}/rotate`, { overlap_seconds: 1 })).body.error).toMatchObject({ parameter: "overlap_seconds" });
});
