/** D-38: a read inside a response takes the steps of a request of its own. */
import { expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody, type Policy } from "#auth/policy";
import type { FieldSet } from "#graph/contract/operation";
import { tokensOf, withTokens } from "#graph/pipeline/authenticate";
import { readPart } from "#graph/pipeline/parts";
import type { Incoming, Versioned } from "#graph/pipeline/stages";
import { standardCalendar } from "#graph/versions/calendar";
import { ChangeLog } from "#graph/versions/changes";

const open: Policy = { ...nobody, kinds: ["page"], canSee: () => true };
const set: FieldSet = { fields: { id: { schema: Type.String(), policy: open } }, defaults: ["id"] };
const token = { id: "t", type: "page", app: "1", scopes: [], data_access_expires_at: 0 };
const credentials = [{ place: "bearer", value: "t", token }];

interface Given {
  readonly query?: object;
  readonly body?: object;
  readonly surface?: string;
  readonly version?: number | undefined;
  readonly fields?: string;
  readonly edge?: string;
  readonly canSee?: Policy["canSee"];
  /** Of the part's own read. */
  readonly policy?: Policy;
  readonly type?: string;
  readonly isGone?: boolean;
}

/** What the part shows, and the request that it was read by. */
async function part(given: Given = {}) {
  const { query = {}, body = {}, surface = "base", version, fields, edge, canSee = open.canSee, policy = open, type = "page", isGone } = given;
  const asked: { graphRequest?: unknown } = {};
  const access = { surfaces: ["base"], scheme: "anywhere", versions: "platform", policy, operation: "readPage" };
  const find = async (request: { graphRequest: unknown }) => {
    asked.graphRequest = request.graphRequest;
    return isGone === true ? undefined : { id: "5" };
  };
  const handle = async (request: { graphRequest: unknown }) => {
    asked.graphRequest = request.graphRequest;
    return { read: true };
  };
  const ofNode = { reading: { set, find }, served: undefined };
  const ofEdge = { reading: undefined, served: { contract: { kind: "read", operation: "readFeed" }, handle } };
  const endpoint = { access, paramNames: [], names: [], readParams: (source: object) => source, visibility: { ...open, canSee } };
  const registry = {
    find: (of: string, method: string, name: string | undefined) =>
      of === "page" && method === "GET" ? { ...endpoint, ...(name === undefined ? ofNode : ofEdge) } : undefined,
    ...{ changes: new ChangeLog([]), isField: () => false, servedIn: () => undefined },
  };
  const node = type === "none" ? undefined : { id: "5", type, owner: "5" };
  const world = {
    ...{ profile: "strict", calendar: standardCalendar, database: { reader: {} } },
    ...{ findNode: async () => node, tokens: { checkProof: () => {} } },
  };
  const request = { method: "POST", path: "/v26.0/7", query, body, files: new Map(), surface, batchDepth: 0 };
  const app = { id: "1", mode: "live", created_time: 1_790_000_000, migrations: {} };
  const around = { address: { version }, credentials, dead: [], app } as unknown as Versioned;
  const incoming = { request, world, registry, now: 1_000 } as unknown as Incoming;
  const shown = await readPart(incoming, around, { id: "5" as never, edge, fields });
  return { shown, request: asked.graphRequest };
}

test("it shows what the caller's own read would", async () => {
  expect((await part({})).shown).toEqual({ id: "5" });
  expect((await part({ edge: "feed" })).shown).toEqual({ read: true });
});

test("it is nothing where that read would find nothing: no node, no such read, another surface, nothing to be seen, gone meanwhile", async () => {
  const nothing: Given[] = [
    { type: "none" },
    { type: "label" },
    { surface: "ads" },
    { canSee: () => false },
    { canSee: async () => false },
    { isGone: true },
  ];
  for (const given of nothing) expect({ given, shown: (await part(given)).shown }).toEqual({ given, shown: undefined });
});

test("D-16: it is refused as that read would be, at once or later", async () => {
  for (const canSee of [open.canSee, async () => true]) {
    const policy: Policy = { ...open, scopes: ["notes"], canSee };
    await expect(part({ policy })).rejects.toMatchObject({ errorName: "permissionMissing" });
  }
});

test("its request has the tokens and the version of the one around it, what is selected, and nothing else", async () => {
  const query = { access_token: "a b", oauth_token: "o", limit: "5", fields: "feed" };
  const body = { access_token: "c", appsecret_proof: "p", message: "x" };
  expect((await part({ query, body, version: 24, edge: "feed", fields: "a{b}" })).request).toEqual({
    ...{ method: "GET", path: "/v24.0/5/feed", surface: "base", batchDepth: 0, files: new Map() },
    queryText: "fields=a%7Bb%7D&access_token=a%20b&oauth_token=o",
    query: { access_token: "a b", oauth_token: "o", fields: "a{b}" },
    body: { access_token: "c", appsecret_proof: "p" },
  });
  expect((await part({ query: {}, body })).request).toMatchObject({ path: "/5", queryText: "", query: {} });
});

test("VER-7g: its request has the override of the one around it, of its query or else its body", async () => {
  const [on, off] = [{ migrations_override: "{}" }, { migrations_override: {} }];
  expect((await part({ query: on, body: off })).request).toMatchObject({ query: on });
  expect((await part({ body: off })).request).toMatchObject({ query: off });
  expect((await part()).request).toHaveProperty("query", {});
});

test("D-32: the tokens that a derived request takes over are those that are there, escaped", () => {
  expect(tokensOf({ access_token: "a", fields: "id", oauth_token: undefined, appsecret_proof: "" })).toEqual({
    access_token: "a",
    appsecret_proof: "",
  });
  expect([withTokens("", {}), withTokens("a=1", {}), withTokens("", { x: "a&b" }), withTokens("a=1", { x: "ü", y: 5 })]).toEqual([
    ...["", "a=1", "x=a%26b", "a=1&x=%C3%BC&y=5"],
  ]);
});
