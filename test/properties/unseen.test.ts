/**
 * Checks that a node that a caller may not see leaves no trace in responses. The test sends each request to a whole world, and to a copy without the
 * nodes whose existence the caller may not know. The responses of the two worlds are equal, byte for byte, except for the trace id (D-14, D-20, D-90,
 * D-93).
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { tokenKinds } from "#auth/token";
import type { Endpoint } from "#graph/contract/registry";
import { databaseKinds } from "#harness/databases";
import { fullWorld, nodeOfType, openFullPlaza } from "#harness/full-world";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { tries } from "#harness/proof";
import { READ_SCOPES as scopes } from "#harness/scopes";

/** The callers: tokens of another app, and of people and pages who have nothing to do with the hidden nodes. */
const principals = {
  app: {},
  user: { user: "3002" },
  system_user: { user: "3002" },
  page: { page: "2002" },
  social_user: { social_account: "6002" },
  microblog_user: { microblog_user: "7002" },
};
const base = { app: "1002", scopes };
const tokens = [
  ...tokenKinds.map((type) => ({ ...base, token: `stranger-${type}`, type, ...principals[type] })),
  { ...base, token: "expired", type: "page", page: "2002", expires_at: 1_700_000_000 },
  { ...base, token: "data-access-over", type: "page", page: "2002", data_access_expires_at: 1_700_000_000 },
];
const apps = fullWorld.apps.filter(({ id }) => id === "1002");
const fan = { id: "6002", username: "fan", social_scoped_id: "6902", page: "2002", user: "3002", app_connections: ["1002"] };
const small = {
  ...{ apps, users: fullWorld.users.filter(({ id }) => id === "3002"), pages: fullWorld.pages.filter(({ id }) => id === "2002") },
  ...{ social_accounts: [fan], microblog_users: [{ id: "7002" }], tokens },
};
const full = { ...fullWorld, social_accounts: [...fullWorld.social_accounts.filter(({ id }) => id !== fan.id), fan], tokens };
const credential = fc.constantFrom(undefined, "unknown", "", ...tokens.map(({ token }) => token));

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** Requests to the path of an endpoint, sometimes with another id, edge, method or API of the graph. */
const requests = (endpoints: readonly Endpoint[]) => {
  const edges = endpoints.map(({ served }) => served?.contract.edge ?? "");
  return fc.record({
    operation: fc.constantFrom(...endpoints.map(({ access }) => access.operation)),
    method: maybe(fc.constantFrom("GET", "POST", "DELETE", "PUT")),
    surface: maybe(fc.constantFrom("base", "app", "microblog", "ads", "social_login")),
    version: fc.constantFrom("", "/v21.0", "/v24.0", "/v26.0"),
    prefix: fc.constantFrom("", "", "/pages"),
    id: maybe(fc.constantFrom(...Object.values(nodeOfType), "6101", "8501", "4999")),
    edge: maybe(fc.constantFrom("nothing", ...edges)),
    ...{ access_token: maybe(credential), oauth_token: maybe(credential), body_token: maybe(credential), bearer: maybe(credential) },
    everywhere: credential,
    fields: fc.constantFrom(undefined, "id", "nothing", "waba{name},destination_waba{name}", "comments{from{name}}", "phone_numbers{nothing}"),
  });
};

type Drawn = ReturnType<typeof requests> extends fc.Arbitrary<infer Value> ? Value : never;

async function send(plaza: TestPlaza, drawn: Drawn) {
  const { operation, version, prefix, everywhere, fields } = drawn;
  const endpoint = plaza.registry.endpoints.find(({ access }) => access.operation === operation);
  if (endpoint === undefined) throw new Error(`no endpoint is called ${operation}`);
  const { served, access, nodeType } = endpoint;
  const { method = served?.contract.method ?? "GET", surface = access.surfaces[0] ?? "base", edge = served?.contract.edge ?? "" } = drawn;
  const { access_token = everywhere, oauth_token = everywhere, body_token = everywhere, bearer = everywhere } = drawn;
  const id = drawn.id ?? (nodeType === undefined ? "4999" : nodeOfType[nodeType]);
  // D-13 [clients]: with this request, an app that is not subscribed subscribes itself, so it may know that the account exists.
  fc.pre(plaza.world.profile === "strict" || method !== "POST" || edge !== "subscribed_apps");
  const path = `${surface === "base" || surface === "ads" ? version : ""}${prefix}/${id}${edge === "" ? "" : `/${edge}`}`;
  const { status, headers, body } = await plaza.request(method, path, {
    surface,
    query: JSON.parse(JSON.stringify({ access_token, oauth_token, fields })),
    body: body_token === undefined ? {} : { access_token: body_token },
    headers: bearer === undefined ? {} : { authorization: bearer === "unknown" ? "Basic x" : `Bearer ${bearer}` },
  });
  const text = JSON.stringify({ status, headers, body });
  return text.replaceAll(headers["x-pf-trace-id"] ?? "", "TRACE");
}

for (const database of databaseKinds) {
  describe(`hidden nodes (${database})`, () => {
    for (const profile of ["strict", "clients"] as const) {
      test(`D-90, D-93: the same request gets the same response from two worlds that differ only in nodes that the caller may not see (${profile})`, async () => {
        const [rich, bare] = await Promise.all([openFullPlaza({ database, profile, world: full }), openPlaza({ database, profile, world: small })]);
        await fc.assert(
          fc.asyncProperty(requests(rich.registry.endpoints), async (drawn) => {
            expect(await send(rich, drawn)).toBe(await send(bare, drawn));
          }),
          { numRuns: tries(500, 5_000) },
        );
        await rich.close();
        await bare.close();
      }, 120_000);
    }
  });
}
