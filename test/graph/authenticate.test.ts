/** D-10, D-12, D-14, D-90, D-97: finds the tokens of a request, before its node is known. */
import { describe, expect, test } from "bun:test";
import { authenticate, findTokens, knownApp, missingToken } from "#graph/pipeline/authenticate";
import type { Addressed, Incoming } from "#graph/pipeline/stages";
import { GraphError } from "#kernel/errors";
import { buildRegistry } from "#main";

const registry = buildRegistry();
const NOW = 1_000;
const apps: Readonly<Record<string, object>> = { "1": { id: "1" }, "2": { id: "2" } };
const tokens: Readonly<Record<string, { id: string; app: string }>> = {
  a: { id: "a", app: "1" },
  b: { id: "b", app: "2" },
  ended: { id: "ended", app: "1" },
};

interface Given {
  readonly query?: object;
  readonly body?: object;
  readonly authorization?: string;
  readonly profile?: "strict" | "clients";
  readonly edge?: string;
  readonly method?: string;
  /** Whether the server has the tokens and apps in its caches. */
  readonly isKnown?: boolean;
}

function given({ query = {}, body = {}, authorization, profile = "strict", edge, method = "GET", isKnown = true }: Given) {
  const world = {
    ...{ profile, clock: { nowMs: () => NOW * 1_000 } },
    tokens: {
      find: async (value: string) => tokens[value],
      alive: (token: { id: string } | undefined, place: string, now: number) =>
        token === undefined || token.id === "ended" ? new GraphError("tokenInvalid", `${token?.id ?? "unknown"} in ${place} at ${now}`) : token,
      findApp: async (id: string) => apps[id],
      peekAppOf: (value: string, now: number) => (isKnown && now === NOW && value !== "ended" ? tokens[value]?.app : undefined),
    },
  };
  const request = { query, body, header: (name: string) => (name === "authorization" ? authorization : undefined) };
  const incoming = { request, world, registry, now: NOW } as unknown as Incoming;
  const addressed = { address: { version: undefined, id: "7", edge, prefix: undefined }, method } as unknown as Addressed;
  return { incoming, addressed };
}

const found = async (asked: Given): Promise<unknown> => {
  const { incoming, addressed } = given(asked);
  try {
    const { app, credentials, dead } = authenticate(incoming, addressed, await findTokens(incoming, addressed));
    return { app: app?.id, places: credentials.map(({ place }) => place), dead: dead.map(({ place }) => place) };
  } catch (error) {
    return (error as Error).message;
  }
};

const none = { app: undefined, places: [], dead: [] };

describe("a request's tokens", () => {
  test("D-14: are looked up; invalid ones are ignored beside a valid one, and refused without one", async () => {
    expect(await found({ authorization: "Bearer a" })).toEqual({ app: "1", places: ["bearer"], dead: [] });
    expect(await found({})).toEqual(none);
    expect(await found({ authorization: "Bearer b", query: { access_token: "ended" } })).toEqual({
      app: "2",
      places: ["bearer"],
      dead: ["access_token"],
    });
    expect(await found({ authorization: "Bearer ended" })).toBe("ended in Authorization at 1000");
    expect(await found({ authorization: "Bearer ended", query: { access_token: "unheard" } })).toBe("ended in Authorization at 1000");
  });

  test("D-10: are all needed by page messaging, so that an invalid one is refused beside a valid one", async () => {
    const asked = { authorization: "Bearer a", query: { access_token: "ended" } };
    expect(await found({ ...asked, edge: "custom_labels" })).toBe("ended in access_token at 1000");
    expect(await found({ ...asked, edge: "custom_labels", method: "PUT" })).toMatchObject({ app: "1" });
  });

  test("D-12: are looked for in the places of the request's form, and by `clients` everywhere", async () => {
    const asked = { body: { access_token: "a" } };
    expect(await found(asked)).toMatchObject({ places: ["body"] });
    expect(await found({ ...asked, edge: "custom_labels" })).toEqual(none);
    expect(await found({ ...asked, edge: "custom_labels", profile: "clients" })).toMatchObject({ app: "1", places: ["body"] });
  });
});

test("D-97: the app whose share a request uses is that of the first known live token, in query or head", () => {
  const app = (query: Record<string, unknown>, authorization?: string, more: Given = {}) => {
    const { world, request } = given({ authorization, ...more } as Given).incoming;
    return knownApp(world, query, request.header);
  };
  expect([app({}), app({ access_token: "a" }), app({ oauth_token: "b" }), app({}, "Bearer a")]).toEqual([undefined, "1", "2", "1"]);
  expect([app({ access_token: "b" }, "Bearer ended"), app({ access_token: "b" }, "Bearer a")]).toEqual(["2", "1"]);
  expect([app({ access_token: "ended" }), app({ access_token: "unheard" }), app({ access_token: "a" }, undefined, { isKnown: false })]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});

test("D-90: a request without a token learns the place that its form needs", () => {
  const place = (asked: Given) => {
    const { incoming, addressed } = given(asked);
    return missingToken(incoming, addressed).details.data?.parameter;
  };
  expect([place({ edge: "custom_labels" }), place({ edge: "custom_labels", method: "POST" })]).toEqual(["access_token", "access_token"]);
  expect([place({ edge: "subscriptions" }), place({ edge: "custom_labels", profile: "clients" })]).toEqual(["Authorization", "Authorization"]);
  // The server knows no operation for these requests.
  expect([place({}), place({ edge: "nothing" }), place({ edge: "subscriptions", method: "PUT" })]).toEqual(Array(3).fill("access_token"));
});
