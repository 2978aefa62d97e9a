import { type Static, Type } from "typebox";
import type { AppFacts } from "#auth/app-facts";
import { hashOf } from "#auth/tokens";
import type { EntrySecrets, Reference, WorldEntry, WorldSection } from "#graph/contract/feature";
import { secondsOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { webhookObjects } from "#webhooks/catalogue/field";
import { deleteApp, deleteRoles, findApp, insertApp, insertRole, listApps, listRoles, saveApp } from "./apps.store.ts";

const closed = { additionalProperties: false };
const flag = Type.Optional(Type.Boolean());

const callback = Type.Object({ url: Type.String({ minLength: 1 }), verify_token: Type.Optional(Type.String()), verified: flag }, closed);
const object = Type.Union(webhookObjects.map((one) => Type.Literal(one)));

const entry = Type.Object(
  {
    id: worldId,
    name: Type.Optional(Type.String()),
    secret: Type.Optional(Type.String({ minLength: 1 })),
    mode: Type.Optional(Type.Union([Type.Literal("live"), Type.Literal("development")])),
    created_time: Type.Optional(worldTime),
    marketing_first_used_time: Type.Optional(worldTime),
    auto_upgrade: flag,
    require_appsecret_proof: flag,
    allow_tokenless_events: flag,
    automatic_event_logging: flag,
    access_level: Type.Optional(Type.Union([Type.Literal("standard"), Type.Literal("advanced")])),
    messaging_access: flag,
    /** For objects without their own callback. */
    callback: Type.Optional(callback),
    subscriptions: Type.Array(Type.Object({ object, fields: Type.Array(Type.String()), callback: Type.Optional(callback) }, closed), { default: [] }),
    roles: Type.Optional(
      Type.Array(
        Type.Object(
          {
            user: Type.Optional(worldId),
            microblog_user: Type.Optional(worldId),
            role: Type.Union([
              Type.Literal("administrator"),
              Type.Literal("developer"),
              Type.Literal("tester"),
              Type.Literal("analyst"),
              Type.Literal("microblog_tester"),
            ]),
          },
          closed,
        ),
      ),
    ),
    event_name_limit: Type.Optional(Type.Integer({ minimum: 0 })),
    migrations: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
  },
  closed,
);
type Entry = Static<typeof entry>;

/** LIM-1: the default limit of distinct event names of an app. */
const EVENT_NAME_LIMIT = 1_000;
/** 128 bits. */
const SECRET_BYTES = 16;

function recordOf(input: Entry, world: World): AppFacts {
  const secret = input.secret ?? world.randomSecret(SECRET_BYTES);
  return {
    id: nodeId(String(input.id)),
    name: input.name ?? "",
    mode: input.mode ?? "live",
    created_time: input.created_time === undefined ? unixSeconds(world.clock) : secondsOf(input.created_time, "created_time"),
    marketing_first_used_time:
      input.marketing_first_used_time === undefined ? 0 : secondsOf(input.marketing_first_used_time, "marketing_first_used_time"),
    auto_upgrade: input.auto_upgrade ?? true,
    require_appsecret_proof: input.require_appsecret_proof ?? false,
    allow_tokenless_events: input.allow_tokenless_events ?? false,
    automatic_event_logging: input.automatic_event_logging ?? false,
    access_level: input.access_level ?? "advanced",
    messaging_access: input.messaging_access ?? true,
    event_name_limit: input.event_name_limit ?? EVENT_NAME_LIMIT,
    migrations: input.migrations ?? {},
    secret_hash: hashOf(secret),
    sealed_secret: world.sealer.seal(secret),
  };
}

async function entryOf(reader: Reader, app: AppFacts, world: World): Promise<WorldEntry> {
  const { secret_hash: _, sealed_secret, ...facts } = app;
  const roles = (await listRoles(reader, app.id)).map(({ person, role, is_microblog_user }) =>
    is_microblog_user === 1 ? { microblog_user: person, role } : { user: person, role },
  );
  const webhooks = await world.ports.get("webhook_subscription").findOfApp(reader, app.id, world);
  return {
    ...facts,
    secret: world.sealer.open(sealed_secret),
    ...webhooks,
    roles,
  };
}

/** Saves the parts of an entry that are in other tables: webhooks and roles. */
async function saveWebhooksAndRoles(tx: Transaction, given: Entry, app: NodeId, world: World): Promise<void> {
  await world.ports.get("webhook_subscription_writes").saveOfApp(tx, app, given, world);
  await saveRoles(tx, app, given.roles);
}

async function saveRoles(tx: Transaction, app: NodeId, roles: Entry["roles"]): Promise<void> {
  for (const [index, { user, microblog_user, role }] of (roles ?? []).entries()) {
    if ((user === undefined) === (microblog_user === undefined)) throw new WorldProblem(`roles[${index}]`, "must have either user or microblog_user");
    await insertRole(tx, app, { person: String(user ?? microblog_user), role, is_microblog_user: user === undefined ? 1 : 0 });
  }
}

function roleReference({ user, microblog_user }: NonNullable<Entry["roles"]>[number], index: number): Reference {
  return user !== undefined
    ? { path: `roles[${index}].user`, types: ["user"], id: String(user) }
    : { path: `roles[${index}].microblog_user`, types: ["microblog_user"], id: String(microblog_user) };
}

type Callback = Static<typeof callback>;

const callbackWithout = ({ verify_token: _, ...rest }: Callback): Callback => rest;

/** A verify token belongs to its address. */
function callbackKept(given: Callback | undefined, stored: Callback | undefined): Callback | undefined {
  if (given === undefined || given.verify_token !== undefined || stored?.verify_token === undefined || stored.url !== given.url) return given;
  return { ...given, verify_token: stored.verify_token };
}

/** The entry with each of its callbacks as `change` makes it; that of no object is the app's own. */
function withCallbacks(input: Entry, change: (given: Callback, object?: string) => Callback | undefined): Entry {
  const changed = (given: Callback | undefined, of?: string) => {
    const made = given === undefined ? undefined : change(given, of);
    return made === undefined ? {} : { callback: made };
  };
  const subscriptions = input.subscriptions.map(({ callback: own, ...rest }) => ({ ...rest, ...changed(own, rest.object) }));
  const { callback: own, ...rest } = input;
  return { ...rest, ...changed(own), subscriptions };
}

const secrets: EntrySecrets = {
  without(input) {
    const { secret: _, ...rest } = withCallbacks(input as Entry, callbackWithout);
    return rest;
  },
  kept(input, before) {
    const stored = before as Entry;
    const storedOf = (of?: string) => (of === undefined ? stored : stored.subscriptions.find(({ object: other }) => other === of))?.callback;
    const kept = withCallbacks(input as Entry, (given, of) => callbackKept(given, storedOf(of)));
    return kept.secret === undefined && stored.secret !== undefined ? { ...kept, secret: stored.secret } : kept;
  },
};

export const appSection: WorldSection = {
  key: "apps",
  entry,
  secrets,
  references: (input) => ((input as Entry).roles ?? []).map(roleReference),
  migrationNames: (input) => Object.keys((input as Entry).migrations ?? {}),
  async insert(tx, input, world) {
    const app = recordOf(input as Entry, world);
    if (!(await insertApp(tx, app))) return false;
    await saveWebhooksAndRoles(tx, input as Entry, app.id, world);
    return true;
  },
  async find(reader, id, world) {
    const app = await findApp(reader, id);
    return app === undefined ? undefined : entryOf(reader, app, world);
  },
  async list(reader, page, world) {
    const found = await listApps(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((app) => entryOf(reader, app, world))) };
  },
  async replace(tx, input, world) {
    const app = recordOf(input as Entry, world);
    const before = await findApp(tx, app.id);
    await saveApp(tx, app);
    await deleteRoles(tx, app.id);
    await saveWebhooksAndRoles(tx, input as Entry, app.id, world);
    if (before !== undefined && before.secret_hash !== app.secret_hash) {
      await world.ports.get("webhook_subscription_writes").retireSecret(tx, app.id, before.sealed_secret, world);
    }
  },
  remove: (tx, id) => deleteApp(tx, nodeId(id)),
};
