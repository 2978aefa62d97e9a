/** Tests what happens to the waiting webhooks of an account or a number if the entry of the account or number changes. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { addressOf, expectBounds } from "#harness/schemas/bounds";
import { changeEntry, findEntry, insertEntry, removeEntry } from "#harness/sections";
import { cafe } from "#harness/worlds";
import type { Transaction } from "#storage/database";
import { chatappAccountSection, phoneNumberSection } from "./chatapp-accounts.world.ts";

const [A, B, P, Q] = ["https://a.example", "https://b.example", "https://p.example", "https://q.example"] as const;
const to = (app: string, override_callback_uri?: string) => ({ app, ...(override_callback_uri === undefined ? {} : { override_callback_uri }) });

test("H1-4: the address of an override is an http or https address of at most 200 characters", () => {
  const wrong = [addressOf(201), "", "x", "ftp://a.example"].map((address) => [to("1001", address)]);
  const overrides = { right: [[], [to("1001", addressOf(200))], [to("1001", "HTTP://a.example")]], wrong };
  expectBounds(chatappAccountSection.entry, { id: "4001" }, { subscribed_apps: { ...overrides, right: [...overrides.right, [to("1001")]] } });
  expectBounds(phoneNumberSection.entry, { id: "4101", account: "4001" }, { overrides: { ...overrides, wrong: [...overrides.wrong, [to("1001")]] } });
});

onEachDatabase("an account and its number", (database) => {
  async function open() {
    const plaza = await openPlaza({
      database,
      world: {
        ...cafe,
        chatapp_accounts: [{ id: "4001", name: "Chat", subscribed_apps: [to("1001", A), to("1002")] }, { id: "4002" }],
        phone_numbers: [{ id: "4101", account: "4001", overrides: [to("1001", P), to("1002", Q)] }],
      },
    });
    const reported: string[] = [];
    Object.assign(plaza.world.webhooks, {
      resumeUrl: async (_: Transaction, app: string, url: string) => void reported.push(`resume ${app} ${url}`),
      routesChanged: async (_: Transaction, app: string) => void reported.push(`routes ${app}`),
      subscriptionsChanged: async (_: Transaction, app: string) => void reported.push(`subscriptions ${app}`),
    });
    const change = async (key: string, id: string, changes: object) => {
      await changeEntry(plaza, key, id, changes);
      return reported.splice(0);
    };
    const overridesOf = async () => (await findEntry(plaza, "phone_numbers", "4101"))?.overrides;
    return { plaza, reported, overridesOf, ofAccount: (apps: object[]) => change("chatapp_accounts", "4001", { subscribed_apps: apps }), change };
  }

  test("D-63, D-137, D-138: a new address is tried again; waiting events of all apps are routed again, and end if an app has left", async () => {
    const { plaza, reported, ofAccount, change } = await open();
    const all = ["routes 1001", "routes 1002", "subscriptions 1001", "subscriptions 1002"];
    expect(await ofAccount([to("1001", A), to("1002", B)])).toEqual([`resume 1002 ${B}`, ...all]);
    expect(await change("chatapp_accounts", "4001", { name: "Changed" })).toEqual(all);
    expect(await ofAccount([to("1001", B), to("1002", A)])).toEqual([`resume 1001 ${B}`, `resume 1002 ${A}`, ...all]);
    expect(await ofAccount([to("1002", A)])).toEqual(all);
    expect(await ofAccount([to("1001"), to("1002", A)])).toEqual(["routes 1002", "routes 1001", "subscriptions 1002"]);
    await removeEntry(plaza, "chatapp_accounts", "4001");
    expect(reported).toEqual(all);
  });

  test("D-63, D-137: the same for a number's overrides", async () => {
    const { plaza, reported, change } = await open();
    const ofNumber = (overrides: object[]) => change("phone_numbers", "4101", { overrides });
    expect(await ofNumber([to("1001", P), to("1002", P)])).toEqual([`resume 1002 ${P}`, "routes 1001", "routes 1002"]);
    expect(await ofNumber([to("1002", P)])).toEqual(["routes 1001", "routes 1002"]);
    await removeEntry(plaza, "phone_numbers", "4101");
    expect(reported).toEqual(["routes 1002"]);
  });

  test("an app that stays keeps its overrides on numbers, one that leaves does not, and removed addresses are deleted", async () => {
    const { plaza, ofAccount, overridesOf } = await open();
    await ofAccount([to("1001"), to("1002")]);
    expect((await findEntry(plaza, "chatapp_accounts", "4001"))?.subscribed_apps).toEqual([to("1001"), to("1002")]);
    expect(await overridesOf()).toEqual([to("1001", P), to("1002", Q)]);
    await ofAccount([to("1002")]);
    await ofAccount([to("1001"), to("1002")]);
    expect(await overridesOf()).toEqual([to("1002", Q)]);
  });

  test("a number keeps its account, and a new one has nothing of its predecessor", async () => {
    const { plaza, overridesOf } = await open();
    await expect(changeEntry(plaza, "phone_numbers", "4101", { account: "4002" })).rejects.toThrow("cannot change");
    await removeEntry(plaza, "phone_numbers", "4101");
    await insertEntry(plaza, "phone_numbers", { id: "4101", account: "4001" });
    expect(await overridesOf()).toEqual([]);
    expect([await findEntry(plaza, "phone_numbers", "4001"), await removeEntry(plaza, "phone_numbers", "4001")]).toEqual([undefined, false]);
  });

  test("the address of an override that is not one, and an app that is listed twice, are named by their places", async () => {
    const refused = (overrides: object[]) =>
      openPlaza({ database, world: { ...cafe, chatapp_accounts: [{ id: "4001" }], phone_numbers: [{ id: "4101", account: "4001", overrides }] } });
    await expect(refused([to("1001", "mailto:a@a.example")])).rejects.toThrow(
      "phone_numbers[0].overrides[0].override_callback_uri is not an http or https address",
    );
    await expect(refused([to("1001", P), to("1001", Q)])).rejects.toThrow("phone_numbers[0].overrides[1].app repeats");
  });

  test("an override for a missing account is refused because of the account", async () => {
    const world = { ...cafe, phone_numbers: [{ id: "4101", account: "4099", overrides: [to("1001", P)] }] };
    await expect(openPlaza({ database, world })).rejects.toThrow("phone_numbers[0].account refers to 4099");
  });
});
