import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import {
  type AccountRow,
  deleteAccount,
  deleteNumber,
  findAccount,
  findNumber,
  insertAccount,
  insertNumber,
  listAccounts,
  listAllNumbers,
  listSubscribedApps,
  lockAccount,
  type NumberRow,
  subscribeApp,
  unsubscribeApp,
  updateAccount,
  updateNumber,
} from "./chatapp-accounts.store.ts";

const closed = { additionalProperties: false };
/** D-57: at most 200 characters (H1-4). */
const overrideUri = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

const accountEntry = Type.Object(
  {
    id: worldId,
    name: Type.String({ default: "" }),
    business: Type.Optional(worldId),
    subscribed_apps: Type.Array(Type.Object({ app: worldId, override_callback_uri: overrideUri }, closed), { default: [] }),
  },
  closed,
);
type AccountEntry = Static<typeof accountEntry>;

const rowOf = ({ id, name, business = undefined }: AccountEntry): AccountRow => ({ id, name, business: business ?? null });

interface OverrideOf {
  readonly app: NodeId;
  readonly override_callback_uri?: string | undefined;
}

/** One entry for each app, and addresses that a webhook can be sent to. */
function requireSound(entries: readonly OverrideOf[], path: string): void {
  for (const [index, { app, override_callback_uri: uri }] of entries.entries()) {
    if (entries.findIndex((other) => other.app === app) < index) throw new WorldProblem(`${path}[${index}].app`, `stands there twice: ${app}`);
    if (uri !== undefined && !/^https?:\/\//i.test(URL.parse(uri)?.href ?? ""))
      throw new WorldProblem(`${path}[${index}].override_callback_uri`, "must be an http or https address");
  }
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

const accountEntryOf = async (reader: Reader, { id, name, business }: AccountRow, world: World): Promise<WorldEntry> => ({
  ...{ id, name, ...(business === null ? {} : { business }) },
  subscribed_apps: await subscriptionsOf(reader, nodeId(id), world),
});

/** D-63: routes waiting events again, because overrides may have changed. D-137: what is set anew has not failed yet. */
async function reroute(tx: Transaction, before: readonly OverrideOf[], after: readonly OverrideOf[], world: World): Promise<void> {
  for (const { app, override_callback_uri: uri } of after) {
    const isKnown = before.some((one) => one.app === app && one.override_callback_uri === uri);
    if (uri !== undefined && !isKnown) await world.webhooks.resumeUrl(tx, app, uri);
  }
  for (const app of new Set([...before, ...after].map((one) => one.app))) await world.webhooks.routesChanged(tx, app);
}

export const chatappAccountSection: WorldSection = {
  key: "chatapp_accounts",
  entry: accountEntry,
  references: (input) => {
    const { business, subscribed_apps } = input as AccountEntry;
    return [
      ...(business === undefined ? [] : [{ path: "business", types: ["business"], id: business }]),
      ...subscribed_apps.map(({ app }, index) => ({ path: `subscribed_apps[${index}].app`, types: ["app"], id: app })),
    ];
  },
  async insert(tx, input, world) {
    if (!(await insertAccount(tx, rowOf(input as AccountEntry)))) return false;
    await saveSubscriptions(tx, input as AccountEntry, world);
    return true;
  },
  async find(reader, id, world) {
    const row = await findAccount(reader, id);
    return row === undefined ? undefined : accountEntryOf(reader, row, world);
  },
  async list(reader, page, world) {
    const found = await listAccounts(reader, page);
    const rows = [];
    for (const row of found.rows) rows.push(await accountEntryOf(reader, row, world));
    return { ...found, rows };
  },
  async replace(tx, given, world) {
    const entry = given as AccountEntry;
    const overrides = world.ports.get("account_override_writes");
    await lockAccount(tx, entry.id);
    await updateAccount(tx, rowOf(entry));
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
    const before = await subscriptionsOf(tx, nodeId(id), world);
    if (!(await deleteAccount(tx, nodeId(id)))) return false;
    await reroute(tx, before, [], world);
    for (const { app } of before) await world.webhooks.subscriptionsChanged(tx, app);
    return true;
  },
};

const numberEntry = Type.Object(
  {
    id: worldId,
    account: worldId,
    display_phone_number: Type.String({ default: "" }),
    verified_name: Type.String({ default: "" }),
    overrides: Type.Array(Type.Object({ app: worldId, override_callback_uri: Type.String({ minLength: 1, maxLength: 200 }) }, closed), {
      default: [],
    }),
  },
  closed,
);
type NumberEntry = Static<typeof numberEntry>;

const numberRowOf = ({ id, account, display_phone_number, verified_name }: NumberEntry): NumberRow => ({
  id,
  account,
  display_phone_number,
  verified_name,
});

async function numberEntryOf(reader: Reader, row: NumberRow, world: World): Promise<WorldEntry> {
  const { account, id, display_phone_number, verified_name } = row;
  const overrides = await world.ports.get("account_override").listOfNumber(reader, nodeId(account), nodeId(id));
  return { id, account, display_phone_number, verified_name, overrides };
}

/** Only a subscribed app has overrides (D-57). Of an account that is missing, the references speak. */
async function requireSubscribed(tx: Transaction, { account, overrides }: NumberEntry): Promise<void> {
  const subscribed = (await findAccount(tx, account)) === undefined ? undefined : await listSubscribedApps(tx, account);
  for (const [index, { app }] of overrides.entries())
    if (subscribed?.includes(app) === false)
      throw new WorldProblem(`overrides[${index}].app`, `refers to ${app}, which is not subscribed on ${account}`);
}

async function saveOverrides(tx: Transaction, entry: NumberEntry, world: World): Promise<void> {
  const { account, id, overrides } = entry;
  requireSound(overrides, "overrides");
  await requireSubscribed(tx, entry);
  for (const { app, override_callback_uri } of overrides)
    await world.ports.get("account_override_writes").save(tx, account, app, id, override_callback_uri);
}

async function numberOf(reader: Reader, id: string): Promise<{ row: NumberRow; account: NodeId } | undefined> {
  const node = await findNode(reader, nodeId(id));
  const row = node?.type === "phone_number" ? await findNumber(reader, node.owner, id) : undefined;
  return row === undefined ? undefined : { row, account: nodeId(row.account) };
}

export const phoneNumberSection: WorldSection = {
  key: "phone_numbers",
  entry: numberEntry,
  references: (input) => {
    const { account, overrides } = input as NumberEntry;
    return [
      { path: "account", types: ["chatapp_account"], id: account },
      ...overrides.map(({ app }, index) => ({ path: `overrides[${index}].app`, types: ["app"], id: app })),
    ];
  },
  async insert(tx, input, world) {
    if (!(await insertNumber(tx, numberRowOf(input as NumberEntry)))) return false;
    await saveOverrides(tx, input as NumberEntry, world);
    return true;
  },
  async find(reader, id, world) {
    const found = await numberOf(reader, id);
    return found === undefined ? undefined : numberEntryOf(reader, found.row, world);
  },
  async list(reader, page, world) {
    const found = await listAllNumbers(reader, page);
    const rows = [];
    for (const row of found.rows) rows.push(await numberEntryOf(reader, row, world));
    return { ...found, rows };
  },
  async replace(tx, given, world) {
    const entry = given as NumberEntry;
    const overrides = world.ports.get("account_override_writes");
    if ((await numberOf(tx, entry.id))?.account !== entry.account) throw new WorldProblem("account", "cannot change");
    await lockAccount(tx, entry.account);
    await updateNumber(tx, numberRowOf(entry));
    const before = await world.ports.get("account_override").listOfNumber(tx, entry.account, entry.id);
    for (const { app } of before) await overrides.remove(tx, entry.account, app, entry.id);
    await saveOverrides(tx, entry, world);
    await reroute(tx, before, entry.overrides, world);
  },
  async remove(tx, id, world) {
    const found = await numberOf(tx, id);
    if (found === undefined) return false;
    await lockAccount(tx, found.account);
    const overrides = await world.ports.get("account_override").listOfNumber(tx, found.account, nodeId(id));
    if (!(await deleteNumber(tx, found.account, id))) return false;
    for (const { app } of overrides) await world.ports.get("account_override_writes").remove(tx, found.account, app, nodeId(id));
    await reroute(tx, overrides, [], world);
    return true;
  },
};
