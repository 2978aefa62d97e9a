/** Records the story of a request, step by step. */
import { expect, test } from "bun:test";
import type { Parsed } from "#graph/pipeline/parse";
import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import type { Reached } from "#graph/pipeline/stages";
import { refusalStoryOf, StoryRecorder, storyOf } from "#graph/pipeline/story/story";
import type { World } from "#graph/worlds/world";

const response = { status: 200, body: "{}" } as unknown as GraphResponse;
const world = { requests: { isWatched: false }, webhooks: { followed: (tx: unknown) => [`followed ${tx}`] } } as unknown as World;

function recorder(...times: number[]) {
  return new StoryRecorder(world, () => times.shift() as number);
}
const parsed = (request: object) => ({ request }) as unknown as Parsed;

test("each step has its name and duration, and the step in which the request ended is last", () => {
  const story = recorder(100, 103, 110, 115);
  story.begin("check");
  story.begin("handle");
  expect(story.finish({}, response)).toMatchObject({
    ...response,
    story: {
      steps: [
        { name: "understand", duration_ms: 3 },
        { name: "check", duration_ms: 7 },
        { name: "handle", duration_ms: 5 },
      ],
    },
  });
});

test("a request that was refused at once has nothing more", () => {
  const { story } = recorder(1, 2).finish({}, response, { error: "unknownPath" });
  expect(story).toEqual({ steps: [{ name: "understand", duration_ms: 1 }], credentials: [], version: {}, error: "unknownPath", deliveries: [] });
});

test("it names everything that the request reached, and the callers who may see each", () => {
  const policy = { name: "open", summary: "all", kinds: ["page"], scopes: ["notes"], canSee: () => true };
  const reached = {
    ...{ address: { version: 22 }, node: { id: "7", type: "page", owner: "8" }, served: { version: 25, upgradedFrom: 22 } },
    credentials: [
      { place: "bearer", value: "secret", token: { id: "5", type: "page", app: "1" } },
      { place: "body", value: "secret", token: { id: "1", type: "app", app: "1" } },
    ],
    dead: [{ place: "access_token", value: "secret", error: new Error("it expired") }],
  };
  const credentials = [
    { place: "bearer", type: "page", token: "5", app: "1" },
    { place: "body", type: "app", app: "1" },
    { place: "access_token", refusal: "it expired" },
  ];
  const reported = (more: object) => recorder(1, 2).finish({ ...reached, ...more } as unknown as Reached, response).story;
  const facts = {
    credentials,
    node: { id: "7", type: "page" },
    version: { asked: "v22.0", served: "v25.0", upgraded_from: "v22.0" },
    policy: { name: "open", summary: "all", kinds: ["page"], scopes: ["notes"] },
  };
  expect(reported({ endpoint: { access: { policy } } })).toEqual({ steps: [expect.anything()], ...facts, deliveries: [] } as never);
  expect(reported({ concealed: { access: { policy } } })).toMatchObject({ ...facts, is_concealed: true });
  expect(reported({ served: { version: 25 } })?.version).toEqual({ asked: "v22.0", served: "v25.0" });
});

test("it shows the parameters as understood, the beginning of long ones, and none of a read of a node", () => {
  const parametersOf = (request: object) => {
    const story = recorder(1, 2, 3);
    story.begin("handle", parsed(request));
    return story.finish({}, response).story?.parameters;
  };
  expect([parametersOf({ params: { a: 1 } }), parametersOf({}), parametersOf({ params: { access_token: "hidden-secret" } })]).toEqual([
    ...['{"a":1}', undefined, expect.not.stringContaining("hidden-secret")],
  ]);
  expect(parametersOf({ params: { a: "x".repeat(100_000) } })?.length).toBeLessThan(20_000);
});

test("it has the webhooks of the last run of a write, unless the request was refused", () => {
  const reported = (ending?: { error: string }) => {
    const story = recorder(1, 2);
    for (const tx of ["first", "second"]) story.recordWrite(tx as never);
    return story.finish({}, response, ending).story?.deliveries;
  };
  expect([reported(), reported({ error: "labelNameTaken" })]).toEqual([["followed second"], []]);
});

test("D-272: it names the fault that applied, without the text of the response", () => {
  const { story } = recorder(1, 2).finish({}, response, { fault: { id: "f", operation: "*", status: 503, body: "text" } as never });
  expect(JSON.parse(story?.fault as string)).toEqual({ id: "f", operation: "*", status: 503 });
});

test("it is recorded while somebody watches, or for a request that asks for it, only as a whole", () => {
  const isRecorded = (isWatched: boolean, debug: unknown, batchDepth = 0) =>
    storyOf({ ...world, requests: { isWatched } } as unknown as World, { query: { debug }, batchDepth } as unknown as GraphRequest, () => 0) !==
    undefined;
  expect([isRecorded(true, undefined), isRecorded(false, "all"), isRecorded(false, "info"), isRecorded(false, undefined)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([isRecorded(true, "all", 1), isRecorded(false, "all", 1), isRecorded(true, undefined, 1)]).toEqual([false, false, false]);
});

test("D-272: a refused request that nobody watched has the step that refused it", () => {
  const refused = refusalStoryOf({} as World, { batchDepth: 0 } as GraphRequest, "check")?.finish({}, response, { error: "tokenInvalid" });
  expect(refused?.story).toMatchObject({ steps: [{ name: "check", duration_ms: 0 }], error: "tokenInvalid" });
  expect(refusalStoryOf({} as World, { batchDepth: 1 } as GraphRequest, "check")).toBeUndefined();
});
