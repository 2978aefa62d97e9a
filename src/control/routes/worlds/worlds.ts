/** The routes that create, list, delete, move, export and import worlds. */
import { ReadableStream } from "node:stream/web";
import { type Static, Type } from "typebox";
import { badRequest, conflict, forbidden, notFound, unprocessable } from "#control-contract/errors";
import { EVENT_STREAM } from "#control-contract/event-stream";
import { listOf, pageQuery, respondWithList, warnings, warningsOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import { exportWorld, importWorld, isEmpty } from "#graph/worlds/file/import-export";
import { StillOpen } from "#graph/worlds/hosting/world-places";
import { DEFAULT_WORLD, WORLD_NAME, type WorldRow } from "#graph/worlds/hosting/worlds.store";
import { nextTurn } from "#kernel/turns";

const name = Type.String({
  pattern: WORLD_NAME,
  description: "lower-case letters, digits, - and _, 57 at most, because the name is part of addresses: `/w/{world}/…` and `{world}.localhost`",
});

export const worldInList = Type.Object({
  name: Type.String(),
  open: Type.Boolean({ description: "whether this process has the world open; a closed world opens when it is used" }),
  profile: Type.Optional(Type.Union([Type.Literal("strict"), Type.Literal("clients")], { description: "the profile of an open world" })),
  empty: Type.Optional(Type.Boolean({ description: "whether an open world has neither nodes nor tokens" })),
  database: Type.Optional(Type.String({ description: "the database of --databases that the world is in, if the server has several" })),
});

const newWorld = Type.Object(
  {
    name,
    file: Type.Optional(
      Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], {
        description: "the world file to load: YAML or JSON as text, or an object",
      }),
    ),
    database: Type.Optional(
      Type.String({
        description:
          "the database of --databases for the world, if the server has several. By default Plaza chooses the reachable database with the fewest worlds",
      }),
    ),
  },
  { additionalProperties: false },
);

const moving = Type.Object(
  { to: Type.String({ description: "the database of --databases to which the world moves" }) },
  { additionalProperties: false },
);

const exportQuery = Type.Object({
  secrets: Type.Optional(
    Type.Boolean({
      description:
        "true: the file contains the apps' secrets and verify tokens in clear text. If a file without secrets is imported, each new app gets a new secret",
    }),
  ),
});

/** Lists the worlds. On the first page, the first world is the first entry. */
async function listWorlds(request: ControlRequest<Static<typeof pageQuery>>): Promise<unknown> {
  const { deps, query, key } = request;
  const open = new Map([...deps.worlds.open()].map((world) => [world.name, world]));
  const shown = async ({ name: listed, database: stored }: Pick<WorldRow, "name" | "database">) => {
    const world = open.get(listed);
    const database = deps.worlds.databaseOf(stored);
    return {
      ...{ name: listed, open: world !== undefined },
      // The database query may fail, because a world can be open while its database cannot be reached.
      ...(world === undefined ? {} : { profile: world.profile, empty: await isEmpty(world).catch(() => undefined) }),
      ...(database === undefined ? {} : { database }),
    };
  };
  if (key.world !== undefined) return { data: [await shown(await deps.worlds.place(key.world))], paging: {} };
  const found = (await respondWithList(
    request,
    "worlds",
    (page) => deps.worlds.list(page),
    (row) => row,
  )) as { data: WorldRow[]; paging: unknown };
  const rows = query.after === undefined ? [{ name: DEFAULT_WORLD, database: null }, ...found.data] : found.data;
  return { data: await Promise.all(rows.map(shown)), paging: found.paging };
}

/** Throws unless `database` is one of the server's databases. */
function requireDatabase({ worlds }: ControlRequest["deps"], database: string, field: string): void {
  const names = worlds.databases().map(({ name: known }) => known);
  if (names.length === 0) throw unprocessable(`the server has one database: start it with --databases, or leave out ${field}`, field);
  if (!names.includes(database)) throw unprocessable(`${field} is not one of ${names.join(", ")}`, field);
}

async function makeWorld({ deps, body }: ControlRequest<unknown, Static<typeof newWorld>>): Promise<unknown> {
  const { registry, worlds } = deps;
  const { database } = body;
  if (database !== undefined) requireDatabase(deps, database, "database");
  const text = body.file as string | undefined;
  if (text?.trim() === "") throw unprocessable("file is empty: send a world file, or leave out file", "file");
  let found: readonly string[] = [];
  const fill = async (world: Parameters<typeof importWorld>[0]): Promise<void> => {
    found = await importWorld(world, registry, text ?? "", { isMerge: false });
  };
  if (!(await worlds.make(body.name, text === undefined ? undefined : fill, database))) throw conflict(`a world ${body.name} exists already`, "name");
  return { name: body.name, ...warningsOf(found) };
}

/** The number of entries of a world file that are written at a time. Writing a thousand small entries, some 100 kB, takes 1 ms. */
const ENTRIES_WRITTEN = 1_000;
/** The collected text is sent when it has this number of characters, so that short pieces are sent together. */
const WRITTEN_CHARACTERS = 65_536;

/**
 * Makes a response that contains a world file as JSON. The JSON text is made in pieces while the client reads it, because making the text of
 * a large world at once would delay other requests.
 */
function jsonInTurns(file: Readonly<Record<string, unknown>>): Response {
  function* pieces(): Generator<string> {
    let open = "{";
    for (const [key, value] of Object.entries(file)) {
      yield `${open}${JSON.stringify(key)}:`;
      open = ",\n";
      if (Array.isArray(value) && value.length > ENTRIES_WRITTEN) {
        // Each piece of the world file begins on a new line, because the stream is read line by line when secrets are hidden.
        for (let at = 0; at < value.length; at += ENTRIES_WRITTEN)
          yield `${at === 0 ? "[" : ",\n"}${JSON.stringify(value.slice(at, at + ENTRIES_WRITTEN)).slice(1, -1)}`;
        yield "]";
      } else yield JSON.stringify(value);
    }
    yield "}\n";
  }
  async function* written(): AsyncGenerator<Uint8Array> {
    let text = "";
    for (const piece of pieces()) {
      text += piece;
      if (text.length < WRITTEN_CHARACTERS) continue;
      yield Buffer.from(text);
      await nextTurn();
      text = "";
    }
    yield Buffer.from(text);
  }
  return new Response(ReadableStream.from(written()), { headers: { "content-type": "application/json" } });
}

async function deleteWorld({ deps, path }: ControlRequest): Promise<void> {
  const { w = "" } = path;
  if (w === DEFAULT_WORLD) throw conflict("the first world cannot be deleted: the server stores its own records in it", "w");
  if (!(await deps.worlds.delete(w))) throw notFound(`world ${w}`);
}

async function moveWorld({ deps, path, body }: ControlRequest<unknown, Static<typeof moving>>): Promise<unknown> {
  const { w = "" } = path;
  requireDatabase(deps, body.to, "to");
  if (w === DEFAULT_WORLD) throw conflict("the first world cannot be moved: the server stores its own records in it", "w");
  try {
    const isMoved = await deps.worlds.move(w, body.to);
    if (isMoved === undefined) throw conflict(`the world ${w} is being created or moved: try again later`, "w");
    if (!isMoved) throw notFound(`world ${w}`);
  } catch (error) {
    throw error instanceof StillOpen ? conflict(error.message, "w") : error;
  }
  return { name: w, database: body.to };
}

export const worldRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds", "listWorlds", {
    summary: "Lists the worlds: first the world `default`, then the others by name. A key that is bound to a world gets only that world",
    query: pageQuery,
    response: listOf(worldInList),
    servesBoundKeys: true,
    handle: listWorlds,
  }),
  route("POST /v1/worlds", "createWorld", {
    summary: "Creates a world, empty or from a world file, which is loaded completely or not at all. The address of the world is `/w/{world}`",
    body: newWorld,
    fileMember: "file",
    status: 201,
    response: Type.Object({ name: Type.String(), warnings }),
    errors: [409, 422],
    handle: makeWorld,
  }),
  route("DELETE /v1/worlds/{w}", "deleteWorld", {
    summary: "Deletes a world with everything in it, including recordings and snapshots",
    errors: [409],
    isAboutWorld: true,
    handle: deleteWorld,
  }),
  route("POST /v1/worlds/{w}/move", "moveWorld", {
    summary:
      "Moves a world to another database of --databases, with everything in it. Requests to the world wait during the move, and get 503 after five seconds. If the server ends during the move, the next server completes it",
    body: moving,
    response: Type.Object({ name: Type.String(), database: Type.String() }),
    errors: [409, 422],
    isAboutWorld: true,
    handle: moveWorld,
  }),
  route("POST /v1/worlds/{w}/import", "importWorld", {
    summary:
      "Loads a world file, YAML or JSON, completely or not at all. An entry with an existing id replaces the stored entry, whose secrets stay if the file has none; records without an id (activity, followers) are added. With Accept: text/event-stream, the response consists of events: progress ({done, total}) several times, and at the end result or error with the content of the ordinary response",
    body: "text",
    response: Type.Object({ success: Type.Boolean(), warnings }),
    errors: [422],
    streams: [EVENT_STREAM],
    reportsProgress: true,
    handle: async ({ deps, world, body, onProgress }) => {
      if ((body as string).trim() === "") throw badRequest("the body is empty: send a world file");
      const options = { isMerge: true, onStored: onProgress };
      return { success: true, ...warningsOf(await importWorld(world, deps.registry, body as string, options)) };
    },
  }),
  route("GET /v1/worlds/{w}/export", "exportWorld", {
    summary:
      "Exports the state of the world as a world file. The file contains the SHA-256 of each token, so that the token is valid in a world that imports the file; it contains the secrets of apps only on request. A key with the access `read` gets neither tokens nor secrets",
    query: exportQuery,
    readsSecrets: (_, { secrets = "false" }) => secrets !== "false",
    response: "file",
    handle: async ({ deps, world, query, key }) => {
      const isReader = key.access === "read";
      if (isReader && query.secrets === true)
        throw forbidden("this key may not read secrets: leave out secrets, or use a key with the access full", "secrets");
      return jsonInTurns(await exportWorld(world, deps.registry, { ...query, hashes: !isReader }));
    },
  }),
];
