/**
 * Checks that a rule about a value is written once, in the contract. The test makes each limiting keyword of a schema stricter in turn. After this
 * change, the server must refuse a value that it accepted before, and the document must change. A keyword that only documents read fails this test.
 */
import { describe, expect, test } from "bun:test";
import type { TObject } from "typebox";
import { controlRoutes } from "#control/routes";
import { parametersReader } from "#graph/pipeline/parameters";
import { requestSchema } from "#graph/schema/public-schema";
import { NAMES_OF, ONLY_IN, PROBLEM, READ_AS, REFERS_TO, SHAPE_OF, TRIMMED } from "#graph/schema/schema-node";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { busyWorld, openFullPlaza } from "#harness/full-world";
import { TestPlaza } from "#harness/plaza";
import { startReceiver } from "#harness/receiver";
import { buildRegistry } from "#main";
import { endpointsOf, registry } from "./documents.ts";
import { send, taken, world } from "./samples.ts";
import type { Json } from "./variants.ts";

/** Keywords of schemas that limit nothing by themselves: names, defaults, and conditions, whose branches have keywords of their own. */
const silent = new Set([
  "description",
  "title",
  "examples",
  "default",
  "if",
  "then",
  "else",
  "properties",
  "items",
  PROBLEM,
  READ_AS,
  REFERS_TO,
  SHAPE_OF,
]);

/** A keyword of a schema, a stricter value for the keyword, and a value that the stricter schema refuses. */
interface Change {
  readonly node: Record<string, unknown>;
  readonly word: string;
  readonly stricter: unknown;
  readonly place: string;
  readonly params: Json;
}

type Put = (value: unknown) => Json;

function changesOf(node: Record<string, unknown>, value: unknown, place: string, put: Put): Change[] {
  if (node["x-plaza-raw"] === true || node[READ_AS] !== undefined || value === undefined) return [];
  const change = (word: string, stricter: unknown, params = put(value)): Change => ({ node, word, stricter, place, params });
  const found: Change[] = [];
  for (const word of Object.keys(node)) {
    const own = stricterOf(node, word, value);
    if (own !== undefined) found.push(change(word, own.stricter, own.value === undefined ? put(value) : put(own.value)));
  }
  const inside = (inner: unknown, at: unknown, step: string, replace: Put): void => {
    found.push(...changesOf(inner as Record<string, unknown>, at, `${place}${step}`, replace));
  };
  const {
    properties = {},
    additionalProperties,
    items,
    anyOf = [],
  } = node as { properties?: Json; additionalProperties?: unknown; items?: object; anyOf?: object[] };
  if (!hasRules(node)) for (const one of anyOf) inside(one, value, "", put);
  for (const branch of ["then", "else"]) if (node[branch] !== undefined) inside(node[branch], value, `/${branch}`, put);
  if (isObject(value)) {
    for (const [name, one] of Object.entries(properties)) inside(one, value[name], `.${name}`, (next) => put({ ...value, [name]: next }));
    const [name] = Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
    if (name !== undefined && isObject(additionalProperties))
      inside(additionalProperties, value[name], ".*", (next) => put({ ...value, [name]: next }));
  }
  if (Array.isArray(value) && items !== undefined) inside(items, value[0], "[]", (next) => put(value.with(0, next)));
  return found;
}

/** Whether the alternatives of a schema concern keys, as in the schema of an object and in the branches of its conditions. */
const hasRules = ({ type, anyOf = [] }: { readonly type?: unknown; readonly anyOf?: unknown }): boolean =>
  type === "object" || (anyOf as Json[]).every((one) => one.type === undefined && one.required !== undefined);

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The stricter value of a keyword; undefined if the given sample cannot show the keyword's effect. `value` in the result is another sample that shows
 * the keyword's effect.
 */
function stricterOf(node: Record<string, unknown>, word: string, value: unknown): { stricter: unknown; value?: unknown } | undefined {
  const length = typeof value === "string" ? [...value].length : undefined;
  const count = Array.isArray(value) ? value.length : undefined;
  const number = typeof value === "number" ? value : undefined;
  const own = node[word];
  const to = (stricter: unknown, isShown = true) => (isShown ? { stricter } : undefined);
  switch (word) {
    case "maxLength":
      return to((length ?? 0) - 1, length !== undefined && length > 0);
    case "minLength":
      return to((length ?? 0) + 1, length !== undefined);
    case "maxItems":
      return count === 0 ? { stricter: 0, value: [1] } : to((count ?? 0) - 1, count !== undefined);
    case "minItems":
      return to((count ?? 0) + 1, count !== undefined);
    case "minimum":
      return to((number ?? 0) + 1, number !== undefined);
    case "maximum":
      return to((number ?? 0) - 1, number !== undefined);
    case "pattern":
      return to("^never$", length !== undefined);
    case "format":
      return to(own === "country" ? "id" : "country", length !== undefined);
    case "enum":
      return to(
        (own as unknown[]).filter((one) => one !== value),
        (own as unknown[]).includes(value),
      );
    case "const":
      return to("never", own === value);
    case "type":
      return to("null");
    case "required": {
      const [name] = (own as string[]).filter(
        (one) =>
          isObject(value) &&
          value[one] !== undefined &&
          (node.properties as Json | undefined)?.[one] !== undefined &&
          !Object.hasOwn((node.properties as Json)[one] as object, "default"),
      );
      if (!isObject(value) || name === undefined) return undefined;
      const { [name]: _, ...others } = value;
      return { stricter: own, value: others };
    }
    case "dependentRequired":
    case "not": {
      const [key] = isObject(value) ? Object.keys(value) : [];
      return key === undefined ? undefined : to(word === "not" ? { required: [key] } : { [key]: ["unheard_of"] });
    }
    case "anyOf":
      return to([{ required: ["unheard_of"] }], hasRules(node));
    case "additionalProperties":
      return isObject(value) && own === false ? { stricter: own, value: { ...value, unheard_of: 1 } } : undefined;
    case NAMES_OF:
      return to(own === "catalog" ? "social" : "catalog");
    case ONLY_IN:
      return to(own === "strict" ? "clients" : "strict");
    case TRIMMED:
      return length === undefined ? undefined : { stricter: false, value: `${value}`.padEnd((node.maxLength as number) + 1) };
    default:
      return undefined;
  }
}

/** Every keyword that limits something, with its path in the schema. */
function wordsOf(node: unknown, place = ""): string[] {
  if (!isObject(node) || node["x-plaza-raw"] === true || node[READ_AS] !== undefined) return [];
  const {
    properties = {},
    items,
    anyOf,
    additionalProperties,
  } = node as { properties?: Json; items?: unknown; anyOf?: unknown[]; additionalProperties?: unknown };
  // `limits.test.ts` varies types. The type of a schema follows from its constant or its list of values, so the keyword `type` limits nothing there.
  const isTyped = node.const === undefined && node.enum === undefined && !["object", "null"].includes(String(node.type));
  const isSilent = (word: string) =>
    silent.has(word) ||
    (word === "type" && !isTyped) ||
    (word === "anyOf" && !hasRules(node)) ||
    (word === "format" && node.format === "binary") ||
    (word === "additionalProperties" && node[word] !== false) ||
    (word === "required" && (node[word] as string[]).every((name) => Object.hasOwn((properties[name] ?? {}) as object, "default")));
  return [
    ...Object.keys(node).flatMap((word) => (isSilent(word) ? [] : [`${place} ${word}`])),
    ...(hasRules(node) ? [] : (anyOf ?? []).flatMap((one) => wordsOf(one, place))),
    ...["then", "else"].flatMap((branch) => wordsOf(node[branch], `${place}/${branch}`)),
    ...Object.entries(properties).flatMap(([name, one]) => wordsOf(one, `${place}.${name}`)),
    ...wordsOf(items, `${place}[]`),
    ...wordsOf(additionalProperties, `${place}.*`),
  ];
}

/** Makes the change in the contract itself while the function `look` runs, and then undoes the change. */
async function changed<T>({ node, word, stricter }: Change, look: () => Promise<T> | T): Promise<T> {
  const before = node[word];
  node[word] = stricter;
  try {
    return await look();
  } finally {
    node[word] = before;
  }
}

/** Samples for keywords whose effect no other sample shows. */
const moreOfBoth: Readonly<Record<string, readonly Json[]>> = {
  createLiveVideo: [{ place: "", crossposting_actions: [{ page_id: "2002", action: "enable_crossposting" }] }],
  updateLiveVideo: [
    { place: "", crossposting_actions: [{ page_id: "2002", action: "disable_crossposting" }] },
    { planned_start_time: 1_900_000_000, status: "SCHEDULED_LIVE" },
  ],
};

/** Values that only the response profile `clients` accepts. */
const moreOfClients: Readonly<Record<string, readonly Json[]>> = {
  reportAppEvents: [{ event: "DEFERRED_APP_LINK", application_tracking_enabled: true, advertiser_tracking_enabled: true }],
  listAttribution: [{ advertiser_id: "d", event: "DEFERRED_APP_LINK" }],
  readUserInsights: [{ metric: ["likes"], since: 1_794_000_000, until: 1_794_900_000 }],
  subscribeApp: [{ object: "page", callback_url: "http://127.0.0.1:1/", fields: ["feed"], verify_token: "v" }],
  subscribeToPage: [{ subscribed_fields: ["feed"] }],
  endSubscription: [{ object: "page", fields: ["feed"] }],
};

describe("each word of a contract that limits a value", () => {
  const callback = startReceiver().url;
  const samples = taken(callback);

  for (const { access } of registry.endpoints.filter(({ served }) => Object.keys(served?.contract.params.properties ?? {}).length > 0)) {
    const { operation } = access;
    test(`of ${operation} is enforced by the server and shown by its document`, async () => {
      const contract = registry.endpoints.find((one) => one.access.operation === operation)?.served?.contract;
      const params = contract?.params as unknown as Record<string, unknown>;
      const unshown = new Set(wordsOf(params));
      for (const profile of ["strict", "clients"] as const) {
        if (!endpointsOf(profile).some((one) => one.access.operation === operation)) continue;
        const plaza = await openFullPlaza({ profile, world });
        const where = plaza.registry.servedIn(plaza.world, 1_795_000_000);
        const own = [
          ...(samples[operation] ?? []),
          ...(moreOfBoth[operation] ?? []),
          ...(profile === "clients" ? (moreOfClients[operation] ?? []) : []),
        ];
        for (const sample of own) {
          for (const change of changesOf(params, sample, "", (value) => value as Json)) {
            const name = `${change.place} ${change.word}`;
            if (!unshown.has(name)) continue;
            const before = JSON.stringify(requestSchema(params, where));
            // If the stricter keyword is equal to the old one, the refused value differs instead.
            const isSame = change.stricter === change.node[change.word];
            const isShown = await changed(change, async () => {
              const server = new TestPlaza(plaza.world, buildRegistry(), plaza.time, []);
              const endpoint = server.registry.endpoints.find((one) => one.access.operation === operation);
              const { isRefused, status } = await send(server, endpoint as never, change.params);
              return (isRefused || status === 400) && (isSame || JSON.stringify(requestSchema(params, where)) !== before);
            });
            if (isShown) unshown.delete(name);
          }
        }
      }
      expect([...unshown]).toEqual([]);
    }, 60_000);
  }
});

/**
 * Makes each limiting keyword of a schema stricter, if a sample can show its effect. Returns for each keyword whether the reader of values then
 * refuses the sample.
 */
function enforcedOf(schema: unknown, values: readonly Json[], place: string, read: (schema: TObject, value: Json) => boolean): Map<string, boolean> {
  const isRefused = new Map<string, boolean>();
  const limiting = new Set(wordsOf(schema, place));
  for (const one of values) {
    expect({ place, one, isTaken: read(schema as TObject, one) }).toEqual({ place, one, isTaken: true });
    for (const change of changesOf(schema as Record<string, unknown>, one, place, (value) => value as Json)) {
      const name = `${change.place} ${change.word}`;
      if (!limiting.has(name)) continue;
      const before = change.node[change.word];
      change.node[change.word] = change.stricter;
      isRefused.set(name, isRefused.get(name) === true || !read(schema as TObject, change.params));
      change.node[change.word] = before;
    }
  }
  return isRefused;
}

const isTakenBy = (makeReader: (schema: TObject) => (value: Json) => unknown) => (schema: TObject, value: Json) => {
  try {
    // The test copies the schema, because readers of values are cached by their schema.
    makeReader(structuredClone(schema))(value);
    return true;
  } catch {
    return false;
  }
};
const isTakenAsEntry = isTakenBy(entryReader);
const isTakenAsQuery = isTakenBy(parametersReader);

const unenforced = (found: Map<string, boolean>): string[] => [...found].filter(([, isRefused]) => !isRefused).map(([name]) => name);

test("each word of a section of a world file is enforced if the example has a value", () => {
  const missing: string[] = [];
  let seen = 0;
  for (const { key, entry } of registry.features.flatMap(({ worldSections = [] }) => worldSections)) {
    const found = enforcedOf(entry, (busyWorld as unknown as Record<string, readonly Json[]>)[key] ?? [], key, isTakenAsEntry);
    seen += found.size;
    missing.push(...unenforced(found));
  }
  expect(missing).toEqual([]);
  expect(seen).toBeGreaterThan(100);
});

/** The texts that the test tries as values for the patterns in the control API's schemas. */
const texts = ["x", "1001", "default", "full", "2026-11-18", "0".repeat(64), "http://127.0.0.1:1/", "page", "abcdefghijklmnopqrstuvwxyz012345"];

/** A value that fits the schema and has all optional keys, except keys that others exclude; undefined if no text for a pattern fits. */
function sampleOf(node: Record<string, unknown>): unknown {
  const { type, pattern, minLength = 1, minimum = 1, maximum = 1, items = {}, properties = {}, additionalProperties } = node as Json;
  if (node[READ_AS] !== undefined) return node[READ_AS] === "id" ? "1001" : 1_795_000_000;
  if (node.const !== undefined || node.enum !== undefined) return node.const ?? (node.enum as unknown[])[0];
  if (node.anyOf !== undefined && type !== "object") return sampleOf((node.anyOf as Json[])[0] as Json);
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.max(minimum as number, Math.min(maximum as number, 1));
  if (type === "array") return [sampleOf(items as Json)];
  if (type === "object") {
    const own = Object.entries(properties as Record<string, Json>).map(([name, one]) => [name, sampleOf(one)]);
    const more = isObject(additionalProperties) ? [["more", sampleOf(additionalProperties)]] : [];
    const { not = {} } = node as { not?: { required?: string[]; anyOf?: { required?: string[] }[] } };
    const excluded = (not.anyOf ?? [not]).map(({ required = [] }) => required.at(-1));
    return Object.fromEntries([...own, ...more].filter(([name, value]) => value !== undefined && !excluded.includes(name as string)));
  }
  if (type !== "string") return undefined;
  const formats: Json = {
    id: "1001",
    country: "DE",
    "time-zone": "Europe/Berlin",
    "web-address": "http://127.0.0.1:1/",
    callback: "http://127.0.0.1:1/",
  };
  if (typeof node.format === "string") return formats[node.format];
  return pattern === undefined ? "x".repeat(minLength as number) : texts.find((text) => new RegExp(pattern as string, "u").test(text));
}

test("each word of a query or body of the control API is enforced if a generated value shows it", () => {
  const missing: string[] = [];
  let seen = 0;
  for (const { operation, query, body } of controlRoutes(registry)) {
    for (const [place, schema, isTaken] of [
      [`${operation} query`, query, isTakenAsQuery],
      [`${operation} body`, typeof body === "string" ? undefined : body, isTakenAsEntry],
    ] as const) {
      const sample = schema === undefined ? undefined : (sampleOf(schema as unknown as Json) as Json);
      // Handlers that check more than their schemas are tested elsewhere.
      if (schema === undefined || sample === undefined || !isTaken(schema as TObject, sample)) continue;
      const found = enforcedOf(schema, [sample], place, isTaken);
      seen += found.size;
      missing.push(...unenforced(found));
    }
  }
  expect(missing).toEqual([]);
  expect(seen).toBeGreaterThan(100);
});
