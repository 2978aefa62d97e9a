import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { AppFacts } from "./app-facts.ts";
import { checkTokens, missingCredential, type Presented, presentedTokens, schemeFor } from "./credentials.ts";
import { clientsScheme, type Place, schemes } from "./schemes.ts";
import { isDataAccessOver, principalOf, revocationTime, type Token } from "./token.ts";
import { insertToken } from "./tokens.store.ts";
import { hashOf } from "./tokens.ts";

const ALL: readonly Place[] = ["access_token", "oauth_token", "bearer", "body"];

interface Sent {
  readonly query?: Record<string, unknown>;
  readonly body?: Record<string, unknown>;
  readonly authorization?: string;
}

function presented({ query = {}, body = {}, authorization }: Sent, profile: "strict" | "clients" = "strict", places = ALL) {
  const header = (name: string) => (name === "authorization" ? authorization : undefined);
  return presentedTokens({ query, body, header }, places, profile).map(({ place, value, problem }) => ({
    place,
    value,
    isWrong: problem !== undefined,
  }));
}

const right = (place: Place, value: string) => ({ place, value, isWrong: false });
const wrong = (place: Place) => ({ place, value: "", isWrong: true });

describe("D-10: the tokens that a request brings", () => {
  test("are in the query, the header and the body, in this order of precedence", () => {
    const all = { query: { access_token: "a", oauth_token: "b" }, body: { access_token: "c" }, authorization: "Bearer d" };
    expect(presented(all)).toEqual([right("access_token", "a"), right("oauth_token", "b"), right("bearer", "d"), right("body", "c")]);
    expect(presented(all, "strict", ["body", "bearer"])).toEqual([right("body", "c"), right("bearer", "d")]);
    expect(presented({ body: { oauth_token: "x" } })).toEqual([]);
  });

  test("an empty token counts as absent, and one that is not text as malformed", () => {
    expect(presented({ query: { access_token: "" }, authorization: "" })).toEqual([]);
    expect(presented({ query: { access_token: ["a", "b"] }, body: { access_token: null } })).toEqual([wrong("access_token"), wrong("body")]);
  });

  test.each([
    ["Bearer abc", "abc"],
    ["bearer abc", "abc"],
    ["BEARER   abc", "abc"],
    ["Bearer 1001|secret", "1001|secret"],
    ["Bearer !~", "!~"],
    ["Bearer é", "é"],
    ["Bearer ", undefined],
    ["Bearer a b", undefined],
    ["Bearer a\tb", undefined],
    ["Bearerabc", undefined],
    ["Basic abc", undefined],
    ["abc", undefined],
  ])("the header %p brings %p", (authorization, value) => {
    expect(presented({ authorization })).toEqual([value === undefined ? wrong("bearer") : right("bearer", value)]);
  });

  test("D-12: if header and parameter have different tokens, clients uses the parameter's, and strict both", () => {
    const different = { query: { access_token: "a" }, authorization: "Bearer b" };
    expect(presented(different, "clients")).toEqual([right("access_token", "a")]);
    expect(presented(different)).toEqual([right("access_token", "a"), right("bearer", "b")]);
    const same = { query: { access_token: "a" }, body: { access_token: "a" }, authorization: "Bearer a" };
    expect(presented(same, "clients")).toHaveLength(3);
    expect(presented({ ...same, body: { access_token: "c" } }, "clients")).toEqual([right("access_token", "a"), right("body", "c")]);
    expect(presented({ query: { access_token: "a", oauth_token: "b" } }, "clients")).toHaveLength(2);
    expect(presented({ authorization: "Bearer b" }, "clients")).toEqual([right("bearer", "b")]);
  });

  test("AUTH-1: the error names the first empty place if all are needed, or the first place if there is no token", () => {
    const of = (...places: Place[]): Presented[] => places.map((place) => ({ place, value: "a" }));
    const missing = (given: readonly Presented[], scheme: Parameters<typeof missingCredential>[1]) => missingCredential(given, scheme)?.message;
    expect(missing(of("access_token", "oauth_token", "bearer"), schemes.pageMessaging)).toBeUndefined();
    expect(missing(of("access_token", "bearer"), schemes.pageMessaging)).toContain("oauth_token");
    expect(missing(of("access_token", "oauth_token"), schemes.pageMessaging)).toContain("Authorization");
    expect(missing([], schemes.bearer)).toContain("Authorization");
    expect(missing([], schemes.query)).toContain("access_token");
    expect(missing(of("body"), schemes.anywhere)).toBeUndefined();
  });

  test("the clients profile accepts any place, the strict one those of the operation", () => {
    expect(schemeFor("pageMessaging", "clients")).toBe(clientsScheme);
    expect(schemeFor("pageMessaging", "strict")).toBe(schemes.pageMessaging);
  });
});

describe("a token", () => {
  const token = { app: "1", user: "2", page: "3", social_account: "4", microblog_user: "5", data_access_expires_at: 1_000 } as unknown as Token;

  test("D-02: represents the principal of its kind", () => {
    const principals = (["app", "user", "system_user", "page", "social_user", "microblog_user"] as const).map((type) =>
      principalOf({ ...token, type }),
    );
    expect(principals.map(String)).toEqual(["1", "2", "2", "3", "4", "5"]);
  });

  test("D-11: the access to data ends with the second that the token names; 0 means no end", () => {
    expect([999, 1_000, 1_001].map((now) => isDataAccessOver(token, now))).toEqual([false, true, true]);
    expect(isDataAccessOver({ ...token, data_access_expires_at: 0 }, 1_000)).toBe(false);
  });

  test("D-02: represents its app if its principal is gone", () => {
    const alone = { app: token.app } as unknown as Token;
    const principals = (["user", "system_user", "page", "social_user", "microblog_user"] as const).map((type) => principalOf({ ...alone, type }));
    expect(principals.map(String)).toEqual(["1", "1", "1", "1", "1"]);
  });

  test("is revoked even if the clock is at the beginning of time", () => {
    expect([0, 1, 2].map(revocationTime)).toEqual([1, 1, 2]);
  });
});

onEachDatabase("tokens that are checked", (database) => {
  const open = async () => {
    const { world } = await openPlaza({ database, world: cafe });
    const check = async (...values: string[]) => {
      const brought = values.map((value): Presented => ({ place: "bearer", value }));
      const { alive, dead } = await checkTokens(brought, world.tokens, 1_789_999_999);
      return { alive: alive.map(({ value }) => value), dead: dead.map(({ value, error }) => [value, error.entry.subcode ?? error.entry.code]) };
    };
    return { world, check };
  };

  test("are each valid until the second in which they expire", async () => {
    const { world, check } = await open();
    expect(await check("page", "nothing", "page", "expired")).toEqual({ alive: ["page", "page", "expired"], dead: [["nothing", 190]] });
    const { dead } = await checkTokens([{ place: "bearer", value: "expired" }], world.tokens, 1_790_000_000);
    expect(dead[0]?.error.entry.subcode).toBe(463);
    expect(await check("x".repeat(1_001))).toEqual({ alive: [], dead: [["x".repeat(1_001), 190]] });
  });

  test("D-11: an app id with the app's secret is a token of that app only", async () => {
    const { check, world } = await open();
    const { alive, dead } = await check("1001|s3cret", "1002|s3cret", "1001|s3cre", "1001|", "|s3cret", "2001|s3cret", "x|s3cret");
    expect({ alive, dead: dead.length }).toEqual({ alive: ["1001|s3cret"], dead: 6 });
    expect(world.tokens.peekAppOf("1001|s3cret", 0)).toBe("1001" as never);
    expect(world.tokens.peekAppOf("1001|0ther", 0)).toBeUndefined();
  });

  test("a token may have 1,000 characters", async () => {
    const long = "x".repeat(1_000);
    const { world } = await openPlaza({ database, world: { ...cafe, tokens: [{ token: long, type: "app", app: "1001" }] } });
    expect(await world.tokens.find(long)).toMatchObject({ type: "app" });
    // A value with too many characters is never found as a token, even if a token with that value is stored.
    const app = (await world.tokens.find(long)) as Token;
    await world.database.write((tx) => insertToken(tx, { ...app, id: nodeId("99") }, hashOf(`${long}x`)));
    expect(await world.tokens.find(`${long}x`)).toBeUndefined();
  });

  test("D-97: the app of a live token that was looked up before is known at once", async () => {
    const { check, world } = await open();
    const appOf = (value: string, now = 0) => world.tokens.peekAppOf(value, now)?.toString();
    expect([appOf("page"), appOf("1001|s3cret"), appOf("x|s3cret")]).toEqual([undefined, undefined, undefined]);
    // A process that could not confirm its cache for a second does not use the cache, so on a slow machine the test reads once more.
    do await check("page", "expired", "nothing", "other-app");
    while (appOf("page") === undefined);
    expect([appOf("page"), appOf("other-app"), appOf("nothing")]).toEqual(["1001", "1002", undefined]);
    expect([appOf("expired", 1_789_999_999), appOf("expired", 1_790_000_000)]).toEqual(["1001", undefined]);
    expect([appOf("1001|s3cret"), appOf("1002|s3cret"), appOf("1001|"), appOf("1001|xs3cret"), appOf("x|s3cret")]).toEqual([
      ...["1001", undefined, undefined, undefined, undefined],
    ]);
  });

  test("a cached token is refused as soon as it is revoked or deleted, or its person or role is gone", async () => {
    const { check, world } = await open();
    const { tokens, database: db } = world;
    const [page, ada, bob] = ["2001", "3001", "3002"].map(nodeId) as [NodeId, NodeId, NodeId];
    const changes: readonly [string, number, (tx: Transaction) => Promise<void>][] = [
      ["ada", 466, (tx) => tokens.revoke(tx, hashOf("ada"), 7)],
      ["app", 190, (tx) => tokens.forget(tx, hashOf("app"))],
      ["page", 466, (tx) => tokens.endPageTokens(tx, page, ada, 7)],
      ["bob", 190, (tx) => tokens.forgetNode(tx, bob, 7)],
      ["bar", 466, (tx) => tokens.forgetNode(tx, nodeId("3003"), 7)],
    ];
    for (const [value, code, change] of changes) {
      expect((await check(value)).alive).toEqual([value]);
      await db.write(change);
      expect(await check(value)).toEqual({ alive: [], dead: [[value, code]] });
    }
    expect(await tokens.find("ada")).toMatchObject({ revoked_at: 7 });
  });

  test("D-15: a proof belongs to the token and the app's secret, in upper or lower case; app tokens need none", async () => {
    const { world } = await open();
    const app = (await world.tokens.findApp(nodeId("1001"))) as AppFacts;
    const [page, ofApp] = [(await world.tokens.find("page")) as Token, (await world.tokens.find("app")) as Token];
    const proofOf = (secret: string, value: string): string => createHmac("sha256", secret).update(value).digest("hex");
    const problem = (proof: unknown, token: Token, isRequired = false): string => {
      try {
        world.tokens.checkProof(proof, "page", token, { ...app, require_appsecret_proof: isRequired });
        return "none";
      } catch (error) {
        return (error as Error).message.replace("(#100) Param appsecret_proof ", "");
      }
    };
    const right = proofOf("s3cret", "page");
    expect([problem(right, page), problem(right.toUpperCase(), page), problem(right, page, true)]).toEqual(["none", "none", "none"]);
    expect([problem(undefined, page), problem(undefined, page, true)]).toEqual(["none", "is required by the app"]);
    for (const wrong of [proofOf("s3cret", "ada"), proofOf("0ther", "page"), right.slice(1), "", null, [right]])
      expect([problem(wrong, page), problem(wrong, page, true)]).toEqual(Array(2).fill("is not the proof of this token"));
    expect([problem(undefined, ofApp, true), problem("wrong", ofApp, true)]).toEqual(["none", "none"]);
    // The proof of a token of another app is not checked, because the policy of the operation refuses such a token.
    const ofOther: Token = { ...page, app: nodeId("1002") };
    expect([problem(right, ofOther), problem(undefined, ofOther, true)]).toEqual(["none", "none"]);
  });
});
