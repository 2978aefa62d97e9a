/**
 * Checks that a selection inside a response shows the same data as the caller's own read of the selected node. In random worlds, with random callers
 * and fields, the test reads each referenced node and each edge in both ways (D-38).
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Field, FieldSet } from "#graph/contract/operation";
import { databaseKinds } from "#harness/databases";
import { openPlaza, type TestPlaza, type TestResponse } from "#harness/plaza";
import { tries } from "#harness/proof";
import { READ_SCOPES } from "#harness/scopes";

const APPS = ["1001", "1002"];
const USERS = ["3001", "3002"];
const PAGES = ["2001", "2002"];
const ACCOUNTS = ["4001", "4002"];
const TASKS = ["CREATE_CONTENT", "MESSAGING"];
/** A time that is earlier than the world's present time. */
const PAST = 1_700_000_000;

const each = <T, U>(list: readonly T[], arbitrary: fc.Arbitrary<U>) => fc.array(arbitrary, { minLength: list.length, maxLength: list.length });
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((one) => one.trim() !== "");

const randomWorld = fc.record({
  subscribed: each(ACCOUNTS, fc.subarray(APPS)),
  names: each(ACCOUNTS, text),
  overrides: each(ACCOUNTS, fc.subarray(APPS)),
  destination: fc.option(fc.constantFrom(...ACCOUNTS), { nil: undefined }),
  roles: each(
    PAGES,
    fc.subarray(USERS).chain((users) => fc.tuple(...users.map((user) => fc.subarray(TASKS).map((tasks) => ({ user, tasks }))))),
  ),
  crossposted: fc.boolean(),
  comments: fc.array(fc.tuple(fc.constantFrom("3001", "2001"), text), { maxLength: 30 }),
  administrators: fc.subarray(USERS),
});

type Drawn = typeof randomWorld extends fc.Arbitrary<infer Value> ? Value : never;

const randomCaller = fc.record({
  type: fc.constantFrom("user", "system_user", "page", "app"),
  app: fc.constantFrom(...APPS),
  user: fc.constantFrom(...USERS),
  page: fc.constantFrom(...PAGES),
  scopes: fc.oneof({ weight: 3, arbitrary: fc.constant(READ_SCOPES) }, { weight: 1, arbitrary: fc.subarray(READ_SCOPES) }),
  data_access_expires_at: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(PAST) }),
});

function worldOf(drawn: Drawn, callers: readonly object[]) {
  const hook = (path: string) => `https://example.com/${path}`;
  return {
    apps: APPS.map((id) => ({ id, roles: drawn.administrators.map((user) => ({ user, role: "administrator" })) })),
    users: USERS.map((id) => ({ id })),
    pages: PAGES.map((id, i) => ({ id, name: `Page ${i}`, roles: drawn.roles[i] })),
    live_videos: [{ id: "5301", page: "2001", status: "VOD", title: "Ü", crossposted_pages: drawn.crossposted ? ["2002"] : [] }],
    live_comments: drawn.comments.map(([from, message], i) => ({ id: String(5401 + i), live_video: "5301", from, message })),
    live_reactions: [{ live_video: "5301", from: "3002", type: "WOW" }],
    chatapp_accounts: ACCOUNTS.map((id, i) => ({
      ...{ id, name: drawn.names[i] },
      subscribed_apps: drawn.subscribed[i]?.map((app) => ({
        app,
        ...(drawn.overrides[i]?.includes(app) ? { override_callback_uri: hook(app) } : {}),
      })),
    })),
    phone_numbers: ACCOUNTS.map((account, i) => ({
      ...{ id: String(4101 + i), account },
      overrides: drawn.subscribed[i]?.map((app) => ({ app, override_callback_uri: hook(`${app}/phone`) })),
    })),
    migration_intents: [JSON.parse(JSON.stringify({ id: "4301", waba: "4001", destination_waba: drawn.destination }))],
    tokens: callers,
  };
}

/** The fields of a selection, sometimes with a name that no field has. */
function selectionOf(set: FieldSet, draw: fc.GeneratorValue, depth = 3): string {
  const names = draw(() => fc.subarray([...Object.keys(set.fields), "nothing"], { minLength: 1, maxLength: 3 }));
  const isWrong = draw(() => fc.integer({ min: 0, max: 9 })) === 0;
  const known = isWrong ? names : names.filter((name) => name !== "nothing");
  return (known.length === 0 ? Object.keys(set.fields).slice(0, 1) : known).map((name) => within(name, set.fields[name], draw, depth)).join(",");
}

function within(name: string, field: Field | undefined, draw: fc.GeneratorValue, depth: number): string {
  const inner = field?.edge?.items ?? field?.reference?.set?.() ?? field?.nested?.set();
  const isPlain = inner === undefined || depth === 0 || draw(() => fc.boolean());
  return isPlain ? name : `${name}{${selectionOf(inner, draw, depth - 1)}}`;
}

/** D-20: whether the response is the one for a node that does not exist. Some API versions respond to a bare id in the same way as H7. */
const isMissing = ({ status, body }: TestResponse): boolean => status !== 200 && (body.error.error_subcode === 33 || body.error.code === 803);
const problemOf = ({ status, body }: TestResponse) => ({
  status,
  code: body.error.code,
  subcode: body.error.error_subcode,
  message: body.error.message,
});

const isUnknownField = ({ status, body }: TestResponse): boolean =>
  status === 400 && body.error.message.includes("names a field that does not exist");

/** The fields of a node that lead to another node or list, with the path of the read of that node or list. */
function partsOf(plaza: TestPlaza, type: string, id: string, drawn: Drawn) {
  const { set } = plaza.registry.types.find((known) => known.type === type)?.reading ?? {};
  const of = { waba: "4001", destination_waba: drawn.destination } as Record<string, string | undefined>;
  return Object.entries(set?.fields ?? {}).flatMap(([name, { edge, reference }]) => {
    const inner = edge?.items ?? reference?.set?.();
    const path = edge === undefined ? of[name] : `${id}/${name}`;
    return inner === undefined || path === undefined ? [] : [{ name, inner, path, absent: edge === undefined ? { id: path } : undefined }];
  });
}

const nodes = [
  ["migration_intent", "4301"],
  ["chatapp_account", "4001"],
  ["live_video", "5301"],
  ["app", "1001"],
] as const;

for (const database of databaseKinds) {
  test(`D-38: a part of a response equals its own read, is absent, or is refused like it (${database})`, async () => {
    await fc.assert(
      fc.asyncProperty(randomWorld, fc.array(randomCaller, { minLength: 1, maxLength: 3 }), fc.gen(), async (drawn, callers, draw) => {
        const tokens = callers.map(({ type, user, page, ...caller }, i) => ({
          ...{ ...caller, token: `caller-${i}`, type },
          ...(type === "page" ? { page, user } : type === "app" ? {} : { user }),
        }));
        const plaza = await openPlaza({ database, world: worldOf(drawn, tokens) });
        for (const { token: bearer } of tokens) {
          const read = (path: string, fields: string) => plaza.get(`/v24.0/${path}`, { bearer, query: { fields } });
          for (const [type, id] of nodes) {
            const holder = await read(id, "id");
            for (const { name, inner, path, absent } of partsOf(plaza, type, id, drawn)) {
              const fields = selectionOf(inner, draw);
              const [own, around] = [await read(path, fields), await read(id, `${name}{${fields}}`)];
              const seen = { path, fields, status: around.status, shown: around.body[name] };
              if (holder.status !== 200) expect(around.status).toBe(holder.status);
              // A wrong field name is refused before anything is read.
              else if (/\bnothing\b/.test(fields)) expect(problemOf(around).message).toContain("names a field that does not exist: nothing");
              else if (own.status === 200) expect(seen).toEqual({ path, fields, status: 200, shown: own.body });
              else if (isMissing(own)) expect(seen).toEqual({ path, fields, status: 200, shown: absent });
              else expect({ path, fields, ...problemOf(around) }).toEqual({ path, fields, ...problemOf(own) });
              if (holder.status === 200 && isUnknownField(own)) expect(problemOf(around)).toEqual(problemOf(own));
            }
          }
        }
        await plaza.close();
      }),
      { endOnFailure: true, numRuns: tries(database === "sqlite" ? 40 : 15, 1_000) },
    );
  }, 600_000);
}

describe("the property covers something", () => {
  test("each node has parts", async () => {
    const plaza = await openPlaza();
    const drawn = { destination: "4002" } as Drawn;
    const names = Object.fromEntries(nodes.map(([type, id]) => [type, partsOf(plaza, type, id, drawn).map(({ name }) => name)]));
    expect(names).toEqual({
      migration_intent: ["destination_waba", "waba"],
      chatapp_account: ["phone_numbers", "subscribed_apps"],
      live_video: ["comments", "reactions"],
      app: ["subscriptions", "app_attribution"],
    });
  });
});
