/** Checks the stored facts of a request's story, and the facts that a reader of the story derives from them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { refusalStory, storyOf, type Way } from "#graph/pipeline/story/story";
import { deliveriesIn, readStory, type StoryRest, storyText } from "#graph/pipeline/story/story-text";
import { tokenMissing } from "#kernel/errors";
import { jsonExcerpt } from "#kernel/json/json-excerpt";
import { buildRegistry } from "#main";

const registry = buildRegistry();
const request = { operation: "listLabels", path: "/v26.0/2001/custom_labels", surface: "base" };
const read = (story: string, more: object = {}) => readStory({ ...request, story, ...more }, registry);

const token = { id: "5", type: "page", app: "1", page: "2001" };
const credential = (place: string, of: object = token) => ({ place, value: "secret", token: of });
const reached = {
  ...{ address: { version: 26, id: "2001", edge: "custom_labels" }, served: { version: 26 }, node: { id: "2001", type: "page", owner: "2001" } },
  credentials: [credential("access_token"), credential("bearer")],
};
const way = (more: object = {}) => ({ step: 4, reached, ...more }) as unknown as Way;

test("D-272: a request that was simply served has only its tokens as text, and a reader finds the rest", () => {
  const text = storyOf(way());
  expect(text).toBe("access_token,bearer:page:5:1:2001");
  expect(read(text)).toEqual({
    steps: ["understand", "check", "handle", "respond"].map((name) => ({ name })) as never,
    credentials: ["access_token", "bearer"].map((place) => ({ place, type: "page", token: "5", app: "1", of: "2001" })),
    node: { id: "2001", type: "page" },
    policy: expect.objectContaining({ name: "pageMessaging", scopes: ["pages_messaging"] }),
    version: { asked: "v26.0", served: "v26.0" },
    deliveries: [],
  });
});

test("tokens of a request that has several, a token that is not stored, and dead ones are told apart", () => {
  const app = { id: "1", type: "app", app: "1" };
  const dead = [{ place: "oauth_token", value: "secret", error: new Error("it expired") }];
  const text = storyOf(way({ reached: { ...reached, credentials: [credential("bearer"), credential("body", app)], dead } }));
  expect(text).not.toContain("secret");
  expect(read(text)?.credentials).toEqual([
    { place: "bearer", type: "page", token: "5", app: "1", of: "2001" },
    { place: "body", type: "app", app: "1", of: "1" },
    { place: "oauth_token", refusal: "it expired" },
  ]);
});

test("an upgraded version, a version of the app, a fault and durations are written out", () => {
  const story = (more: object, times?: number[], fault?: object) => read(storyOf(way({ reached: { ...reached, ...more }, times, fault })));
  expect(story({ served: { version: 26, upgradedFrom: 25 } })?.version).toEqual({ asked: "v26.0", served: "v26.0", upgraded_from: "v25.0" });
  expect(story({ address: { id: "2001" } })?.version).toEqual({ served: "v26.0" });
  expect(story({}, [1, 1.5, 2.5, 3, 4])?.steps.map(({ duration_ms }) => duration_ms)).toEqual([0.5, 1, 0.5, 1]);
  expect(JSON.parse(story({}, undefined, { id: "f", status: 503, body: "text" })?.fault ?? "")).toEqual({ id: "f", status: 503 });
});

test("the parameters are those that were understood, the beginning of long ones, without secrets", () => {
  const parametersOf = (params?: object) => read(storyOf(way({ parsed: { request: params === undefined ? {} : { params } } })))?.parameters;
  expect([parametersOf({ a: 1 }), parametersOf(), parametersOf({}), parametersOf({ access_token: "hidden-secret" })]).toEqual([
    ...['{"a":1}', undefined, undefined, expect.not.stringContaining("hidden-secret")],
  ]);
  expect(parametersOf({ a: "two\nlines" })).toBe('{"a":"two\\nlines"}');
  expect(parametersOf({ a: "x".repeat(100_000) })?.length).toBeLessThanOrEqual(1_024);
});

test("a write has its webhooks, unless it was refused", () => {
  const followed = { deliveries: ["d1"], unsent: [{ object: "page", field: "feed", entity: "2001" }] };
  const text = storyOf(way({ followed }));
  expect([read(text)?.deliveries, deliveriesIn(text), read(text)?.unsent as unknown]).toEqual([["d1"], ["d1"], followed.unsent]);
  const refused = storyOf(way({ followed, step: 3 }), tokenMissing("bearer"));
  expect(read(refused)).toMatchObject({
    deliveries: [],
    error: "tokenMissing",
    steps: [{ name: "understand" }, { name: "check" }, { name: "handle" }],
  });
});

test("a request that was refused before the pipeline has its error, and no step", () => {
  expect(read(refusalStory(tokenMissing("bearer")), { operation: "unknown" })).toMatchObject({ error: "tokenMissing", steps: [], credentials: [] });
  expect(read("")).toBeUndefined();
});

test("a text without tokens is a story too, and a long one is kept without its long parts", () => {
  expect(read(storyText(""))?.credentials).toEqual([]);
  const long: StoryRest = { error: "notFound", message: "m", fault: "x".repeat(20_000), deliveries: ["d1"] };
  expect(read(storyText("", long, "{}"))).toMatchObject({ error: "notFound", message: "m", deliveries: [], parameters: "{}" });
  expect(read(storyText("", long))).not.toHaveProperty("fault");
});

test("an excerpt of JSON is its beginning, whatever the value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 60 }), (value, charactersMax) => {
      // JSON texts contain neither -0 nor a key that JSON.parse would treat in a special way.
      const plain = JSON.parse(JSON.stringify(value));
      expect(jsonExcerpt(plain, charactersMax)).toBe(JSON.stringify(plain).slice(0, charactersMax));
    }),
  );
  expect(jsonExcerpt({ a: undefined, file: new Uint8Array(1_000_000) }, 50)).toBe('{"file":"…"}');
});
