/** D-10 to D-16, D-93: decides which tokens of a request count for an operation, and checks each of them. */
import { describe, expect, test } from "bun:test";
import { type AuthorizationCheck, authorizationCheck } from "#auth/authorize";
import type { Policy } from "#auth/policy";
import type { SchemeName } from "#auth/schemes";
import { authorizeCaller, countingChecks, countRequest, see } from "#graph/pipeline/authorize";
import type { Incoming, Resolved, Versioned } from "#graph/pipeline/stages";

type Place = "bearer" | "access_token" | "oauth_token" | "body";

const NOW = 1_000;
const credential = (place: Place, value = "t", token: object = {}) => ({
  ...{ place, value },
  token: { id: value, type: "page", app: "1", scopes: [], data_access_expires_at: 0, ...token },
});
const dead = (place: Place, value = "t") => ({ place, value, error: new Error(`the token of ${place} is dead`) });
const policyOf = (canSee: Policy["canSee"]): Policy => ({ name: "seen", summary: "", kinds: ["page", "app"], scopes: [], canSee });

interface Given {
  readonly scheme?: SchemeName;
  readonly profile?: "strict" | "clients";
  readonly mode?: string;
  readonly method?: string;
  readonly type?: string;
  readonly dead?: object[];
  readonly query?: object;
  readonly body?: object;
  /** The error with which the rate limits refuse the request. */
  readonly refusal?: Error;
  readonly policy?: Policy;
}

/** A request as the pipeline has it before the step `authorize`, with the lookups in its world. */
function requestWith(credentials: object[], given: Given = {}) {
  const { query = {}, body = {}, profile = "strict", policy = policyOf(() => true) } = given;
  const proofs: unknown[][] = [];
  const rates: unknown[][] = [];
  const world = {
    ...{ profile, database: {}, clock: { nowMs: () => NOW * 1_000 } },
    tokens: { checkProof: (...what: unknown[]) => void proofs.push(what) },
    rateLimits: {
      take: (...what: unknown[]) => {
        rates.push(what);
        return given.refusal;
      },
    },
  };
  const app = { id: "1", mode: given.mode ?? "live" };
  const subject = { id: "7", type: given.type ?? "page", owner: "8" };
  const incoming = { request: { query, body }, world, now: NOW } as unknown as Incoming;
  const versioned = {
    ...{ method: given.method ?? "GET", endpoint: { access: { scheme: given.scheme ?? "anywhere", policy } } },
    ...{ credentials, dead: given.dead ?? [], caller: { app }, subject },
    check: authorizationCheck(credentials as never, app as never, subject as never, world as never),
  } as unknown as Versioned;
  return { proofs, rates, incoming, versioned, app };
}

/** The steps of the pipeline that return the tokens that count for the operation. */
async function authorized(incoming: Incoming, versioned: Versioned): Promise<readonly AuthorizationCheck[]> {
  const check = countingChecks(incoming, versioned);
  await authorizeCaller(incoming, versioned, check);
  countRequest(incoming, versioned);
  return check;
}

/** Returns the places of the counting tokens in the request, with each token once; or the refusal. */
async function counted(credentials: object[], given: Given = {}): Promise<unknown> {
  const { incoming, versioned } = requestWith(credentials, given);
  try {
    return (await authorized(incoming, versioned)).map(({ credential: { place } }) => place);
  } catch (error) {
    return (error as Error).message;
  }
}

const missing = (place: string) => `An access token is required to request this resource: ${place} is missing`;
const DIFFERS = "(#100) Param access_token has different values in the query, the body or the Authorization header";

describe("the tokens that count", () => {
  test("AUTH-1: are those of all three places in page messaging, and may be different tokens of the app", async () => {
    const three = [credential("bearer", "a"), credential("access_token", "b"), credential("oauth_token", "c")];
    const scheme = "pageMessaging";
    expect(await counted(three, { scheme })).toEqual(["bearer", "access_token", "oauth_token"]);
    expect(await counted(three.slice(1), { scheme })).toBe(missing("Authorization"));
    expect(await counted(three.slice(1), { scheme, profile: "clients" })).toEqual(["access_token", "oauth_token"]);
    expect(await counted(three.slice(1), { scheme, dead: [dead("bearer")] })).toBe("the token of bearer is dead");
  });

  test("D-12: are in the operation's places; a token elsewhere is ignored, valid or not", async () => {
    const both = [credential("bearer", "a"), credential("access_token", "b")];
    expect(await counted(both, { scheme: "bearer" })).toEqual(["bearer"]);
    expect(await counted(both, { scheme: "query" })).toEqual(["access_token"]);
    expect(await counted([credential("bearer")], { scheme: "query" })).toBe(missing("access_token"));
    expect(await counted([credential("access_token")], { scheme: "bearer" })).toBe(missing("Authorization"));
    expect(await counted([credential("access_token")], { scheme: "bearer", profile: "clients" })).toEqual(["access_token"]);
    expect(await counted([credential("bearer")], { scheme: "bearer", dead: [dead("access_token")] })).toEqual(["bearer"]);
    expect(await counted([credential("access_token")], { scheme: "bearer", dead: [dead("bearer")] })).toBe("the token of bearer is dead");
  });

  test("D-12: are one token if two places have the same; two different ones are refused, even if one of them is invalid", async () => {
    expect(await counted([credential("bearer"), credential("access_token")])).toEqual(["bearer"]);
    for (const profile of ["strict", "clients"] as const) {
      expect(await counted([credential("bearer", "a"), credential("access_token", "b")], { profile })).toBe(DIFFERS);
      expect(await counted([credential("bearer", "a")], { profile, dead: [dead("body", "b")] })).toBe(DIFFERS);
      expect(await counted([credential("bearer", "a"), credential("body", "a"), credential("access_token", "b")], { profile })).toBe(DIFFERS);
    }
  });

  test("AUTH-18: are in the query only while the app is in development, if the operation says so", async () => {
    const inQuery = (mode: string, profile: "strict" | "clients" = "strict") =>
      counted([credential("access_token")], { scheme: "catalogCreation", mode, profile });
    expect(await inQuery("development")).toEqual(["access_token"]);
    expect(await inQuery("live")).toBe(missing("Authorization"));
    expect(await inQuery("live", "clients")).toEqual(["access_token"]);
    expect(await counted([credential("bearer", "a"), credential("access_token", "b")], { scheme: "catalogCreation" })).toEqual(["bearer"]);
  });

  test("D-11: read nothing of a person whose data the app may no longer read; an app is not a person, and a write reads nothing", async () => {
    const at = (data_access_expires_at: number) => [credential("bearer", "a", { data_access_expires_at })];
    const over = "Error validating access token in Authorization: the session has expired";
    expect([await counted(at(NOW)), await counted(at(1))]).toEqual([over, over]);
    for (const given of [{ method: "POST" }, { method: "DELETE" }, { type: "app" }]) expect(await counted(at(1), given)).toEqual(["bearer"]);
    expect([await counted(at(NOW + 1)), await counted(at(0))]).toEqual([["bearer"], ["bearer"]]);
    for (const profile of ["strict", "clients"] as const) {
      expect(await counted(at(NOW), { profile })).toBe(over);
      // The server checks each of several tokens, and the refusal says where in the request the refused token is.
      const places = ["bearer", "access_token", "oauth_token"] as const;
      for (const place of profile === "strict" ? places : []) {
        const three = places.map((each) => credential(each, each, { data_access_expires_at: each === place ? NOW : 0 }));
        const shown = place === "bearer" ? "Authorization" : place;
        expect(await counted(three, { scheme: "pageMessaging", profile })).toBe(over.replace("Authorization", shown));
      }
    }
    // A dead token is ignored if it stands where the operation takes no token.
    expect(await counted([...at(0), credential("access_token", "b", { data_access_expires_at: 1 })], { scheme: "bearer" })).toEqual(["bearer"]);
  });
});

test("D-15: each needs its own proof, in the body or else in the query", async () => {
  const three = [credential("bearer", "a"), credential("access_token", "b"), credential("oauth_token", "b")];
  const proofsOf = async (given: Given) => {
    const { incoming, versioned, proofs, app } = requestWith(three, given);
    await authorized(incoming, versioned);
    expect(proofs.every(([, , , of]) => of === app)).toBe(true);
    return proofs.map(([proof, value, token]) => [proof, value, (token as { id: string }).id]);
  };
  const [query, body] = [{ appsecret_proof: "of the query" }, { appsecret_proof: "of the body" }];
  expect(await proofsOf({ scheme: "bearer", query })).toEqual([["of the query", "a", "a"]]);
  expect(await proofsOf({ scheme: "pageMessaging", query, body })).toEqual([
    ["of the body", "a", "a"],
    ["of the body", "b", "b"],
    ["of the body", "b", "b"],
  ]);
  expect(await proofsOf({ scheme: "query" })).toEqual([[undefined, "b", "b"]]);
});

describe("D-22: a request counts for the rate of the app and of the node's owner", () => {
  const caller = async (given: Given, more: Partial<Incoming> = {}) => {
    const { incoming, versioned, rates } = requestWith([credential("bearer")], given);
    try {
      return { rates, counting: (await authorized({ ...incoming, ...more }, versioned)).length };
    } catch (error) {
      return { rates, refused: (error as Error).message };
    }
  };
  const taken = [["1", "8", NOW * 1_000]];
  const policies = { "at once": policyOf(() => true), later: policyOf(async () => true) };

  test.each(Object.entries(policies))("once it is authorized %s, and is refused if the rate is used up", async (_when, policy) => {
    expect(await caller({ policy })).toEqual({ rates: taken, counting: 1 });
    expect(await caller({ policy, refusal: new Error("used up") })).toEqual({ rates: taken, refused: "used up" });
  });

  test("and not if it is refused, nor for a part of a response", async () => {
    for (const policy of [policyOf(() => false), policyOf(async () => false)]) expect(await caller({ policy })).toMatchObject({ rates: [] });
    expect(await caller({ refusal: new Error("used up") }, { isInside: true })).toEqual({ rates: [], counting: 1 });
  });
});

describe("the callers who may know that a node exists", () => {
  const apps: Readonly<Record<string, object>> = { "1": { id: "1" }, "2": { id: "2", isOpen: true, created_time: 5 } };
  const tokenless = (app: { isOpen?: boolean }) => app.isOpen === true;
  interface Seeing {
    readonly scheme?: SchemeName;
    readonly profile?: "strict" | "clients";
    readonly node?: object;
    readonly canSee?: Policy["canSee"];
    readonly tokenless?: typeof tokenless;
  }
  /** The app, and where in the request the tokens stand that may know that the node exists. Undefined if no token may know that the node exists. */
  async function seeing(presented: { token: { app: string } }[], given: Seeing = {}): Promise<unknown> {
    const credentials = presented.map((one) => ({ ...one, app: apps[one.token.app] }));
    const world = { profile: given.profile ?? "strict", database: {}, tokens: { findApp: async (id: string) => apps[id] } };
    const access = { scheme: given.scheme ?? "anywhere", tokenless: given.tokenless };
    const endpoint = { access, visibility: policyOf(given.canSee ?? (() => true)) };
    const app = credentials.length === 0 ? undefined : apps["1"];
    const resolved = { address: {}, method: "GET", credentials, dead: [], app, node: given.node, endpoint } as unknown as Resolved;
    try {
      const visible = await see({ world } as unknown as Incoming, resolved);
      return visible && { app: visible.caller.app.id, places: visible.credentials.map(({ place }) => place), subject: visible.subject };
    } catch (error) {
      return (error as Error).message;
    }
  }
  const page = { id: "7", type: "page", owner: "7" };
  const other = { id: "2", type: "app", owner: "2" };

  test("are decided by the policy, at once or later", async () => {
    const found = { app: "1", places: ["bearer"], subject: page };
    for (const canSee of [() => true, async () => true]) expect(await seeing([credential("bearer")], { node: page, canSee })).toEqual(found);
    for (const canSee of [() => false, async () => false]) expect(await seeing([credential("bearer")], { node: page, canSee })).toBeUndefined();
    // If the request has no node, the subject is the app itself, and no policy is checked.
    const ofApp = { ...found, subject: { id: "1", type: "app", owner: "1" } };
    expect(await seeing([credential("bearer")], { canSee: () => false })).toEqual(ofApp);
  });

  test("D-93: are those with tokens in accepted places, with the first one's app; without such a token all tokens are checked", async () => {
    const both = [credential("bearer"), credential("access_token", "b", { app: "2" })];
    expect(await seeing(both, { node: page, scheme: "bearer" })).toMatchObject({ app: "1", places: ["bearer"] });
    expect(await seeing(both, { node: page, scheme: "query" })).toMatchObject({ app: "2", places: ["access_token"] });
    expect(await seeing(both, { node: page })).toMatchObject({ app: "1", places: ["bearer", "access_token"] });
    expect(await seeing([credential("bearer")], { node: page, scheme: "query" })).toMatchObject({ app: "1", places: ["bearer"] });
  });

  test("D-13 [clients]: include the addressed app itself if it allows requests without a token", async () => {
    const open = { node: other, tokenless, profile: "clients" } as const;
    expect(await seeing([], open)).toEqual({ app: "2", places: ["bearer"], subject: other });
    const refused: Seeing[] = [
      { ...open, profile: "strict" },
      { node: other, profile: "clients" },
      { ...open, node: { ...other, type: "page" } },
      { ...open, node: { ...other, id: "1" } },
      { ...open, node: { ...other, id: "3" } },
      { tokenless, profile: "clients" },
    ];
    for (const given of refused) expect(await seeing([], given)).toStartWith("An access token is required");
    expect(await seeing([], { scheme: "query" })).toBe(missing("access_token"));
    expect(await seeing([], { scheme: "bearer" })).toBe(missing("Authorization"));
  });
});
