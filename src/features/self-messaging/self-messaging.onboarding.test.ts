import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import { type OnboardingFacts, receivesWebhook } from "./self-messaging.onboarding.ts";

const fields = ["messages", "comments", "live_comments"] as const;

/** The onboarding table of the interface document, written without the code of the program: returns the scopes that a token needs in each case. */
function neededScopes(type: string, field: string, isViaBusiness: boolean): string {
  if (field === "messages") return "social_business_basic social_business_manage_messages";
  if (type === "social_user") return "social_business_basic social_business_manage_comments";
  return `social_basic social_manage_comments pages_read_engagement${isViaBusiness ? " ads_management ads_read" : ""}`;
}

const allScopes = [
  ...["social_business_basic", "social_business_manage_messages", "social_business_manage_comments", "social_basic", "social_manage_comments"],
  ...["pages_read_engagement", "ads_management", "ads_read", "pages_messaging"],
];

/** Draws exactly the scopes that a case of the table needs, these scopes without one of them, or random scopes. */
const scopes = fc.oneof(
  fc.subarray(allScopes),
  fc
    .record({ type: fc.constantFrom("social_user", "page"), field: fc.constantFrom(...fields), isViaBusiness: fc.boolean(), drop: fc.nat(8) })
    .map((one) => {
      const needed = neededScopes(one.type, one.field, one.isViaBusiness).split(" ");
      return needed.filter((_, at) => at !== one.drop);
    }),
);

describe("onboarding", () => {
  const token = fc.record({ type: fc.constantFrom("social_user" as const, "page" as const), scopes, isRoleViaBusiness: fc.boolean() });
  const facts: fc.Arbitrary<OnboardingFacts> = fc.record({
    field: fc.constantFrom(...fields),
    account: fc.record({ professional: fc.boolean(), app_connections: fc.constantFrom([], ["1001"], ["1002"], ["1002", "1001"]) }),
    app: fc.record({
      id: fc.constant(nodeId("1001")),
      messaging_access: fc.boolean(),
      access_level: fc.constantFrom("standard" as const, "advanced" as const),
    }),
    isPersonOnApp: fc.boolean(),
    isSubscribed: fc.boolean(),
    tokens: fc.array(token, { maxLength: 3 }),
  });

  test("SELF-4 to SELF-19: an app receives a webhook if and only if every row of the table holds", () => {
    let granted = 0;
    fc.assert(
      fc.property(facts, (given) => {
        const { field, account, app, isPersonOnApp, isSubscribed, tokens } = given;
        const rows = [
          account.professional,
          account.app_connections.includes("1001"),
          app.messaging_access,
          app.access_level === "advanced" || isPersonOnApp,
          isSubscribed,
          tokens.some((held) =>
            neededScopes(held.type, field, held.isRoleViaBusiness)
              .split(" ")
              .every((scope) => held.scopes.includes(scope)),
          ),
        ];
        const expected = !rows.includes(false);
        if (expected) granted++;
        expect(receivesWebhook(given)).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
    // The test expects that some drawn apps met all conditions, because otherwise the property would prove nothing.
    expect(granted).toBeGreaterThan(10);
  });

  test("SELF-10 to SELF-14: the table, cell by cell: the scopes of each flow suffice, and each is necessary", () => {
    const base = {
      account: { professional: true, app_connections: ["1001"] },
      app: { id: nodeId("1001"), messaging_access: true, access_level: "advanced" as const },
      isPersonOnApp: false,
      isSubscribed: true,
    };
    for (const type of ["social_user", "page"] as const) {
      for (const field of fields) {
        for (const isRoleViaBusiness of [false, true]) {
          const needed = neededScopes(type, field, isRoleViaBusiness).split(" ");
          const decide = (held: readonly string[]) => receivesWebhook({ ...base, field, tokens: [{ type, scopes: held, isRoleViaBusiness }] });
          expect({ type, field, isRoleViaBusiness, mayReceive: decide(needed) }).toEqual({ type, field, isRoleViaBusiness, mayReceive: true });
          for (const spared of needed) {
            const mayReceive = decide(needed.filter((scope) => scope !== spared));
            expect({ type, field, spared, mayReceive }).toEqual({ type, field, spared, mayReceive: false });
          }
        }
      }
    }
  });
});

/** The types below describe a small world with everything that onboarding depends on. */
const NOW = 1_795_000_000;

interface SmallToken {
  readonly type: "social_user" | "page" | "user";
  readonly app: string;
  readonly page: string;
  readonly user: string | undefined;
  readonly isOther: boolean;
  readonly scopes: readonly string[];
  readonly expires_at: number;
  readonly data_access_expires_at: number;
}

interface Small {
  readonly account: { professional: boolean; page: string | undefined; user: string | undefined; app_connections: readonly string[] };
  readonly apps: readonly {
    id: string;
    messaging_access: boolean;
    access_level: string;
    subscriptions: readonly { object: string; fields: readonly string[] }[];
    roles: readonly { user: string; role: string }[];
  }[];
  readonly viaBusiness: boolean;
  readonly tokens: readonly SmallToken[];
  readonly field: (typeof fields)[number];
}

/** Draws a random value that is most often the usual value, so that all conditions for receiving an event often hold together. */
const mostly = <T, U>(usual: T, ...others: U[]): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const subscribedTo = (object: string, ...names: string[]) => [{ object, fields: names }];
const smallApp = (id: string) =>
  fc.record({
    id: fc.constant(id),
    messaging_access: mostly(true, false),
    access_level: fc.constantFrom("standard", "advanced"),
    subscriptions: mostly(
      subscribedTo("social", ...fields),
      [],
      subscribedTo("page", "custom_labels"),
      subscribedTo("social", "messages"),
      subscribedTo("social", "comments", "live_comments"),
    ),
    roles: fc.constantFrom([], [{ user: "3001", role: "tester" }]),
  });
const smallToken: fc.Arbitrary<SmallToken> = fc.record({
  type: fc.constantFrom("social_user", "page", "page", "user"),
  app: fc.constantFrom("1001", "1002"),
  page: mostly("2001", "2002"),
  user: mostly("3001", "3002", undefined),
  isOther: mostly(false, true),
  scopes: fc.oneof(scopes, fc.constant(allScopes)),
  expires_at: mostly(0, NOW - 1, NOW, NOW + 1),
  data_access_expires_at: mostly(0, NOW - 1, NOW, NOW + 1),
});
const worlds: fc.Arbitrary<Small> = fc.record({
  account: fc.record({
    professional: mostly(true, false),
    page: mostly("2001", "2002", undefined),
    user: mostly("3001", "3002", undefined),
    app_connections: mostly(["1001", "1002"], [], ["1002"]),
  }),
  apps: fc.tuple(smallApp("1001"), smallApp("1002")),
  viaBusiness: fc.boolean(),
  tokens: fc.array(smallToken, { maxLength: 5 }),
  field: fc.constantFrom(...fields),
});

const entryOfToken = (token: SmallToken, index: number) => {
  const { type, app, scopes: held, expires_at, data_access_expires_at } = token;
  const common = { token: `t${index}`, type, app, scopes: held, expires_at, data_access_expires_at };
  if (type === "page") return { ...common, page: token.page, ...(token.user === undefined ? {} : { user: token.user }) };
  if (type === "user") return { ...common, user: token.user ?? "3001" };
  return { ...common, social_account: token.isOther ? "6002" : "6001" };
};

/** Returns the apps that must receive the event, computed from the world file without the code of the program. */
function expectedApps({ account, apps, viaBusiness, tokens, field }: Small): string[] {
  return apps
    .filter((app) => {
      const isLive = (token: SmallToken) => [token.expires_at, token.data_access_expires_at].every((end) => end === 0 || end > NOW);
      const isOfAccount = (token: SmallToken) =>
        (token.type === "social_user" && !token.isOther) || (token.type === "page" && token.page === account.page);
      const holds = (token: SmallToken) => {
        // Only the user 3001 has a role on the page 2001, possibly through the business management tool.
        const isViaBusiness = viaBusiness && token.type === "page" && token.page === "2001" && token.user === "3001";
        return neededScopes(token.type, field, isViaBusiness)
          .split(" ")
          .every((scope) => token.scopes.includes(scope));
      };
      return (
        account.professional &&
        account.app_connections.includes(app.id) &&
        app.messaging_access &&
        (app.access_level === "advanced" || app.roles.some(({ user }) => user === account.user)) &&
        app.subscriptions.some(({ object, fields: subscribed }) => object === "social" && subscribed.includes(field)) &&
        tokens.some((token) => token.app === app.id && isLive(token) && isOfAccount(token) && holds(token))
      );
    })
    .map(({ id }) => id);
}

const payloads: Record<Small["field"], object> = {
  messages: { sender: { id: "6001" }, recipient: { id: "6901" }, timestamp: 1, message: { mid: "1", text: "x", is_echo: true, is_self: true } },
  comments: { from: { id: "6001", username: "x" }, id: "1", text: "x", media: { id: "1", media_product_type: "FEED" } },
  live_comments: { from: { id: "6001", username: "x" }, id: "1", text: "x", media: { id: "1", media_product_type: "FEED" } },
};

test("SELF-4 to SELF-19, D-52: in any world, exactly the onboarded apps receive a delivery", async () => {
  let delivered = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async (small) => {
      const plaza = await openPlaza({
        world: {
          users: [{ id: "3001" }, { id: "3002" }],
          apps: small.apps,
          pages: [{ id: "2001", roles: [{ user: "3001", tasks: [], via_business: small.viaBusiness }] }, { id: "2002" }],
          social_accounts: [{ id: "6001", social_scoped_id: "6901", ...small.account }, { id: "6002" }],
          tokens: small.tokens.map(entryOfToken),
        },
      });
      const field = plaza.registry.webhookFields.read("social", small.field);
      const event = { entity: nodeId("6001"), payload: payloads[small.field] };
      await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, field, event));
      const got = (await plaza.dump(["webhook_deliveries.app"])).map((row) => String((row as { value: unknown }).value)).sort();
      delivered += got.length;
      expect(got).toEqual(expectedApps(small));
      await plaza.close();
    }),
    { numRuns: 150 },
  );
  expect(delivered).toBeGreaterThan(5);
});

test("SELF-14: only the token of a person whose role comes from a business needs a business's scopes", async () => {
  const scopes = neededScopes("page", "comments", false).split(" ");
  const deliveries = async (token: object): Promise<number> => {
    const plaza = await openPlaza({
      world: {
        users: [{ id: "3001" }, { id: "3002" }],
        apps: [{ id: "1001", messaging_access: true, access_level: "advanced", subscriptions: subscribedTo("social", "comments") }],
        pages: [{ id: "2001", roles: [{ user: "3001", via_business: true }, { user: "3002" }] }],
        social_accounts: [{ id: "6001", page: "2001", professional: true, app_connections: ["1001"] }],
        tokens: [{ token: "t", type: "page", app: "1001", page: "2001", scopes, ...token }],
      },
    });
    const field = plaza.registry.webhookFields.read("social", "comments");
    await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, field, { entity: nodeId("6001"), payload: payloads.comments }));
    return (await plaza.dump(["webhook_deliveries.app"])).length;
  };
  expect(await deliveries({})).toBe(1);
  expect(await deliveries({ user: "3002" })).toBe(1);
  expect(await deliveries({ user: "3001" })).toBe(0);
  expect(await deliveries({ user: "3001", scopes: [...scopes, "ads_management", "ads_read"] })).toBe(1);
});
