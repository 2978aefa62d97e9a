import { type Static, Type } from "typebox";
import { closedMap, described, idOf, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import {
  type AccountRow,
  accountTable,
  deleteAccount,
  listSubscribedApps,
  lockAccount,
  type NumberRow,
  numberTable,
  subscribeApp,
  unsubscribeApp,
} from "./chatapp-accounts.store.ts";

/** D-57, H1-4: the address of an override has at most 200 characters. */
const overrideUri = Type.String({
  maxLength: 200,
  format: "callback",
  description: "the http or https address that gets these webhooks instead of the app's callback",
});

const accountEntry = closedMap(
  {
    id: described("the account's id", worldId),
    name: Type.String({ default: "", description: "the account's name" }),
    business: Type.Optional(described("the business that owns the account", idOf("business"))),
    subscribed_apps: Type.Array(closedMap({ app: described("the app", idOf("app")), override_callback_uri: Type.Optional(overrideUri) }), {
      default: [],
      description: "the apps that get the account's webhooks",
    }),
  },
  "a business messaging account",
);
type AccountEntry = Static<typeof accountEntry>;

const rowOf = ({ id, name, business = undefined }: AccountEntry): AccountRow => ({ id, name, business: business ?? null });

interface OverrideOf {
  readonly app: NodeId;
  readonly override_callback_uri?: string | undefined;
}

/** Throws if an app is listed twice. */
function requireSound(entries: readonly OverrideOf[], path: string): void {
  for (const [index, { app }] of entries.entries())
    if (entries.findIndex((other) => other.app === app) < index) throw new WorldProblem(`${path}[${index}].app`, `repeats the app ${app}`);
}

async function saveSubscriptions(tx: Transaction, { id, subscribed_apps }: AccountEntry, world: World): Promise<void> {
  requireSound(subscribed_apps, "subscribed_apps");
  for (const { app, override_callback_uri } of subscribed_apps) {
    await subscribeApp(tx, id, app);
    if (override_callback_uri !== undefined) await world.ports.get("account_override_writes").save(tx, id, app, undefined, override_callback_uri);
  }
}

async function subscriptionsOf(reader: Reader, id: NodeId, world: World): Promise<OverrideOf[]> {
  const subscribed = [];
  for (const app of await listSubscribedApps(reader, id)) {
    const uri = await world.ports.get("account_override").find(reader, id, app, undefined);
    subscribed.push(uri === undefined ? { app } : { app, override_callback_uri: uri });
  }
  return subscribed;
}

/**
 * D-63: chooses the callbacks of waiting events again, because overrides may have changed. D-137: resumes deliveries to each new address, because no
 * delivery to a new address has failed yet.
 */
async function reroute(tx: Transaction, before: readonly OverrideOf[], after: readonly OverrideOf[], world: World): Promise<void> {
  for (const { app, override_callback_uri: uri } of after) {
    const isKnown = before.some((one) => one.app === app && one.override_callback_uri === uri);
    if (uri !== undefined && !isKnown) await world.webhooks.resumeUrl(tx, app, uri);
  }
  for (const app of new Set([...before, ...after].map((one) => one.app))) await world.webhooks.routesChanged(tx, app);
}

export const chatappAccountSection = section({
  key: "chatapp_accounts",
  nodeType: "chatapp_account",
  entry: accountEntry,
  async insert(tx, entry, world) {
    if (!(await accountTable.insert(tx, rowOf(entry)))) return false;
    await saveSubscriptions(tx, entry, world);
    return true;
  },
  find: accountTable.find,
  list: accountTable.list,
  entryOf: async (row: AccountRow, reader, world) => ({ ...row, subscribed_apps: await subscriptionsOf(reader, nodeId(row.id), world) }),
  async replace(tx, entry, world) {
    const overrides = world.ports.get("account_override_writes");
    await lockAccount(tx, entry.id);
    await accountTable.replace(tx, rowOf(entry));
    const before = await subscriptionsOf(tx, entry.id, world);
    for (const { app } of before) {
      const isKept = entry.subscribed_apps.some((wanted) => wanted.app === app);
      if (isKept) await overrides.remove(tx, entry.id, app, undefined);
      else {
        await unsubscribeApp(tx, entry.id, app);
        await overrides.removeAll(tx, entry.id, app);
      }
    }
    await saveSubscriptions(tx, entry, world);
    await reroute(tx, before, entry.subscribed_apps, world);
    for (const { app } of before) await world.webhooks.subscriptionsChanged(tx, app);
  },
  async remove(tx, id, world) {
    await lockAccount(tx, id);
    const before = await subscriptionsOf(tx, id, world);
    if (!(await deleteAccount(tx, id))) return false;
    await reroute(tx, before, [], world);
    for (const { app } of before) await world.webhooks.subscriptionsChanged(tx, app);
    return true;
  },
});

const numberEntry = closedMap(
  {
    id: described("the phone number's id", worldId),
    account: described("the business messaging account that has the number", idOf("chatapp_account")),
    display_phone_number: Type.String({ default: "", description: "the number as people read it, e.g. +1 555 0100" }),
    verified_name: Type.String({ default: "", description: "the name that people see beside the number" }),
    overrides: Type.Array(closedMap({ app: described("the app", idOf("app")), override_callback_uri: overrideUri }), {
      default: [],
      description: "the addresses that get the number's webhooks instead of the account's addresses",
    }),
  },
  "a phone number of a business messaging account",
);
type NumberEntry = Static<typeof numberEntry>;

const numberOf = ({ overrides: _, ...row }: NumberEntry): NumberRow => row;

const overridesOf = (reader: Reader, { account, id }: NumberRow, world: World): Promise<readonly OverrideOf[]> =>
  world.ports.get("account_override").listOfNumber(reader, nodeId(account), nodeId(id));

/**
 * Throws if an app with an override is not subscribed to the account (D-57). A missing account is not reported here, because the check of references
 * reports it.
 */
async function requireSubscribed(tx: Transaction, { account, overrides }: NumberEntry): Promise<void> {
  const subscribed = (await accountTable.find(tx, account)) === undefined ? undefined : await listSubscribedApps(tx, account);
  for (const [index, { app }] of overrides.entries())
    if (subscribed?.includes(app) === false)
      throw new WorldProblem(`overrides[${index}].app`, `refers to the app ${app}, which is not subscribed to the account ${account}`);
}

async function saveOverrides(tx: Transaction, entry: NumberEntry, world: World): Promise<void> {
  const { account, id, overrides } = entry;
  requireSound(overrides, "overrides");
  await requireSubscribed(tx, entry);
  for (const { app, override_callback_uri } of overrides)
    await world.ports.get("account_override_writes").save(tx, account, app, id, override_callback_uri);
}

export const phoneNumberSection = ownedSection({
  ...numberTable,
  key: "phone_numbers",
  entry: numberEntry,
  async insert(tx, entry, world) {
    if (!(await numberTable.insert(tx, numberOf(entry)))) return false;
    await saveOverrides(tx, entry, world);
    return true;
  },
  entryOf: async (row: NumberRow, reader, world) => ({ ...row, overrides: await overridesOf(reader, row, world) }),
  async replace(tx, entry, world, stored) {
    await lockAccount(tx, entry.account);
    await numberTable.replace(tx, numberOf(entry));
    const before = await overridesOf(tx, stored, world);
    for (const { app } of before) await world.ports.get("account_override_writes").remove(tx, entry.account, app, entry.id);
    await saveOverrides(tx, entry, world);
    await reroute(tx, before, entry.overrides, world);
  },
  async remove(tx, account, id, world) {
    await lockAccount(tx, account);
    const overrides = await world.ports.get("account_override").listOfNumber(tx, account, id);
    if (!(await numberTable.remove(tx, account, id))) return false;
    for (const { app } of overrides) await world.ports.get("account_override_writes").remove(tx, account, app, id);
    await reroute(tx, overrides, [], world);
    return true;
  },
});
