/** The paging of lists: limits, cursors and links (LIST-1 to LIST-15, D-30 to D-32, D-35). */
import { invalidParameter } from "#kernel/errors";
import type { ListPage, PageRequest } from "#storage/keyset";
import { isEmpty, textOf } from "../pipeline/parameters.ts";
import type { GraphRequest, Parameters } from "../pipeline/request.ts";
import { withoutPairs, withPairs } from "../request-text/pairs.ts";
import type { Cursors } from "./cursors.ts";

/** D-31: the default and the greatest number of items on a page. */
const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 100;

/** The pattern matches any number of digits, because a limit above the maximum is reduced to the maximum. */
const DIGITS = /^\d+$/;

export function readPageRequest(params: Parameters, list: string, cursors: Cursors, columns: number): PageRequest {
  // D-34: null means that the client left the parameter out.
  const [before, after] = [params.before ?? undefined, params.after ?? undefined];
  if (before !== undefined && after !== undefined) throw invalidParameter("before", "cannot be combined with after");
  const limit = readLimit(params.limit ?? undefined);
  if (after !== undefined) return { limit, ...keyOf(after, "after", list, cursors, columns) };
  return before === undefined ? { limit } : { limit, ...keyOf(before, "before", list, cursors, columns) };
}

/**
 * Reads the sort key from a cursor. In the links of an empty page, the row of the cursor is on the linked page. The cursors of an empty page's links
 * are signed for another list name, so that the server recognizes them.
 */
function keyOf(value: unknown, parameter: "before" | "after", list: string, cursors: Cursors, columns: number): Omit<PageRequest, "limit"> {
  const text = typeof value === "string" ? value : "";
  const key = cursors.open(list, text, columns);
  if (key !== undefined) return { [parameter]: key };
  const whole = cursors.open(withItself(list), text, columns);
  if (whole === undefined) throw invalidParameter(parameter, "is not a cursor of this list");
  return { [parameter]: whole, isInclusive: true };
}

const withItself = (list: string): string => `${list} with itself`;

function readLimit(value: unknown): number {
  if (value === undefined) return LIMIT_DEFAULT;
  const text = textOf(value);
  if (typeof text !== "string" || !DIGITS.test(text) || Number(text) === 0) throw invalidParameter("limit", "must be a positive integer");
  return Math.min(Number(text), LIMIT_MAX);
}

export interface Paging {
  cursors: { before?: string; after?: string };
  previous?: string;
  next?: string;
}

export interface ListAddress {
  /** The name of the list, which its cursors contain. A cursor works only with the list for which it was made, whose name it contains. */
  readonly list: string;
  readonly cursors: Cursors;
  readonly page: PageRequest;
  readonly request: GraphRequest;
  readonly isCursorsOnly: boolean;
}

export function pagingOf(found: ListPage<unknown>, address: ListAddress): Paging {
  const { list, cursors, request, isCursorsOnly } = address;
  const { firstKey, lastKey } = found;
  if (firstKey === undefined || lastKey === undefined) return pagingOfEmpty(found, address);
  const before = cursors.sign(list, firstKey);
  const after = found.rows.length === 1 ? before : cursors.sign(list, lastKey);
  const paging: Paging = { cursors: { before, after } };
  // D-35: a list with only cursors ends with an empty page.
  if (isCursorsOnly || (!found.hasPrevious && !found.hasNext)) return paging;
  const link = linkOf(request);
  // A cursor has only URL-safe characters, so it needs no encoding.
  if (found.hasPrevious) paging.previous = `${link}before=${before}`;
  if (found.hasNext) paging.next = `${link}after=${after}`;
  return paging;
}

/** D-31: the paging of an empty page. If the page is beyond an end of the list, its link leads back to the rows at that end of the list. */
function pagingOfEmpty({ hasPrevious, hasNext }: ListPage<unknown>, { list, cursors, page, request, isCursorsOnly }: ListAddress): Paging {
  const paging: Paging = { cursors: {} };
  const key = page.after ?? page.before;
  if (isCursorsOnly || key === undefined) return paging;
  const cursor = cursors.sign(withItself(list), key);
  if (hasPrevious) paging.previous = `${linkOf(request)}before=${cursor}`;
  if (hasNext) paging.next = `${linkOf(request)}after=${cursor}`;
  return paging;
}

/**
 * D-32: the first piece of a link: an absolute address with every parameter of the request. The link contains the caller's token only if the query
 * contains it.
 */
function linkOf(request: GraphRequest): string {
  const kept = withBody(withoutCursors(request.queryText), request.body);
  return `${request.baseUrl}${request.path}?${kept === "" ? "" : `${kept}&`}`;
}

/** Parameters of the request body that are not copied into links: tokens, cursors, and the parameters that contain several requests. */
const notKept = new Set(["access_token", "oauth_token", "appsecret_proof", "before", "after", "method", "ids", "batch", "include_headers"]);

/**
 * D-41: returns the query with the parameters of the body added, which replace query parameters with the same names. With the parameters of the body,
 * the link `next` leads to a page of the same list.
 */
function withBody(queryText: string, body: Parameters): string {
  if (isEmpty(body)) return queryText;
  const own = Object.entries(body).filter(([name, value]) => !notKept.has(name) && value !== null);
  if (own.length === 0) return queryText;
  const names = new Set(own.map(([name]) => name));
  return withPairs(
    withoutPairs(queryText, (name) => names.has(name.split("[", 1)[0] as string)),
    Object.fromEntries(own),
  );
}

/** Returns the query without cursors. Most queries have no cursor, and a query without a cursor is not parsed. */
const withoutCursors = (queryText: string): string =>
  /before|after|%|&&|^&|&$/.test(queryText) ? withoutPairs(queryText, (name) => name === "before" || name === "after") : queryText;
