/** Generators that all areas use: texts, callers, versions, selections and pages of lists. */
import fc, { type Arbitrary } from "fast-check";
import type { Place, Scheme } from "../reference/credentials.ts";
import type { NodeType } from "../reference/world.ts";
import type { Nesting, NodeName, RequestStep, Value } from "./steps.ts";
import { CALLERS } from "./world-file.ts";

/** A text of any Unicode characters. Another generator draws U+0000 and lone surrogates, because the server refuses texts with these characters. */
export const text = (max: number): Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: max }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: max }).map((drawn) => drawn.replaceAll("\0", "·")) },
  );

export const badText: Arbitrary<string> = fc.constantFrom("a\u0000b", "lone \ud800 surrogate", "\udc00");

export const oneOf = <T>(...choices: readonly (readonly [number, Arbitrary<T>])[]): Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

export const world: Arbitrary<number> = oneOf([4, fc.constant(0)], [1, fc.constant(1)]);

const version: Arbitrary<string | null> = oneOf(
  [12, fc.constantFrom<string | null>("v26.0", "v25.0", "v24.0", "v20.0", "v23")],
  [3, fc.constant(null)],
  [1, fc.constantFrom("v19.0", "v99.0", "v26.1")],
);

/** Draws a node of the given type. Recent nodes are drawn more often than others. */
export const node = (type: NodeType): Arbitrary<NodeName> =>
  oneOf([3, fc.integer({ min: -4, max: -1 })], [2, fc.integer({ min: 0, max: 30 })]).map((pick) => ({ type, pick }));

export const strayNode: Arbitrary<NodeName> = oneOf<NodeName>(
  [2, fc.constantFrom("9999999", "abc", "0", "9223372036854775808", "007").map((id) => ({ id }))],
  [3, fc.constantFrom<NodeType>("page", "label", "persona", "app", "user", "page_person", "feed_item").chain(node)],
);

const placesByScheme: Readonly<Record<Scheme, readonly Place[]>> = {
  three: ["access_token", "oauth_token", "header"],
  any: ["header"],
  header: ["header"],
  query: ["access_token"],
  "header or, in development, query": ["header"],
};

type Tokens = Readonly<Partial<Record<Place, string>>>;

/** The tokens of a request: mostly of a caller who may send it, in the correct places; otherwise one property of the tokens is wrong. */
export function callers(scheme: Scheme, good: readonly string[]): Arbitrary<Tokens> {
  const right = placesByScheme[scheme];
  const everywhere = (places: readonly Place[], value: string): Tokens => Object.fromEntries(places.map((place) => [place, value]));
  const goodOnes = fc.constantFrom(...good).map((value) => everywhere(right, value));
  const any = fc.constantFrom(...CALLERS);
  const place = fc.constantFrom<Place>("access_token", "oauth_token", "header", "body");
  return oneOf<Tokens>(
    [30, goodOnes],
    [4, any.map((value) => everywhere(right, value))],
    [
      1,
      fc
        .record({ tokens: goodOnes, place })
        .map(({ tokens, place: left }) => Object.fromEntries(Object.entries(tokens).filter(([name]) => name !== left))),
    ],
    [2, fc.record({ tokens: goodOnes, place, any }).map(({ tokens, place: odd, any: value }) => ({ ...tokens, [odd]: value }))],
    [1, fc.record({ places: fc.uniqueArray(place, { maxLength: 4 }), any }).map(({ places, any: value }) => everywhere(places, value))],
    [1, fc.constant({})],
  );
}

/** A value of `fields`, mostly with the names of fields that the node has. */
export const fields = (...known: readonly string[]): Arbitrary<string | undefined> =>
  oneOf<string | undefined>(
    [8, fc.constant(undefined)],
    [5, fc.uniqueArray(fc.constantFrom(...known), { minLength: 1, maxLength: 4 }).map((names) => names.join(","))],
    [1, fc.constantFrom("id,colour", "name{x}", "id.limit(2)", "name,,id", "{", "constructor", "id,id")],
  );

const limit: Arbitrary<string | undefined> = oneOf<string | undefined>(
  [3, fc.constant(undefined)],
  [6, fc.integer({ min: 1, max: 4 }).map(String)],
  [1, fc.constantFrom("0", "-1", "1.5", "abc", "100", "101", "99999999999999999999")],
);

const cursor: Arbitrary<RequestStep["cursor"]> = oneOf<RequestStep["cursor"]>(
  [5, fc.constant(undefined)],
  [5, fc.record({ name: fc.constantFrom("after" as const, "before" as const), pick: fc.nat({ max: 5 }), from: fc.constant("own" as const) })],
  [1, fc.record({ name: fc.constantFrom("after" as const, "before" as const), pick: fc.nat({ max: 30 }), from: fc.constant("any" as const) })],
);

const present = (drawn: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined));

type Drawn = Omit<RequestStep, "kind" | "version" | "surface" | "query"> & Partial<Pick<RequestStep, "surface" | "version" | "query">>;

export const proof: Arbitrary<RequestStep["proof"]> = fc.record({
  is: oneOf<"right" | "upper" | "wrong">([6, fc.constant("right")], [1, fc.constantFrom("upper", "wrong")]),
  place: fc.constantFrom("query" as const, "query" as const, "body" as const),
});

type Parts = { readonly [Name in keyof Drawn]: Arbitrary<Drawn[Name]> | Drawn[Name] };

const isArbitrary = (value: unknown): value is Arbitrary<unknown> => value instanceof fc.Arbitrary;

/** A request. Properties of the request that are not drawn have fixed values. */
export function request(parts: Omit<Parts, "world">): Arbitrary<RequestStep> {
  const all = { world, version, surface: "base", query: {}, proof: oneOf([20, fc.constant(undefined)], [1, proof]), ...parts };
  const drawn = fc.record(Object.fromEntries(Object.entries(all).map(([name, part]) => [name, isArbitrary(part) ? part : fc.constant(part)])));
  return drawn.map((step) => {
    const { query, body, cursor: ownCursor, proof: ownProof, ...rest } = step as unknown as RequestStep;
    return {
      ...rest,
      kind: "request",
      query: present(query),
      ...(body === undefined ? {} : { body: { ...body, fields: present(body.fields) } }),
      ...(ownCursor === undefined ? {} : { cursor: ownCursor }),
      ...(ownProof === undefined ? {} : { proof: ownProof }),
    };
  });
}

/** Draws a read of a list, with selections, limits and cursors. */
export const list = (parts: Omit<Parts, "world" | "method" | "query">, more: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<RequestStep> =>
  oneOf(
    [40, request({ ...parts, method: "GET", query: fc.record({ limit, ...more }), cursor })],
    [1, request({ ...parts, method: "GET", query: fc.constant({ before: "one", after: "other" }) })],
  );

/** A request body as JSON or as one of the two types of forms. Forms have only texts, and write lists and objects in one of several ways. */
export const body = (drawn: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<NonNullable<RequestStep["body"]>> =>
  fc
    .record({
      kind: fc.constantFrom("json" as const, "json" as const, "form" as const, "multipart" as const),
      nesting: fc.constantFrom<Nesting | undefined>(undefined, undefined, "[]", "[0]", "repeated"),
      fields: fc.record(drawn),
    })
    .map(({ nesting, ...rest }) => (rest.kind === "json" || nesting === undefined ? rest : { ...rest, nesting }));
