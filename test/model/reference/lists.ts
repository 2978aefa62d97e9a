/** Lists: cursors that stay valid, limits, and links with every parameter of the request (D-30 to D-32, D-35). */

import type { Failure } from "./errors.ts";
import { type Selection, type Shape, select } from "./fields.ts";
import type { Position } from "./nodes.ts";
import { isSelection, readSelection, type Turn } from "./operations.ts";
import { Hole, type Reply, success } from "./replies.ts";
import { asText, CREDENTIAL_NAMES, parameter } from "./requests.ts";
import type { World } from "./world.ts";

/** A row of a list, with the key by which the list is sorted, the greatest key first. */
interface Row {
  readonly key: bigint;
  readonly value: unknown;
}

interface Asked {
  readonly limit: number;
  readonly after?: Position;
  readonly before?: Position;
  readonly selection: Selection | undefined;
}

interface Page {
  readonly rows: readonly Row[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

const LIMIT_MAX = 100;

function readLimit({ request, world, fail }: Turn): number | Failure {
  const given = parameter(request, "limit");
  if (given === undefined) return 25;
  const text = asText(given) ?? "";
  if (!/^[1-9]\d*$/.test(text)) {
    world.reach("limit");
    return fail("invalidParameter", { parameter: "limit" });
  }
  if (Number(text) > LIMIT_MAX) world.reach("largeLimit");
  return Math.min(LIMIT_MAX, Number(text));
}

function readCursor({ request, world, fail }: Turn, name: "before" | "after", list: string): Position | Failure | undefined {
  const given = parameter(request, name);
  if (given === undefined) return undefined;
  const position = world.cursors.get(asText(given) ?? "");
  if (position?.list === list) return position;
  world.reach("badCursor");
  return fail("invalidParameter", { parameter: name });
}

/** The parameters of a list, or all problems with them. */
function readAsked(turn: Turn, list: string, shape: Shape): Asked | Failure[] {
  const problems: Failure[] = [];
  const limit = readLimit(turn);
  if (typeof limit !== "number") problems.push(limit);
  const [before, after] = [readCursor(turn, "before", list), readCursor(turn, "after", list)];
  for (const cursor of [before, after]) if (cursor !== undefined && "error" in cursor) problems.push(cursor);
  if (before !== undefined && after !== undefined) {
    turn.world.reach("bothCursors");
    problems.push(turn.fail("invalidParameter"));
  }
  const selection = readSelection(turn, shape);
  if (!isSelection(selection)) problems.push(selection);
  if (problems.length > 0 || typeof limit !== "number" || !isSelection(selection)) return problems;
  const asked = { limit, selection };
  if (after !== undefined && !("error" in after)) return { ...asked, after };
  return before !== undefined && !("error" in before) ? { ...asked, before } : asked;
}

const isBelow = (row: Row, { key, isInclusive }: Position): boolean => row.key < key || (isInclusive && row.key === key);
const isAbove = (row: Row, { key, isInclusive }: Position): boolean => row.key > key || (isInclusive && row.key === key);

function cut(rows: readonly Row[], { limit, after, before }: Asked): Page {
  const wanted = rows.filter((row) => (after === undefined || isBelow(row, after)) && (before === undefined || isAbove(row, before)));
  const page = before === undefined ? wanted.slice(0, limit) : wanted.slice(-limit);
  const [first, last] = [page[0], page.at(-1)];
  return {
    rows: page,
    hasNext: last !== undefined && rows.some((row) => row.key < last.key),
    hasPrevious: first !== undefined && rows.some((row) => row.key > first.key),
  };
}

/** Remembers the position of a cursor that the server made. */
function remember({ cursors }: World, cursor: unknown, position: Position): string | undefined {
  if (typeof cursor !== "string" || !/^[\w.~-]+$/.test(cursor))
    return `${JSON.stringify(cursor)} is not a cursor that can be in an address without encoding`;
  const known = cursors.get(cursor);
  if (known !== undefined && (known.list !== position.list || known.key !== position.key || known.isInclusive !== position.isInclusive))
    return `${cursor} already is the cursor of another row or list`;
  cursors.set(cursor, position);
  return undefined;
}

/** A link without its cursor: the URL of the request with all parameters, except tokens that are not in the query. */
function expectedLink({ request, address }: Turn): { readonly path: string; readonly parameters: string[] } {
  const isKept = (name: string) => name !== "before" && name !== "after";
  const ofBody = Object.entries(request.body?.fields ?? {}).filter(([name, value]) => !CREDENTIAL_NAMES.has(name) && value !== null);
  const all = [...request.query, ...ofBody.map(([name, value]): [string, string] => [name, asText(value) ?? JSON.stringify(value)])];
  return {
    path: `${address}${request.path}`,
    parameters: all
      .filter(([name]) => isKept(name))
      .map(([name, value]) => `${name}=${value}`)
      .sort(),
  };
}

function checkLink(turn: Turn, link: unknown, name: "before" | "after", position: Position, cursor: unknown): string | undefined {
  if (typeof link !== "string" || !URL.canParse(link)) return `${JSON.stringify(link)} is no address`;
  const url = new URL(link);
  const { path, parameters } = expectedLink(turn);
  const given = url.searchParams.get(name);
  url.searchParams.delete(name);
  const actual = [...url.searchParams].map(([key, value]) => `${key}=${value}`).sort();
  const address = link.split("?")[0];
  if (address !== path) return `a link leads to ${address} instead of ${path}`;
  if (JSON.stringify(actual) !== JSON.stringify(parameters))
    return `a link has the parameters ${actual.join("&")} instead of ${parameters.join("&")}`;
  if (cursor !== undefined && given !== cursor) return `a link has another cursor than the page: ${given}`;
  return remember(turn.world, given, position);
}

interface Paging {
  readonly cursors?: { readonly before?: unknown; readonly after?: unknown };
  readonly next?: unknown;
  readonly previous?: unknown;
}

function checkPaging(turn: Turn, list: string, asked: Asked, page: Page, hasLinks: boolean, paging: Paging): string | undefined {
  const at = ({ key }: Row): Position => ({ list, key, isInclusive: false });
  const { before, after } = paging.cursors ?? {};
  const [first, last] = [page.rows[0], page.rows.at(-1)];
  const differences: (string | undefined)[] = [];
  const expectLink = (name: "next" | "previous", is: boolean, position: Position, cursor: unknown) => {
    if (is !== (paging[name] !== undefined)) differences.push(`${name} is ${is ? "missing" : "there"}`);
    else if (is) differences.push(checkLink(turn, paging[name], name === "next" ? "after" : "before", position, cursor));
  };
  if (first === undefined || last === undefined) {
    if (before !== undefined || after !== undefined) differences.push("an empty page has cursors");
    // D-31: beyond an end of the list, a link leads back to the rows at that end, including the row of the cursor.
    if (hasLinks && asked.after !== undefined && paging.previous !== undefined)
      expectLink("previous", true, { ...asked.after, isInclusive: true }, undefined);
    if (hasLinks && asked.before !== undefined && paging.next !== undefined)
      expectLink("next", true, { ...asked.before, isInclusive: true }, undefined);
    return differences.find((difference) => difference !== undefined);
  }
  differences.push(remember(turn.world, before, at(first)), remember(turn.world, after, at(last)));
  expectLink("next", hasLinks && page.hasNext, at(last), after);
  expectLink("previous", hasLinks && page.hasPrevious, at(first), before);
  return differences.find((difference) => difference !== undefined);
}

function reachRules({ world }: Turn, rows: readonly Row[], asked: Asked, page: Page): void {
  if (page.hasNext) world.reach("nextLink");
  if (rows.length > LIMIT_MAX) world.reach("largePage");
  if (page.hasPrevious) world.reach("previousLink");
  if (rows.length === 0) world.reach("emptyList");
  const position = asked.after ?? asked.before;
  if (position === undefined) return;
  if (page.rows.length === 0 && rows.length > 0) world.reach("beyondEnd");
  if (!rows.some(({ key }) => key === position.key)) world.reach("lostRows");
}

export interface List {
  /** The name of a list, made of its operation and node, which differs from the names of all other lists. */
  readonly list: string;
  readonly rows: readonly Row[];
  readonly shape: Shape;
  readonly hasLinks?: boolean;
  /** The properties of the response except `data` and `paging`. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export function replyWithList(turn: Turn, { list, rows, shape, hasLinks = true, more = {} }: List): Reply | Failure[] {
  const asked = readAsked(turn, list, shape);
  if (Array.isArray(asked)) return asked;
  const sorted = rows.toSorted((a, b) => (a.key < b.key ? 1 : -1));
  const page = cut(sorted, asked);
  reachRules(turn, sorted, asked, page);
  const paging = new Hole("paging", (actual) =>
    typeof actual === "object" && actual !== null ? checkPaging(turn, list, asked, page, hasLinks, actual) : "there is no paging",
  );
  return success({ data: page.rows.map(({ value }) => select(value, shape, asked.selection)), paging, ...more });
}
