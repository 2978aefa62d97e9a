/** Checks which tokens each SQL statement selects. Each test also has tokens of other apps, pages and people. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Token } from "./token.ts";
import {
  deleteExpiredCopies,
  deleteTokensNaming,
  findTokenByHash,
  findTokenById,
  insertToken,
  listLiveTokens,
  listTokens,
  markTokenRevoked,
  revokePageTokens,
  revokePageTokensOf,
} from "./tokens.store.ts";

const [APP, OTHER_APP, ADA, BOB, PAGE, OTHER_PAGE, SOCIAL, MICROBLOG] = ["11", "12", "31", "32", "21", "22", "41", "51"].map(nodeId) as [
  ...[NodeId, NodeId, NodeId, NodeId],
  ...[NodeId, NodeId, NodeId, NodeId],
];

const token = (id: string, words: Partial<Token> = {}): Token => ({
  ...{ id: nodeId(id), type: "page", app: APP, user: ADA, page: PAGE, social_account: undefined, microblog_user: undefined, scopes: [] },
  ...{ issued_at: 1, expires_at: 0, data_access_expires_at: 0, revoked_at: 0, ...words },
});

onEachDatabase("stored tokens", (database) => {
  /**
   * Opens a database that contains the given tokens. The hash of each token is the letter `h` followed by the token's id. Each copy is given with the
   * id of its original.
   */
  async function open(tokens: readonly Token[], copies: readonly (readonly [Token, NodeId])[] = []) {
    const { world } = await openPlaza({ database });
    const { database: db } = world;
    await db.write(async (tx) => {
      for (const one of tokens) await insertToken(tx, one, `h${one.id}`);
      for (const [copy, original] of copies) await insertToken(tx, copy, `h${copy.id}`, original);
    });
    const revoked = async () => {
      const all = await Promise.all([...tokens, ...copies.map(([copy]) => copy)].map(({ id }) => findTokenByHash(db.reader, `h${id}`)));
      return Object.fromEntries(all.filter((one) => one !== undefined).map(({ id, revoked_at }) => [id, revoked_at]));
    };
    return { db, revoked };
  }

  test("a token is read as it was stored, and no second token can have its value", async () => {
    const whole = token("101", { user: undefined, page: undefined, social_account: SOCIAL, microblog_user: MICROBLOG, type: "social_user" });
    const given = { ...whole, scopes: ["a", "b"], issued_at: 2, expires_at: 3, data_access_expires_at: 4, revoked_at: 5 };
    const { db } = await open([given, token("102")]);
    expect(await findTokenByHash(db.reader, "h101")).toEqual(given);
    expect(await findTokenById(db.reader, "102")).toEqual(token("102"));
    expect(await findTokenByHash(db.reader, "h103")).toBeUndefined();
    expect(await db.write((tx) => insertToken(tx, token("103"), "h101"))).toBe(false);
    expect(await findTokenByHash(db.reader, "h101")).toEqual(given);
  });

  test("lists are sorted newest first and omit copies, which are found only by their value", async () => {
    const { db } = await open([token("101"), token("103")], [[token("102"), nodeId("101")]]);
    expect((await listTokens(db.reader, { limit: 10 })).rows.map(({ id }) => String(id))).toEqual(["103", "101"]);
    expect(await findTokenById(db.reader, "102")).toBeUndefined();
    expect(await findTokenByHash(db.reader, "h102")).toMatchObject({ id: "102" });
  });

  test("D-11: tokens of the app and the principal are live unless they are revoked or their times have passed", async () => {
    const { db } = await open([
      token("101", { scopes: ["a"] }),
      token("102", { expires_at: 1_001, data_access_expires_at: 1_001, user: BOB }),
      token("103", { expires_at: 1_000 }),
      token("104", { data_access_expires_at: 1_000 }),
      token("105", { revoked_at: 1 }),
      token("106", { app: OTHER_APP }),
      token("107", { page: OTHER_PAGE }),
      token("108", { type: "user", page: undefined }),
      token("109", { type: "social_user", user: undefined, page: undefined, social_account: SOCIAL }),
    ]);
    const live = await listLiveTokens(db.reader, APP, "page", PAGE, 1_000);
    expect(live.toSorted((a, b) => String(a.user).localeCompare(String(b.user)))).toEqual([
      { type: "page", user: ADA, scopes: ["a"] },
      { type: "page", user: BOB, scopes: [] },
    ]);
    expect(await listLiveTokens(db.reader, APP, "social_user", SOCIAL, 1_000)).toEqual([{ type: "social_user", user: undefined, scopes: [] }]);
  });

  test("a token is revoked with its copies, and keeps the time of the first revocation", async () => {
    const { db, revoked } = await open(
      [token("101"), token("102"), token("103", { revoked_at: 5 })],
      [
        [token("104"), nodeId("101")],
        [token("105", { revoked_at: 7 }), nodeId("101")],
        [token("106"), nodeId("102")],
      ],
    );
    expect((await db.write((tx) => markTokenRevoked(tx, "101", 9))).sort()).toEqual(["h101", "h104", "h105"]);
    expect(await db.write((tx) => markTokenRevoked(tx, "103", 9))).toEqual(["h103"]);
    expect(await db.write((tx) => markTokenRevoked(tx, "99", 9))).toEqual([]);
    expect(await revoked()).toEqual({ 101: 9, 102: 0, 103: 5, 104: 9, 105: 7, 106: 0 });
  });

  test("copies are deleted when they expire; originals and others' copies stay", async () => {
    const { db, revoked } = await open(
      [token("101", { expires_at: 1 }), token("102")],
      [
        [token("103", { expires_at: 1_000 }), nodeId("101")],
        [token("104", { expires_at: 1_001 }), nodeId("101")],
        [token("105", { expires_at: 1_000 }), nodeId("102")],
      ],
    );
    expect(await db.write((tx) => deleteExpiredCopies(tx, nodeId("101"), 1_000))).toEqual(["h103"]);
    expect(Object.keys(await revoked())).toEqual(["101", "102", "104", "105"]);
  });

  test("D-11: losing a role revokes the tokens of that page and person", async () => {
    const { db, revoked } = await open([
      token("101"),
      token("102", { app: OTHER_APP }),
      token("103", { revoked_at: 5 }),
      token("104", { user: BOB }),
      token("105", { page: OTHER_PAGE }),
      token("106", { user: undefined }),
      token("107", { type: "user", page: undefined }),
    ]);
    expect((await db.write((tx) => revokePageTokens(tx, PAGE, ADA, 9))).sort()).toEqual(["h101", "h102"]);
    expect(await revoked()).toEqual({ 101: 9, 102: 9, 103: 5, 104: 0, 105: 0, 106: 0, 107: 0 });
  });

  test("D-11: the page tokens of a deleted person stay, revoked and without the person", async () => {
    const { db, revoked } = await open([
      token("101"),
      token("102", { revoked_at: 5, page: OTHER_PAGE }),
      token("103", { user: BOB }),
      token("104", { type: "user", page: undefined }),
    ]);
    expect((await db.write((tx) => revokePageTokensOf(tx, ADA, 9))).sort()).toEqual(["h101", "h102"]);
    expect(await revoked()).toEqual({ 101: 9, 102: 5, 103: 0, 104: 0 });
    expect(await findTokenByHash(db.reader, "h101")).toMatchObject({ user: undefined, page: PAGE });
    expect(await findTokenByHash(db.reader, "h104")).toMatchObject({ user: ADA });
  });

  test("a node's deletion deletes the tokens that name it in any place", async () => {
    const tokens = [
      token("101", { app: OTHER_APP }),
      token("102", { user: BOB }),
      token("103", { page: OTHER_PAGE }),
      token("104", { social_account: SOCIAL }),
      token("105", { microblog_user: MICROBLOG }),
      token("106"),
    ];
    const { db, revoked } = await open(tokens);
    for (const [id, hash] of [
      [OTHER_APP, "h101"],
      [BOB, "h102"],
      [OTHER_PAGE, "h103"],
      [SOCIAL, "h104"],
      [MICROBLOG, "h105"],
    ] as const)
      expect(await db.write((tx) => deleteTokensNaming(tx, id))).toEqual([hash]);
    expect(await revoked()).toEqual({ 106: 0 });
  });
});
