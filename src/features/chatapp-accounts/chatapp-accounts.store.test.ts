/**
 * Tests which rows of accounts, numbers and subscriptions a statement takes if another account has equal rows, and which rows are deleted together.
 */
import { expect, test } from "bun:test";
import { findNode } from "#graph/worlds/nodes.store";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import { isSubscribedApp } from "./chatapp-accounts.api.ts";
import * as store from "./chatapp-accounts.store.ts";
import { chatappAccounts } from "./index.ts";

const [ONE, OTHER, THIRD] = [nodeId("4009"), nodeId("4010"), nodeId("40011")];
const [A, B] = [nodeId("1001"), nodeId("1002")];
const page = { limit: 10 };

onEachDatabase("accounts of business messaging", (kind) => {
  /** Stores two accounts of one business, each with two subscribed apps and two phone numbers, and one account without a business. */
  async function open() {
    const { world } = await openPlaza({ database: kind });
    const { database } = world;
    await database.write(async (tx) => {
      for (const id of [ONE, OTHER]) {
        expect(await store.accountTable.insert(tx, { id, name: `name ${id}`, business: "3501" })).toBe(true);
        for (const app of [B, A, A]) await store.subscribeApp(tx, id, app);
        for (const number of ["9", "10"]) {
          const row = { account: id, id: `${id}${number}`, display_phone_number: "+1", verified_name: "N" };
          expect([await store.numberTable.insert(tx, row), await store.numberTable.insert(tx, row)]).toEqual([true, false]);
        }
      }
      expect(await store.accountTable.insert(tx, { id: THIRD, name: "third", business: null })).toBe(true);
      expect(await store.accountTable.insert(tx, { id: THIRD, name: "again", business: null })).toBe(false);
    });
    return { world, database };
  }
  const numbersOf = async ({ reader }: Database, account: typeof ONE) =>
    (await store.numberTable.listOf(reader, account, page)).rows.map(({ id }) => id);
  const subscribed = async ({ reader }: Database) => ({
    one: await store.listSubscribedApps(reader, ONE),
    other: await store.listSubscribedApps(reader, OTHER),
    third: await store.listSubscribedApps(reader, THIRD),
  });

  test("each account has its own business, apps and numbers, in order", async () => {
    const { database } = await open();
    const { reader } = database;
    expect(await subscribed(database)).toEqual({ one: [A, B], other: [A, B], third: [] });
    expect((await store.pageSubscribedApps(reader, ONE, page)).rows).toEqual([B, A].map((app) => ({ account: ONE, app })));
    expect(await numbersOf(database, ONE)).toEqual(["400910", "40099"]);
    expect(await numbersOf(database, THIRD)).toEqual([]);
    expect((await store.numberTable.list(reader, page)).rows.map(({ id }) => id)).toEqual(["40099", "400910", "40109", "401010"]);
    expect((await store.accountTable.list(reader, page)).rows.map(({ id, business }) => `${id} ${business}`)).toEqual([
      ...["4009 3501", "4010 3501", "40011 null"],
    ]);
    expect(await store.accountTable.find(reader, ONE)).toEqual({ id: ONE, name: "name 4009", business: "3501" });
    expect([await store.businessOf(reader, ONE), await store.businessOf(reader, THIRD), await store.businessOf(reader, A)]).toEqual([
      ...[nodeId("3501"), undefined, undefined],
    ]);
    expect(await store.numberTable.find(reader, ONE, "40099")).toEqual({ account: ONE, id: "40099", display_phone_number: "+1", verified_name: "N" });
    expect([await store.numberTable.find(reader, ONE, "40109"), await store.numberTable.find(reader, ONE, "1")]).toEqual([undefined, undefined]);
  });

  test("a change or end of one leaves the others unchanged", async () => {
    const { database } = await open();
    const { reader } = database;
    await database.write(async (tx) => {
      await store.accountTable.replace(tx, { id: OTHER, name: "new", business: null });
      await store.numberTable.replace(tx, { account: ONE, id: "40099", display_phone_number: "+2", verified_name: "M" });
      await store.unsubscribeApp(tx, ONE, A);
      await store.unsubscribeApp(tx, ONE, A);
      expect([await store.numberTable.remove(tx, OTHER, "40109"), await store.numberTable.remove(tx, ONE, "401010")]).toEqual([true, false]);
    });
    expect((await store.accountTable.list(reader, page)).rows.map(({ name, business }) => `${name} ${business}`)).toEqual([
      ...["name 4009 3501", "new null", "third null"],
    ]);
    expect((await store.numberTable.list(reader, page)).rows.map((row) => `${row.id} ${row.display_phone_number} ${row.verified_name}`)).toEqual([
      ...["40099 +2 M", "400910 +1 N", "401010 +1 N"],
    ]);
    expect([await findNode(reader, nodeId("40109")), (await findNode(reader, nodeId("401010")))?.owner]).toEqual([undefined, OTHER]);
    expect(await subscribed(database)).toEqual({ one: [B], other: [A, B], third: [] });
    const is = (account: typeof ONE, app: typeof A) => store.isSubscribed(reader, account, app);
    expect([await is(ONE, A), await is(ONE, B), await is(OTHER, A), await is(THIRD, A)]).toEqual([false, true, true, false]);
  });

  test("a deleted account loses its own numbers and subscriptions, and no others", async () => {
    const { database } = await open();
    const { reader } = database;
    expect(await database.write((tx) => store.deleteAccount(tx, ONE))).toBe(true);
    expect(await database.write((tx) => store.deleteAccount(tx, ONE))).toBe(false);
    expect(await subscribed(database)).toEqual({ one: [], other: [A, B], third: [] });
    expect((await store.numberTable.list(reader, page)).rows.map(({ id }) => id)).toEqual(["40109", "401010"]);
    const left = [];
    for (const id of [ONE, nodeId("40099"), nodeId("400910"), OTHER, nodeId("40109")]) left.push((await findNode(reader, id))?.type);
    expect(left).toEqual([undefined, undefined, undefined, "chatapp_account", "phone_number"]);
  });

  test("AUTH-21: a removed business or app is forgotten at once, by the accounts that have it", async () => {
    const { world, database } = await open();
    const { reader } = database;
    await database.write((tx) => store.accountTable.replace(tx, { id: OTHER, name: "x", business: "3502" }));
    const maySee = (account: typeof ONE, app: typeof A) => isSubscribedApp(account, app, reader, world.ports, (fact) => world.facts(fact) as never);
    expect([await maySee(ONE, A), await maySee(OTHER, A), await maySee(ONE, B), await maySee(THIRD, A)]).toEqual([true, true, true, false]);
    await database.write(async (tx) => chatappAccounts.onOwnerDeleted?.(tx, A, world));
    expect([await maySee(ONE, A), await maySee(OTHER, A), await maySee(ONE, B)]).toEqual([false, false, true]);
    expect(await subscribed(database)).toEqual({ one: [B], other: [B], third: [] });
    await database.write(async (tx) => chatappAccounts.onOwnerDeleted?.(tx, nodeId("3501"), world));
    expect([await store.businessOf(reader, ONE), await store.businessOf(reader, OTHER)]).toEqual([undefined, nodeId("3502")]);
  });
});
