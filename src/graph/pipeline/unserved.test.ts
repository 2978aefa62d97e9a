import { expect, test } from "bun:test";
import { findNode } from "#graph/worlds/nodes.store";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type PlazaOptions, type TestPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { NAMES_MAX } from "../worlds/unserved.ts";

const NOW_MS = 1_795_000_000_000;
const bearer = "page";

/** The list of unserved names without their times and trace ids. */
const listOf = ({ world }: TestPlaza) => (world.unserved?.list() ?? []).map(({ first_ms: _, last_ms: __, trace_id: ___, ...asked }) => asked);
const one = { count: 1, apps: ["1001"] };
const open = (options: PlazaOptions = {}) => openPlaza({ world: cafe, profile: "clients", ...options });

onEachDatabase("D-394: the list of names that are not served", (database) => {
  test("has edges of nodes that exist, of any node, and of no node, with the method and the app", async () => {
    const plaza = await open({ database });
    await plaza.get("/v26.0/2001/insights", { bearer });
    await plaza.post("/v26.0/2001/insights", { bearer });
    await plaza.get("/v26.0/me/insights", { bearer: "ada" });
    await plaza.get("/v26.0/99999/albums", { bearer });
    await plaza.get("/v26.0/act_12345/campaigns", { bearer });
    await plaza.get("/v26.0/2001_77/x/y", { bearer });
    await plaza.get("/v26.0/search", { query: { q: "coffee", access_token: "other-app" } });
    await plaza.get("/v26.0/search");
    expect(listOf(plaza)).toEqual([
      { kind: "edge", method: "GET", name: "search", count: 2, apps: ["1002"] },
      { kind: "edge", method: "GET", name: "page/insights", ...one },
      { kind: "edge", method: "POST", name: "page/insights", ...one },
      { kind: "edge", method: "GET", name: "user/insights", ...one },
      { kind: "edge", method: "GET", name: "{id}/albums", ...one },
      { kind: "edge", method: "GET", name: "act_{id}/campaigns", ...one },
      { kind: "edge", method: "GET", name: "{id}/x/y", ...one },
    ]);
  });
});

test("D-394: an edge is listed although the node is not in the cache, as right after a start", async () => {
  const plaza = await open();
  plaza.world.findNode = (id) => findNode(plaza.world.database.reader, id);
  await plaza.get("/v26.0/2001/insights", { bearer });
  expect(listOf(plaza)).toEqual([{ kind: "edge", method: "GET", name: "page/insights", ...one }]);
});

test("D-394: an entry counts, and has its first and last time, the last trace, and each app once", async () => {
  const plaza = await open();
  const asked = async (token: string) => (await plaza.get("/v26.0/2001/insights", { bearer: token })).headers["x-pf-trace-id"];
  await asked("page");
  await asked("page");
  plaza.time.realMs += 5_000;
  const trace_id = await asked("other-app");
  expect(plaza.world.unserved?.list()).toEqual([
    {
      ...{ kind: "edge", method: "GET", name: "page/insights", count: 3, apps: ["1001", "1002"] },
      ...{ first_ms: NOW_MS, last_ms: NOW_MS + 5_000, trace_id: String(trace_id) },
    },
  ]);
});

test("D-394: a request for what Plaza has is not listed, however it fails", async () => {
  const plaza = await open();
  await plaza.get("/v26.0/2001/personas", { bearer });
  await plaza.get("/v26.0/2002/personas", { bearer });
  await plaza.get("/v26.0/99999/personas", { bearer });
  await plaza.get("/v26.0/99999", { bearer });
  await plaza.get("/v26.0/2001/insights", { bearer: "wrong" });
  await plaza.get("/favicon.ico");
  await plaza.post("/v26.0/2001/personas", { bearer });
  expect(listOf(plaza)).toEqual([]);
});

test("D-394: an edge that is served to other requests has a hint, and a misspelt one the name that was meant", async () => {
  const plaza = await open();
  await plaza.get("/v26.0/2001/persona", { bearer });
  await plaza.get("/v26.0/99999/persona", { bearer });
  await plaza.get("/v26.0/debug_tokn", { bearer });
  await plaza.delete("/v26.0/2001/personas", { bearer });
  await plaza.post("/2001/owned_product_catalogs", { surface: "microblog", bearer });
  const strict = await open({ profile: "strict" });
  await strict.get("/v26.0/me/permissions", { bearer: "ada" });
  expect([...listOf(plaza), ...listOf(strict)]).toEqual([
    { kind: "edge", method: "GET", name: "page/persona", did_you_mean: "page/personas", ...one },
    { kind: "edge", method: "GET", name: "{id}/persona", did_you_mean: "personas", ...one },
    { kind: "edge", method: "GET", name: "debug_tokn", did_you_mean: "debug_token", ...one },
    { kind: "edge", method: "DELETE", name: "page/personas", hint: "Plaza serves only GET and POST at this address", ...one },
    {
      kind: "edge",
      method: "POST",
      name: "page/owned_product_catalogs",
      hint: expect.stringContaining("Plaza serves this edge on the surface ads"),
      ...one,
    },
    { kind: "edge", method: "GET", name: "user/permissions", hint: "Plaza serves this edge with the profile clients", ...one },
  ]);
});

test("D-394: fields are listed whether they are left out or refused, also of items, of nested objects and after a write", async () => {
  const plaza = await open();
  await plaza.get("/v26.0/2001", { bearer, query: { fields: "id,fan_count,about" } });
  await plaza.get("/v26.0/2001", { bearer, query: { fields: "nmae" } });
  await plaza.get("/v26.0/2001/custom_labels", { bearer, query: { fields: "colour" } });
  await plaza.get("/v26.0/2001", { bearer, query: { fields: "custom_labels{colour}" } });
  const label = { bearer, query: { fields: "shade" }, body: { page_label_name: "new" } };
  await plaza.post("/v26.0/2001/custom_labels", label);
  const strict = await open({ profile: "strict" });
  await strict.get("/v26.0/2001", { bearer, query: { fields: "id,fan_count" } });
  expect([...listOf(plaza), ...listOf(strict)]).toEqual([
    { kind: "field", of: "page/custom_labels", name: "colour", count: 2, apps: ["1001"] },
    { kind: "field", of: "page", name: "fan_count", ...one },
    { kind: "field", of: "page", name: "about", ...one },
    { kind: "field", of: "page", name: "nmae", did_you_mean: "name", ...one },
    { kind: "field", of: "label", name: "shade", ...one },
    { kind: "field", of: "page", name: "fan_count", ...one },
  ]);
});

test("D-394: versions that Plaza does not have are listed", async () => {
  const plaza = await open();
  await plaza.get("/v99.0/me", { bearer });
  await plaza.get("/v99.0/me", { bearer });
  expect(listOf(plaza)).toEqual([{ kind: "version", name: "v99.0", count: 2, apps: ["1001"] }]);
});

test("D-394: a part of a batch is listed with the trace id of its batch", async () => {
  const plaza = await open();
  const batch = JSON.stringify([{ method: "GET", relative_url: "2001/insights" }]);
  const { headers } = await plaza.post("/v26.0", { bearer, body: { batch } });
  expect(plaza.world.unserved?.list().map(({ trace_id }) => trace_id)).toEqual([String(headers["x-pf-trace-id"])]);
});

test("D-394: the list has 200 names of 100 characters without secrets; further names are counted together; a reset clears the list", async () => {
  const plaza = await open();
  const { unserved } = plaza.world;
  await plaza.get(`/v26.0/2001/${"é".repeat(500)}`, { bearer });
  await plaza.get("/v26.0/2001/x%3Faccess_token=very-secret", { bearer });
  expect(unserved?.list().map(({ name }) => name)).toEqual([`page/${"é".repeat(94)}…`, "page/x?access_token=…"]);
  for (let at = 0; at < NAMES_MAX + 3; at++) await plaza.get(`/v26.0/2001/edge${at}x`, { bearer });
  await plaza.get("/v26.0/2001/edge0x", { bearer });
  expect({ names: unserved?.list().length, first: unserved?.list()[0], others: unserved?.others }).toMatchObject({
    ...{ names: NAMES_MAX, first: { name: "page/edge0x", count: 2 }, others: 5 },
  });
  unserved?.clear();
  expect([unserved?.list(), unserved?.others]).toEqual([[], 0]);
});

test("D-394: only a sandbox lists names", async () => {
  const plaza = await open({ isSandbox: false });
  await plaza.get("/v26.0/2001/insights", { bearer });
  await plaza.get("/v26.0/2001", { bearer, query: { fields: "fan_count" } });
  expect(plaza.world.unserved).toBeUndefined();
});
