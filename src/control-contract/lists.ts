/**
 * Responds with lists of the control API: `{data: […], paging: {next?}}`. In such a response, `next` is the address of
 * the following page of the list.
 */
import { type TSchema, Type } from "typebox";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { ListPage, PageRequest } from "#storage/keyset";
import { badRequest } from "./errors.ts";
import type { ControlRequest } from "./route.ts";

const LIMIT_DEFAULT = 100;
/** The greatest number of rows on a page. With this limit, a page with a thousand labels has some 200 kB. */
const LIMIT_MAX = 1_000;

export const pageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `the number of rows of a page (default: ${LIMIT_DEFAULT})` })),
  after: Type.Optional(Type.String({ description: "the value of `after` in `paging.next`" })),
});

export const listOf = (item: TSchema): TSchema =>
  Type.Object({ data: Type.Array(item), paging: Type.Object({ next: Type.Optional(Type.String({ format: "uri" })) }) });

type PageQuery = { readonly limit?: number | undefined; readonly after?: string | undefined };

/** Responds with one page of a list. `list` is the list's name, so that a cursor of another list is refused. */
export async function respondWithList<T>(
  request: ControlRequest<PageQuery>,
  list: string,
  read: (page: PageRequest, world: OpenWorld) => Promise<ListPage<T>>,
  show: (row: T) => unknown,
): Promise<unknown> {
  const { world, query, url } = request;
  const limit = query.limit ?? LIMIT_DEFAULT;
  const found = await read(query.after === undefined ? { limit } : { limit, after: keyOf(world, list, query.after) }, world);
  const paging: { next?: string } = {};
  if (found.hasNext && found.lastKey !== undefined) {
    // The cursor contains all columns of the key as one text, because the code that opens a cursor does not know the number of columns.
    const after = world.cursors.sign(`control ${list}`, [JSON.stringify(found.lastKey)]);
    const filters = Object.entries(query).filter(([name, value]) => name !== "limit" && name !== "after" && value !== undefined);
    const kept = new URLSearchParams(filters.map(([name, value]): [string, string] => [name, String(value)]));
    paging.next = `${url}?${filters.length === 0 ? "" : `${kept}&`}limit=${limit}&after=${after}`;
  }
  return { data: found.rows.map(show), paging };
}

function keyOf(world: OpenWorld, list: string, cursor: string): readonly string[] {
  const key = world.cursors.open(`control ${list}`, cursor, 1)?.[0];
  if (key === undefined) throw badRequest("after is not a cursor of this list", "after");
  return JSON.parse(key) as string[];
}

/**
 * The schema of the warnings in a response. A warning means that the server did carry out the request, but that the caller
 * probably intended something else.
 */
export const warnings = Type.Optional(Type.Array(Type.String(), { description: "possible mistakes in the request, e.g. a misspelt scope" }));

/** Makes the key `warnings` of a response. The key `warnings` is absent if there are no warnings. */
export const warningsOf = (found: readonly string[]): { warnings?: readonly string[] } => (found.length === 0 ? {} : { warnings: found });
