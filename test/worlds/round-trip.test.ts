/** Checks that an export that is loaded into another world makes an equal world, with the same export and the same response to every read. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { findNode } from "#graph/worlds/nodes.store";
import { onEachDatabase } from "#harness/databases";
import { tries } from "#harness/proof";
import { READ_SCOPES } from "#harness/scopes";
import { nodeId } from "#kernel/ids";
import { buildRegistry } from "#main";
import { newData, type OwnServer, startOwnServer } from "./own-server.ts";
import { NOW, randomWorld } from "./random-world.ts";

const registry = buildRegistry();
const sections = sectionsOf(registry);

interface Change {
  readonly method: "POST" | "PATCH" | "DELETE" | "PUT";
  readonly path: string;
  readonly body?: unknown;
}

/** Creates events in a world between its start and its export. The events refer to nodes by their position in the list of all nodes. */
const changes = fc.array(
  fc.oneof(
    fc.nat().map((at) => ({ of: at, change: (key: string, id: string): Change => ({ method: "DELETE", path: `nodes/${key}/${id}` }) })),
    fc.nat().map((at) => ({
      of: at,
      change: (key: string, id: string): Change => ({ method: "PATCH", path: `nodes/${key}/${id}`, body: { name: "changed" } }),
    })),
    fc.integer({ min: NOW, max: NOW + 80_000 }).map((now) => ({ of: 0, change: (): Change => ({ method: "PUT", path: "clock", body: { now } }) })),
  ),
  { maxLength: 6 },
);

type File = Readonly<Record<string, unknown>>;

const nodesIn = (file: File): { key: string; id: string }[] =>
  sections.flatMap(({ key }) => ((file[key] ?? []) as { id?: string }[]).flatMap(({ id }) => (id === undefined ? [] : [{ key, id }])));

const MOUNTS = { base: "", app: "/app", microblog: "/microblog/v1.0", ads: "/ads", social_login: "/social-login" } as const;

/**
 * The responses to every read of every node with every token, without the values that differ in each request or that contain the world's name. The
 * values of page tokens are left out as well: they are derived from the world's name (D-386), so that no token of one world is a token of another.
 */
async function responses(server: OwnServer, world: string, ids: readonly string[], tokens: readonly string[]): Promise<string[]> {
  const held = await server.plaza.worlds.hold(world);
  const requests: { path: string; token: string }[] = [];
  for (const id of ids) {
    const type = (await findNode((held as NonNullable<typeof held>).world.database.reader, nodeId(id)))?.type;
    for (const { access, served, nodeType, reading } of registry.endpoints) {
      if (nodeType !== type || (reading === undefined && served?.contract.method !== "GET")) continue;
      const surface = access.surfaces[0] ?? "base";
      const version = surface === "app" || surface === "microblog" ? "" : "/v26.0";
      const edge = served?.contract.edge ?? undefined;
      const path = `${MOUNTS[surface]}${version}/${id}${edge === undefined ? "" : `/${edge}`}`;
      for (const token of tokens) requests.push({ path, token });
    }
  }
  held?.leave();
  return Promise.all(
    requests.map(async ({ path, token }) => {
      const query = `access_token=${token}&oauth_token=${token}`;
      const response = await fetch(`${server.baseUrl}/w/${world}${path}?${query}`, { headers: { authorization: `Bearer ${token}` } });
      const body = (await response.text())
        .replaceAll(`/w/${world}/`, "/w/…/")
        .replace(/"(pftrace_id|before|after|access_token)":"[^"]*"/g, '"$1":"…"');
      return `${token} ${path} ${response.status} ${body.replace(/(before|after)=[\w-]+/g, "$1=…")}`;
    }),
  );
}

test("a random world has nodes of every kind", () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const file: File = { ...randomWorld(draw, READ_SCOPES) };
      expect(sections.map(({ key }) => key).filter((key) => ((file[key] ?? []) as unknown[]).length === 0)).toEqual([]);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

onEachDatabase("export and import", (kind) => {
  test("a random world that is exported and loaded elsewhere is the same: its export, and its responses to every read", async () => {
    const server = await startOwnServer({ data: await newData(kind), calls_max: "100000" });
    const { control } = server;
    const exportOf = async (name: string, query: string): Promise<File> => (await control("GET", `worlds/${name}/export${query}`)).body;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.gen(), changes, async (draw, made) => {
        const names = { one: `one-${++count}`, other: `other-${count}`, bare: `bare-${count}` };
        const file = randomWorld(draw, READ_SCOPES);
        expect(await control("POST", "worlds", { name: names.one, file })).toMatchObject({ status: 201 });
        const nodes = nodesIn(file);
        for (const { of, change } of made) {
          const { key, id } = nodes[of % nodes.length] as (typeof nodes)[number];
          const { method, path, body } = change(key, id);
          expect((await control(method, `worlds/${names.one}/${path}`, body)).status).toBeOneOf([200, 400, 404, 422]);
        }
        const exported = await exportOf(names.one, "?secrets=true");
        expect(await control("POST", "worlds", { name: names.other, file: exported })).toMatchObject({ status: 201 });
        expect(await exportOf(names.other, "?secrets=true")).toEqual(exported);
        const tokens = file.tokens.map(({ token }) => token);
        const ids = nodesIn(exported).map(({ id }) => id);
        const expected = await responses(server, names.one, ids, tokens);
        expect(await responses(server, names.other, ids, tokens)).toEqual(expected);
        // All tokens belong to the first app, so the server refuses every token in a world that lacks this app.
        const hasTokens = ids.includes((file.apps[0] as { id: string }).id);
        expect(expected.some((response) => / 200 \{/.test(response))).toBe(hasTokens);
        // D-263: without secrets, the export has everything except the secrets.
        const withoutSecrets = await exportOf(names.one, "");
        expect(await control("POST", "worlds", { name: names.bare, file: withoutSecrets })).toMatchObject({ status: 201 });
        expect(await exportOf(names.bare, "")).toEqual(withoutSecrets);
        expect(await responses(server, names.bare, ids, tokens)).toEqual(expected);
        for (const name of Object.values(names)) await control("DELETE", `worlds/${name}`);
      }),
      { numRuns: tries(kind === "sqlite" ? 4 : 1, 100), endOnFailure: true },
    );
  }, 3_600_000);
});
