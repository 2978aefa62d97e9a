/** The list envelope (LIST-1 to LIST-15, D-30 to D-32, D-35). */
import { invalidParameter } from "#kernel/errors";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { GraphRequest, Parameters } from "../pipeline/request.ts";
import type { Cursors } from "./cursors.ts";

/** D-31. */
const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 100;

/** Any number of digits: a limit above the maximum is cut to it. */
const DIGITS = /^\d+$/;

export function readPageRequest(params: Parameters, list: string, cursors: Cursors, columns: number): PageRequest {
  const { before, after } = params;
  if (before !== undefined && after !== undefined) throw invalidParameter("before", "cannot be combined with after");
  const limit = readLimit(params.limit);
  if (after !== undefined) return { limit, after: readCursor(after, "after", list, cursors, columns) };
  if (before !== undefined) return { limit, before: readCursor(before, "before", list, cursors, columns) };
  return { limit };
}

function readLimit(value: unknown): number {
  if (value === undefined) return LIMIT_DEFAULT;
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !DIGITS.test(text) || Number(text) === 0) throw invalidParameter("limit", "must be a positive integer");
  return Math.min(Number(text), LIMIT_MAX);
}

function readCursor(value: unknown, parameter: "before" | "after", list: string, cursors: Cursors, columns: number): readonly string[] {
  if (typeof value !== "string" || value === "") throw invalidParameter(parameter, "is not a cursor of this list");
  return cursors.open(list, value, parameter, columns);
}

export interface Paging {
  cursors: { before?: string; after?: string };
  previous?: string;
  next?: string;
}

export function pagingOf(page: ListPage<unknown>, list: string, cursors: Cursors, request: GraphRequest, isCursorsOnly: boolean): Paging {
  const { firstKey, lastKey } = page;
  if (firstKey === undefined || lastKey === undefined) return { cursors: {} };
  const before = cursors.sign(list, firstKey);
  const after = page.rows.length === 1 ? before : cursors.sign(list, lastKey);
  if (isCursorsOnly) {
    // D-35: the end is a page without `after`, the beginning one without `before`.
    return { cursors: { ...(page.hasPrevious ? { before } : {}), ...(page.hasNext ? { after } : {}) } };
  }
  const paging: Paging = { cursors: { before, after } };
  if (!page.hasPrevious && !page.hasNext) return paging;
  // D-32: absolute, with every query parameter of the request; the caller's token stands in it only when it came in the query.
  const kept = withoutCursors(request.queryText);
  const link = `${request.baseUrl}${request.path}?${kept === "" ? "" : `${kept}&`}`;
  // A cursor holds only URL-safe characters, so it needs no encoding.
  if (page.hasPrevious) paging.previous = `${link}before=${before}`;
  if (page.hasNext) paging.next = `${link}after=${after}`;
  return paging;
}

function withoutCursors(queryText: string): string {
  if (!mayHoldCursor(queryText)) return queryText;
  let kept = "";
  for (const pair of queryText.split("&")) if (pair !== "" && !isCursorPair(pair)) kept += kept === "" ? pair : `&${pair}`;
  return kept;
}

/** Whether the pairs must be looked at one by one: some may be a cursor, also once it is decoded, or empty. */
const mayHoldCursor = (queryText: string): boolean =>
  queryText.includes("before") || queryText.includes("after") || queryText.includes("%") || queryText.includes("&&") || isAmpersandAtEnd(queryText);

const isAmpersandAtEnd = (queryText: string): boolean => queryText.startsWith("&") || queryText.endsWith("&");

function isCursorPair(pair: string): boolean {
  const end = pair.indexOf("=");
  const name = end === -1 ? pair : pair.slice(0, end);
  return name === "before" || name === "after" || (name.includes("%") && /^(?:before|after)$/.test(safeDecode(name)));
}

const safeDecode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
