import { type Static, Type } from "typebox";
import type { AppFacts } from "#auth/app-facts";
import { hashOf } from "#auth/tokens";
import type { EntrySecrets } from "#graph/contract/feature";
import { givenSchema } from "#graph/schema/given-schema";
import { ValueProblem } from "#graph/schema/scalars";
import { having } from "#graph/schema/schema-node";
import { closedMap, described, idOf, WorldProblem, worldId, worldTime, worldTimeOr } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { webhookObjects } from "#webhooks/catalogue/field";
import { appTable, deleteApp, deleteRoles, findApp, insertRole, listApps, listRoles, rowOf } from "./apps.store.ts";

const flag = (fallback: boolean, description: string) => Type.Boolean({ default: fallback, description });

const callback = closedMap({
  url: Type.String({ minLength: 1, description: "the address to which webhooks are sent" }),
  verify_token: Type.Optional(Type.String({ description: "the token that Plaza sends to the address to verify the callback" })),
  verified: Type.Optional(Type.Boolean({ description: "whether webhooks are sent to the address (default: true)" })),
});
type Callback = Static<typeof callback>;

const subscription = closedMap({
  object: Type.Union(
    webhookObjects.map((one) => Type.Literal(one)),
    { description: "the object whose webhooks the app gets" },
  ),
  fields: Type.Array(Type.String(), { description: "the fields of the object whose webhooks the app gets, e.g. `messages`" }),
  callback: Type.Optional(described("the callback for webhooks of this object (default: the app's callback)", callback)),
});
const role = closedMap(
  {
    user: Type.Optional(described("the id of the user who has the role; give either `user` or `microblog_user`", idOf("user"))),
    microblog_user: Type.Optional(described("the id of the microblog account that has the role", idOf("microblog_user"))),
    role: Type.Union(
      ["administrator", "developer", "tester", "analyst", "microblog_tester"].map((one) => Type.Literal(one)),
      { description: "the person's role" },
    ),
  },
  undefined,
  { anyOf: [having("user"), having("microblog_user")], not: having("user", "microblog_user") },
);

/** LIM-1: the number of distinct event names that an app may have by default. */
const EVENT_NAME_LIMIT = 1_000;

/** The greatest number of addresses to which the login of an app may return. An app usually has one such address for each of its environments. */
const REDIRECT_URIS_MAX = 100;
/** D-381: an absolute address without a fragment (RFC 6749, 3.1.2). Most schemes are allowed, because apps on phones have schemes of their own. */
const redirectUri = Type.String({ maxLength: 2_000, pattern: '^(?!(?:javascript|data|vbscript|blob|file):)[a-z][a-z0-9+.-]*:[!-"$-~]+$' });

const entry = closedMap(
  {
    id: described("the app's id", worldId),
    name: Type.String({ default: "", description: "the app's name" }),
    secret: Type.Optional(Type.String({ minLength: 1, description: "the app's secret, with which webhooks are signed (default: a random secret)" })),
    mode: Type.Union([Type.Literal("live"), Type.Literal("development")], {
      default: "live",
      description: "the app's mode; an app in `development` can also create a catalog with a token in the query",
    }),
    created_time: Type.Optional(described("the time at which the app was created, which decides its default version (default: now)", worldTime)),
    marketing_first_used_time: described(
      "the time of the app's first marketing request, which decides the oldest marketing version that the app may use; 0: the app has sent no marketing request",
      worldTimeOr(0),
    ),
    auto_upgrade: flag(true, "whether a request in a deprecated marketing version is served in the next version; if false, the request is refused"),
    require_appsecret_proof: flag(false, "whether each request must have `appsecret_proof`"),
    allow_tokenless_events: flag(false, "whether devices may report app events without a token"),
    automatic_event_logging: flag(false, "whether the app logs events automatically; reports of its activations are then refused"),
    access_level: Type.Union([Type.Literal("standard"), Type.Literal("advanced")], {
      default: "advanced",
      description: "the accounts that can use self messaging; `standard`: accounts of people with a role on the app; `advanced`: all accounts",
    }),
    messaging_access: flag(true, "whether the app has access to business messaging, which self messaging needs"),
    callback: Type.Optional(described("the app's callback for objects that have no callback of their own", callback)),
    subscriptions: Type.Array(subscription, { default: [], description: "the webhooks that the app gets" }),
    roles: Type.Array(role, { default: [], description: "the people who work on the app" }),
    event_name_limit: Type.Integer({ minimum: 0, default: EVENT_NAME_LIMIT, description: "the greatest number of event names that the app may use" }),
    event_schemas: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), {
      default: {},
      description: "a JSON Schema for each custom event, by the event's name; an event that breaks its schema is stored and marked",
    }),
    migrations: Type.Record(Type.String(), Type.Boolean(), {
      default: {},
      description: "the migrations that the app has switched on or off, by name",
    }),
    redirect_uris: Type.Array(redirectUri, {
      default: [],
      maxItems: REDIRECT_URIS_MAX,
      description: "the addresses to which the login dialog may send people back; compared exactly",
    }),
    deauthorize_url: Type.Optional(
      Type.String({ format: "callback", description: "the address that gets a signed request when a person removes the app" }),
    ),
    data_deletion_url: Type.Optional(
      Type.String({
        format: "callback",
        description: "the address that gets a signed request when a person wants their data deleted, and responds with url and confirmation_code",
      }),
    ),
  },
  "an app that uses the platform",
);
type Entry = Static<typeof entry>;

/** The size of an app's secret: 128 bits. */
const SECRET_BYTES = 16;

/**
 * The greatest number of event schemas of an app, and the greatest length of all its schemas as JSON. The limits exist because Plaza reads the
 * schemas each time it reads the other facts about the app.
 */
const EVENT_SCHEMAS_MAX = 100;
const EVENT_SCHEMAS_CHARACTERS_MAX = 65_536;

/** Throws if the event schemas of an app are too many or too long, or if one of the schemas is not a valid JSON Schema (D-363). */
function checkEventSchemas(schemas: Entry["event_schemas"]): void {
  const place = "event_schemas";
  const all = Object.entries(schemas);
  if (all.length > EVENT_SCHEMAS_MAX) throw new WorldProblem(place, `must have at most ${EVENT_SCHEMAS_MAX} schemas`);
  if (JSON.stringify(schemas).length > EVENT_SCHEMAS_CHARACTERS_MAX)
    throw new WorldProblem(place, `must have at most ${EVENT_SCHEMAS_CHARACTERS_MAX} characters as JSON`);
  for (const [name, schema] of all) {
    try {
      givenSchema(schema);
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error;
      throw new WorldProblem(`${place}.${name}${error.path === "" ? "" : `.${error.path}`}`, error.problem);
    }
  }
}

function recordOf(input: Entry, world: World): AppFacts {
  checkEventSchemas(input.event_schemas);
  const { secret = world.randomSecret(SECRET_BYTES), callback: _, subscriptions: __, roles: ___, ...facts } = input;
  return { created_time: unixSeconds(world.clock), ...facts, secret_hash: hashOf(secret), sealed_secret: world.sealer.seal(secret) };
}

/** Saves the webhooks and roles of an app from its entry in a world file. Tables other than that of apps store them. */
async function saveWebhooksAndRoles(tx: Transaction, given: Entry, world: World): Promise<void> {
  await world.ports.get("webhook_subscription_writes").saveOfApp(tx, given.id, given, world);
  for (const { user, microblog_user, role } of given.roles)
    await insertRole(tx, given.id, { person: (user ?? microblog_user) as NodeId, role, is_microblog_user: user === undefined ? 1 : 0 });
}

const callbackWithout = ({ verify_token: _, ...rest }: Callback): Callback => rest;

/**
 * Returns the callback of an app's entry in a world file. If the callback has no verify token, but the same address as the stored callback, the
 * stored verify token is added.
 */
function callbackKept(given: Callback | undefined, stored: Callback | undefined): Callback | undefined {
  if (given === undefined || given.verify_token !== undefined || stored?.verify_token === undefined || stored.url !== given.url) return given;
  return { ...given, verify_token: stored.verify_token };
}

/**
 * Returns an app's entry in a world file after the function `change` was applied to each callback of the entry. For the app's own callback, `change`
 * gets no `object`.
 */
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

export const appSection = section({
  key: "apps",
  entry,
  secrets,
  migrationNames: ({ migrations }) => Object.keys(migrations),
  async insert(tx, given, world) {
    if (!(await appTable.insert(tx, rowOf(recordOf(given, world))))) return false;
    await saveWebhooksAndRoles(tx, given, world);
    return true;
  },
  find: findApp,
  list: listApps,
  async entryOf({ secret_hash: _, sealed_secret, ...facts }: AppFacts, reader, world) {
    const roles = (await listRoles(reader, facts.id)).map(({ person, role, is_microblog_user }) =>
      is_microblog_user === 1 ? { microblog_user: person, role } : { user: person, role },
    );
    const webhooks = await world.ports.get("webhook_subscription").findOfApp(reader, facts.id, world);
    return { ...facts, secret: world.sealer.open(sealed_secret), ...webhooks, roles };
  },
  async replace(tx, given, world) {
    const app = recordOf(given, world);
    const before = await findApp(tx, app.id);
    await appTable.replace(tx, rowOf(app));
    await deleteRoles(tx, app.id);
    await saveWebhooksAndRoles(tx, given, world);
    if (before !== undefined && before.secret_hash !== app.secret_hash) {
      await world.ports.get("webhook_subscription_writes").retireSecret(tx, app.id, before.sealed_secret, world);
    }
  },
  remove: deleteApp,
});
