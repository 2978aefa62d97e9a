/** Tests which rows of subscriptions and replaced secrets a statement takes if another app, object or page has equal rows. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Database } from "#storage/database";
import * as store from "./webhook-subscriptions.store.ts";

const APP = nodeId("1001");
const OTHER = nodeId("1002");
const PAGE = nodeId("2001");
const BAR = nodeId("2002");

const row = (object: string, more: Partial<store.SubscriptionRow> = {}): store.SubscriptionRow => ({
  ...{ object, callback_url: `https://receiver.example/${object}`, sealed_verify_token: "old.token", is_verified: 1, fields: '["feed"]' },
  ...more,
});

onEachDatabase("stored subscriptions", (kind) => {
  async function open(): Promise<Database> {
    const { database } = (await openPlaza({ database: kind })).world;
    await database.write(async (tx) => {
      for (const app of [OTHER, APP]) {
        for (const object of ["social", "page"]) await store.saveSubscription(tx, app, row(object));
        await store.saveRetiredSecret(tx, app, { sealed_secret: "old.secret", until_ms: 5 });
        for (const page of [BAR, PAGE]) await store.savePageSubscription(tx, page, app, ["feed"]);
      }
    });
    return database;
  }
  const objects = async ({ reader }: Database, app = APP): Promise<string[]> =>
    (await store.listSubscriptions(reader, app)).map(({ object, sealed_verify_token, fields }) => `${object} ${sealed_verify_token} ${fields}`);
  const apps = async ({ reader }: Database, page = PAGE): Promise<string[]> =>
    (await store.listPageSubscriptions(reader, page)).map(({ app, subscribed_fields }) => `${app} ${subscribed_fields}`);

  test("a subscription is found, saved and deleted by its app and object together", async () => {
    const database = await open();
    const find = (app: typeof APP, object: string) => store.findSubscription(database.reader, app, object);
    await database.write((tx) => store.saveSubscription(tx, APP, row("page", { fields: '["mention"]', is_verified: 0 })));
    expect(await find(APP, "page")).toEqual(row("page", { fields: '["mention"]', is_verified: 0 }));
    expect([await find(APP, "social"), await find(OTHER, "page"), await find(APP, "catalog")]).toEqual([row("social"), row("page"), undefined]);
    const has = (app: typeof APP, object: string, field: string) => store.isSubscribed(database.reader, app, object, field);
    const asked = [
      has(APP, "page", "mention"),
      has(APP, "page", "feed"),
      has(OTHER, "page", "feed"),
      has(APP, "catalog", "feed"),
      has(OTHER, "page", "fee"),
    ];
    expect(await Promise.all(asked)).toEqual([true, false, true, false, false]);
    await database.write((tx) => store.deleteSubscription(tx, APP, "page"));
    expect([await objects(database), await objects(database, OTHER)]).toEqual([
      ['social old.token ["feed"]'],
      ["page", "social"].map((object) => `${object} old.token ["feed"]`),
    ]);
  });

  test("a page of subscriptions shows the callback in use: the object's own, else the app's", async () => {
    const database = await open();
    await database.write(async (tx) => {
      await store.saveSubscription(tx, APP, row("page", { callback_url: null, is_verified: 1 }));
      await store.saveSubscription(tx, APP, row("catalog", { callback_url: null, is_verified: 1 }));
      await store.saveSubscription(tx, OTHER, row("page", { callback_url: null, is_verified: 1 }));
      await store.saveSubscription(tx, APP, row(store.ANY_OBJECT, { callback_url: "https://any.example/", is_verified: 0 }));
    });
    const shown = async (app: typeof APP) =>
      (await store.listShownSubscriptions(database.reader, app, { limit: 10 })).rows.map(
        ({ object, callback_url, is_verified }) => `${object} ${callback_url} ${is_verified}`,
      );
    expect(await shown(APP)).toEqual(["catalog https://any.example/ 0", "page https://any.example/ 0", "social https://receiver.example/social 1"]);
    expect(await shown(OTHER)).toEqual(["page null 0", "social https://receiver.example/social 1"]);
  });

  test("D-131: an app gets the events of a page if it is subscribed both to the page and to the field", async () => {
    const database = await open();
    const of = async (page: typeof PAGE, field: string) => (await store.subscribersOfPage(database.reader, page, field)).sort();
    expect([await of(PAGE, "feed"), await of(PAGE, "mention"), await of(nodeId("2003"), "feed")]).toEqual([[APP, OTHER], [], []]);
    await database.write((tx) => store.savePageSubscription(tx, PAGE, OTHER, ["mention"]));
    expect([await of(PAGE, "feed"), await of(PAGE, "mention"), await of(BAR, "feed")]).toEqual([[APP], [], [APP, OTHER]]);
    await database.write((tx) => store.saveSubscription(tx, OTHER, row("page", { fields: '["mention"]' })));
    expect([await of(PAGE, "mention"), await of(BAR, "feed")]).toEqual([[OTHER], [APP]]);
    expect([await apps(database), await apps(database, BAR)]).toEqual([
      ["1001 feed", "1002 mention"],
      ["1001 feed", "1002 feed"],
    ]);
    expect((await store.pagePageSubscriptions(database.reader, PAGE, { limit: 10 })).rows.map(({ app }) => app)).toEqual([OTHER, APP]);
    await database.write((tx) => store.deletePageSubscription(tx, PAGE, APP));
    expect([await apps(database), await apps(database, BAR)]).toEqual([["1002 mention"], ["1001 feed", "1002 feed"]]);
  });

  test("secrets that are sealed with another key are counted, and sealed again for one app, unless they change", async () => {
    const database = await open();
    const { reader } = database;
    await database.write((tx) => store.saveSubscription(tx, APP, row("catalog", { sealed_verify_token: null })));
    expect([await store.countSealedOtherwise(reader, "old."), await store.countSealedOtherwise(reader, "new.")]).toEqual([0, 6]);
    await database.write((tx) => store.resealOfApp(tx, APP, (sealed) => sealed.replace("old.", "new.")));
    expect([await store.countSealedOtherwise(reader, "old."), await store.countSealedOtherwise(reader, "new.")]).toEqual([3, 3]);
    expect(await objects(database)).toEqual(['catalog null ["feed"]', 'page new.token ["feed"]', 'social new.token ["feed"]']);
    expect([await store.findRetiredSecret(reader, APP), await store.findRetiredSecret(reader, OTHER)]).toEqual([
      { sealed_secret: "new.secret", until_ms: 5 },
      { sealed_secret: "old.secret", until_ms: 5 },
    ]);
    await database.write((tx) => store.resealOfApp(tx, OTHER, (sealed) => (sealed.endsWith("secret") ? undefined : "own")));
    expect([await objects(database, OTHER), (await store.findRetiredSecret(reader, OTHER))?.sealed_secret]).toEqual([
      ['page own ["feed"]', 'social own ["feed"]'],
      "old.secret",
    ]);
  });

  test("deleting an app, or a page, deletes its own rows and no others", async () => {
    const database = await open();
    await database.write((tx) => store.deleteAllOf(tx, APP));
    expect([await objects(database), await objects(database, OTHER), await apps(database)]).toEqual([
      [],
      ['page old.token ["feed"]', 'social old.token ["feed"]'],
      ["1002 feed"],
    ]);
    expect([await store.findRetiredSecret(database.reader, APP), await store.findRetiredSecret(database.reader, OTHER)]).toEqual([
      undefined,
      { sealed_secret: "old.secret", until_ms: 5 },
    ]);
    await database.write((tx) => store.deleteAllOf(tx, PAGE));
    expect([await apps(database), await apps(database, BAR), (await objects(database, OTHER)).length]).toEqual([[], ["1002 feed"], 2]);
  });
});
