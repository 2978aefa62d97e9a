/** An export, loaded into another world, is the same world: it exports the same, and responds the same to everything. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { fullWorld } from "#harness/full-world";
import { onEachDatabase } from "#harness/plaza";
import { tries } from "#harness/proof";
import { newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { addressOf } from "./server-of-worlds.ts";

interface Change {
  readonly method: "POST" | "PATCH" | "DELETE" | "PUT";
  readonly path: string;
  readonly body?: unknown;
}

// A name may be any text but what nothing can store.
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).filter((value) => value.trim() !== "" && !value.includes("\0"));
const id = fc.bigInt({ min: 10_000n, max: 2n ** 63n - 1n }).map(String);
const page = fc.constantFrom("2001", "2002");

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    fc.record({ id, page, name: text }).map((body) => ({ method: "POST" as const, path: "nodes/labels", body })),
    fc.record({ id, page, name: text }).map((body) => ({
      method: "POST" as const,
      path: "nodes/personas",
      body: { ...body, profile_picture_url: "https://example.com/p.png" },
    })),
    fc.record({ id, name: text }).map((body) => ({ method: "POST" as const, path: "nodes/pages", body })),
    fc.record({ id, name: text }).map((body) => ({ method: "POST" as const, path: "nodes/users", body })),
    text.map((name) => ({ method: "PATCH" as const, path: "nodes/pages/2001", body: { name } })),
    fc
      .record({ id, page, title: text })
      .map((body) => ({ method: "POST" as const, path: "nodes/live_videos", body: { ...body, status: "UNPUBLISHED" } })),
    fc
      .constantFrom("labels/5001", "personas/5101", "pages/2002", "users/3002", "media/6101")
      .map((node) => ({ method: "DELETE" as const, path: `nodes/${node}` })),
    fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }).map((now) => ({ method: "PUT" as const, path: "clock", body: { now, frozen: true } })),
    fc.constantFrom("strict", "clients").map((profile) => ({ method: "POST" as const, path: "import", body: { profile } })),
  ),
  { maxLength: 12 },
);

const idsIn = (file: Record<string, unknown>): string[] =>
  Object.values(file).flatMap((entries) =>
    Array.isArray(entries) ? entries.flatMap((entry: { id?: string | number }) => (entry.id === undefined ? [] : [String(entry.id)])) : [],
  );

const EDGES = ["", "/custom_labels", "/personas", "/live_videos", "/tags", "/product_catalogs"];

/** What every token gets at every address, without what differs between any two requests, or names the world. */
async function responses({ baseUrl, ...server }: OwnServer, world: string, ids: readonly string[], tokens: readonly string[]): Promise<string[]> {
  const requests = ids.flatMap((node) => EDGES.flatMap((edge) => tokens.map((token) => ({ node, edge, token }))));
  return Promise.all(
    requests.map(async ({ node, edge, token }) => {
      const base = addressOf({ baseUrl, ...server }, world);
      const response = await fetch(`${base}/v26.0/${node}${edge}?access_token=${token}&oauth_token=${token}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const body = (await response.text()).replaceAll(`/w/${world}/`, "/w/…/").replace(/"(pftrace_id|before|after)":"[^"]*"/g, '"$1":"…"');
      return `${token} ${node}${edge} ${response.status} ${body.replace(/(before|after)=[\w-]+/g, "$1=…")}`;
    }),
  );
}

onEachDatabase("export and import", (kind) => {
  test("a random world that is exported and loaded elsewhere is the same: its export, and its responses to everything", async () => {
    const server = await startOwnServer({ data: await newData(kind), calls_max: "100000" });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(changes, async (made) => {
        const [one, other] = [`one-${++count}`, `other-${count}`];
        const file = { clock: { now: 1_795_000_000, frozen: true }, ...fullWorld };
        expect(await server.control("POST", "worlds", { name: one, file })).toMatchObject({ status: 201 });
        for (const { method, path, body } of made)
          expect((await server.control(method, `worlds/${one}/${path}`, body)).status).toBeOneOf([200, 201, 404, 409, 422]);
        const exported = (await server.control("GET", `worlds/${one}/export`)).body;
        expect(await server.control("POST", "worlds", { name: other, file: exported })).toMatchObject({ status: 201 });
        expect((await server.control("GET", `worlds/${other}/export`)).body).toEqual(exported);
        const tokens = fullWorld.tokens.map(({ token }) => token);
        const ids = [...new Set(idsIn(exported))];
        expect(await responses(server, other, ids, tokens)).toEqual(await responses(server, one, ids, tokens));
        for (const name of [one, other]) await server.control("DELETE", `worlds/${name}`);
      }),
      { numRuns: tries(kind === "sqlite" ? 6 : 2, 200) },
    );
  }, 3_600_000);
});
