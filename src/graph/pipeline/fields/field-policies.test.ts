import { expect, test } from "bun:test";
import { Type } from "typebox";
import { nobody, type Policy } from "#auth/policy";
import type { NodeRef } from "#auth/token";
import { features } from "#features";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { nodeId } from "#kernel/ids";
import type { Feature } from "../../contract/feature.ts";
import type { Field, FieldSet, ListOperation, Served } from "../../contract/operation.ts";
import { Registry } from "../../contract/registry.ts";

const KEPT = "kept back";
const policyNamed = (name: string): Policy => {
  const policy = features.flatMap(({ policies }) => policies ?? []).find((one) => one.name === name);
  if (policy === undefined) throw new Error(`no feature has the policy ${name}`);
  return policy;
};
const liveVideo = policyNamed("liveVideo");
const pageMessaging = policyNamed("pageMessaging");
const kept: Field = { schema: Type.String(), policy: nobody, of: () => KEPT };
const keptAndLoaded: Field = { schema: Type.String(), policy: nobody, load: async (_request, _reader, rows) => rows.map(() => KEPT) };
/**
 * A field that only callers with a right to live videos of the page may read. To read the test's field, callers need another scope and another task
 * than for personas.
 */
const forLive: Field = { schema: Type.String(), policy: liveVideo, of: () => "live" };
const boxOf = (set: FieldSet): Field => ({
  schema: Type.Object({}),
  policy: pageMessaging,
  nested: { set: () => set, load: async (_request, _reader, rows) => rows.map(() => ({ label: "box" })) },
});
const box = boxOf({ fields: { label: { schema: Type.String(), policy: pageMessaging }, kept, forLive }, defaults: ["label", "kept", "forLive"] });
const vault = boxOf({ fields: { kept }, defaults: ["kept"] });

const more: Record<string, Field> = { kept, keptAndLoaded, forLive, box, vault };
const widened = (set: FieldSet): FieldSet => ({
  ...set,
  fields: { ...set.fields, ...more },
  defaults: [...set.defaults, "kept", "keptAndLoaded", "forLive", "box", "vault"],
});

/** The name of a persona for which the list says that it belongs to the other page. */
const SHARED = "Shared";
const nodeOfItem = ({ id, name }: { id?: unknown; name?: unknown }): NodeRef => ({
  id: nodeId(String(id)),
  type: "persona",
  owner: nodeId(name === SHARED ? "2002" : "2001"),
});

const widenedOperation = ({ contract, ...handler }: Served): Served => {
  if (contract.kind === "list") return { contract: { ...contract, items: widened(contract.items), nodeOf: nodeOfItem }, ...handler } as Served;
  if (contract.kind !== "write" || contract.readBack === undefined) return { contract, ...handler } as Served;
  return { contract: { ...contract, readBack: { ...contract.readBack, set: widened(contract.readBack.set) } }, ...handler } as Served;
};

/** The personas feature with more fields, in every response that has a persona. */
const widenedFeature = (feature: Feature): Feature => ({
  ...feature,
  nodeTypes: (feature.nodeTypes ?? []).map((type) =>
    type.reading === undefined ? type : { ...type, reading: { ...type.reading, set: widened(type.reading.set) } },
  ),
  operations: (feature.operations ?? []).map(widenedOperation),
});

const registryWith = (change: (personas: Feature) => Feature) =>
  new Registry(features.map((feature) => (feature.name === "personas" ? change(feature) : feature)));

const liveScopes = ["pages_messaging", "pages_manage_posts", "pages_read_engagement"];
const world = {
  ...cafe,
  pages: cafe.pages.map((page) => (page.id === "2001" ? { ...page, roles: [...page.roles, { user: "3003", tasks: ["MESSAGING"] }] } : page)),
  tokens: [
    ...cafe.tokens,
    { token: "live", type: "page", app: "1001", page: "2001", user: "3001", scopes: liveScopes },
    { token: "no-task", type: "user", app: "1001", user: "3003", scopes: liveScopes },
  ],
};

const PERSONA = "/v26.0/5101";
const PERSONAS = "/v26.0/2001/personas";
const plain = { id: "5101", name: "Bo", profile_picture_url: "https://example.com/bo.png" };
const NAMED = "name,kept,keptAndLoaded,box{label,kept},vault{kept}";

onEachDatabase("policies of fields", (database) => {
  const open = () => openPlaza({ database, world, registry: registryWith(widenedFeature) });
  const read = async (plaza: TestPlaza, token: string, fields?: string, path = PERSONA) => {
    const { status, body } = await plaza.get(path, { token, query: fields === undefined ? {} : { fields } });
    return { status, body };
  };
  const ofList = async (plaza: TestPlaza, token: string, fields?: string) => (await read(plaza, token, fields, PERSONAS)).body.data;

  test("D-16: a field that nobody may read is in no read: not by default, by name, or inside an object", async () => {
    const plaza = await open();
    expect(await read(plaza, "page")).toEqual({ status: 200, body: { ...plain, box: { label: "box" } } });
    expect(await read(plaza, "page", NAMED)).toEqual({ status: 200, body: { id: "5101", name: "Bo", box: { label: "box" } } });
    expect(await read(plaza, "page", "kept,vault")).toEqual({ status: 200, body: { id: "5101" } });
  });

  test("D-16: nor in a list", async () => {
    const plaza = await open();
    expect(await ofList(plaza, "page")).toEqual([{ ...plain, box: { label: "box" } }]);
    expect(await ofList(plaza, "page", NAMED)).toEqual([{ id: "5101", name: "Bo", box: { label: "box" } }]);
  });

  test("D-16, D-33: nor in the response of a write", async () => {
    const plaza = await open();
    const body = { name: "New", profile_picture_url: "https://example.com/new.png", fields: NAMED };
    const made = await plaza.post(PERSONAS, { token: "page", body });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({ id: made.body.id, name: "New", box: { label: "box" } });
  });

  test("D-16, D-34: nor by ids= or in a batch", async () => {
    const plaza = await open();
    const request = { token: "page", query: { access_token: "page", oauth_token: "page" } };
    const byIds = await plaza.get("/v26.0/", { ...request, query: { ...request.query, ids: "5101", fields: NAMED } });
    expect(byIds.body).toEqual({ 5101: { id: "5101", name: "Bo", box: { label: "box" } } });
    const batch = [PERSONA, `${PERSONA}?fields=${NAMED}`, `${PERSONAS}?fields=${NAMED}`].map((relative_url) => ({ method: "GET", relative_url }));
    const { body } = await plaza.post("/", { ...request, body: { batch } });
    expect(body.map(({ code }: { code: number }) => code)).toEqual([200, 200, 200]);
    expect(JSON.stringify(body)).not.toContain(KEPT);
  });

  test("D-16, D-34: metadata=1 lists the fields that the caller may read", async () => {
    const plaza = await open();
    const promised = async (token: string) => {
      const { body } = await plaza.get(PERSONA, { token, query: { access_token: token, oauth_token: token, metadata: "1" } });
      return body.metadata.fields.map(({ name }: { name: string }) => name);
    };
    const always = ["id", "name", "profile_picture_url", "page"];
    expect(await promised("page")).toEqual([...always, "box", "vault"]);
    expect(await promised("live")).toEqual([...always, "forLive", "box", "vault"]);
  });

  test("D-16, D-91: without its scope or task a field is omitted, and refused if it is named", async () => {
    const plaza = await open();
    for (const token of ["page", "no-task"]) expect((await read(plaza, token)).body).toEqual({ ...plain, box: { label: "box" } });
    for (const [token, code] of [["page", 10] as const, ["no-task", 200] as const]) {
      for (const fields of ["name,forLive", "box{forLive}"]) {
        expect(await read(plaza, token, fields)).toMatchObject({ status: 403, body: { code } });
        expect(await read(plaza, token, fields, PERSONAS)).toMatchObject({ status: 403, body: { code } });
      }
    }
    expect((await read(plaza, "live", "forLive,box{forLive}")).body).toEqual({ id: "5101", forLive: "live", box: { forLive: "live" } });
    expect((await read(plaza, "ada", "forLive")).status).toBe(403);
  });

  test("D-10, D-16: each of the tokens must be allowed to read the field", async () => {
    const plaza = await open();
    const query = { access_token: "live", oauth_token: "page" };
    const response = (fields: string) => plaza.get(PERSONA, { query: { ...query, fields }, headers: { authorization: "Bearer live" } });
    expect(await response("forLive")).toMatchObject({ status: 403, body: { code: 10 } });
    expect((await response("name")).status).toBe(200);
  });

  test("D-16: a write succeeds, and its response omits a field that the caller may not read", async () => {
    const plaza = await open();
    const body = { name: "New", profile_picture_url: "https://example.com/new.png", fields: "name,forLive" };
    const [without, having] = [await plaza.post(PERSONAS, { token: "page", body }), await plaza.post(PERSONAS, { token: "live", body })];
    expect(without.body).toEqual({ id: without.body.id, name: "New" });
    expect(having.body).toEqual({ id: having.body.id, name: "New", forLive: "live" });
  });

  test("D-16: in a list the policy is checked on the item, not on the node whose list it is", async () => {
    const plaza = await open();
    const { body } = await plaza.post(PERSONAS, { token: "live", body: { name: SHARED, profile_picture_url: plain.profile_picture_url } });
    expect(await ofList(plaza, "live", "forLive")).toEqual([{ id: body.id }, { id: "5101", forLive: "live" }]);
  });
});

const withList = (words: (contract: ListOperation) => Partial<ListOperation>) =>
  registryWith((feature) => ({
    ...feature,
    operations: (feature.operations ?? []).map((served) =>
      served.contract.kind === "list" ? ({ ...served, contract: { ...served.contract, ...words(served.contract) } } as Served) : served,
    ),
  }));

const itemsWith = (fields: Record<string, Field>, required?: string[]) => (contract: ListOperation) => ({
  items: { ...contract.items, fields: { ...contract.items.fields, ...fields }, ...(required === undefined ? {} : { required }) },
});

test("D-16: a list with a field of another policy names its items' node, or the server does not start", () => {
  expect(() => withList(itemsWith({ kept }))).toThrow("listPersonas has the field kept with a policy of its own");
  expect(() => withList(itemsWith({ box }))).toThrow("listPersonas has the field box.kept with a policy of its own");
});

test("D-16, D-37: a field that is always returned has its operation's policy, or the server does not start", () => {
  expect(() => withList(itemsWith({ kept }, ["id", "kept"]))).toThrow("listPersonas always returns the field kept");
  const inner = boxOf({ fields: { id: kept }, defaults: ["id"] });
  expect(() => withList(itemsWith({ inner }))).toThrow("inner of listPersonas always returns the field id");
});

test("D-16: a field inside an object has a policy, or the server does not start", () => {
  const inner = boxOf({ fields: { lost: { ...kept, policy: undefined as unknown as Field["policy"] } }, defaults: ["lost"] });
  expect(() => withList(itemsWith({ inner }))).toThrow("field lost of inner of listPersonas has no policy");
});
