/** D-376: the requests of a batch or of `ids=` in the story of the whole request. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { cafe } from "#harness/worlds";
import { partsOfStory } from "./story-parts.ts";
import { readStory } from "./story-text.ts";

const tokens = { query: { access_token: "page", oauth_token: "page" }, headers: { authorization: "Bearer page" } };

onEachDatabase("D-376: the parts of a batch", (database) => {
  test("are in its story with operation, path and status, and those that need it with their own stories", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const batch = [
      { relative_url: "v26.0/2001/custom_labels?limit=1" },
      { method: "POST", relative_url: "v26.0/2001/custom_labels", body: "page_label_name=alone" },
      { relative_url: "v26.0/2001/custom_label" },
      { relative_url: "v26.0/{result=nobody:$.id}" },
    ];
    const { story } = await plaza.post("/", { ...tokens, body: { batch: [{ name: "nobody", relative_url: "v26.0/5001" }, ...batch] } });
    expect(story?.parts?.map(({ operation, method, path, status }) => `${method} ${path} ${status} ${operation}`)).toEqual([
      "GET /v26.0/5001 200 readLabel",
      "GET /v26.0/2001/custom_labels 200 listLabels",
      "POST /v26.0/2001/custom_labels 200 createLabel",
      "GET /v26.0/2001/custom_label 400 unknown",
      "GET /v26.0/5001 200 readLabel",
    ]);
    const [read, , written, refused] = (story?.parts ?? []).map((part) => readStory({ ...part, surface: "base" }, plaza.registry));
    expect(read).toBeUndefined();
    expect(written).toMatchObject({ unsent: [{ field: "custom_labels" }] });
    expect(written?.parameters).toBeUndefined();
    expect(refused).toMatchObject({ error: "unsupportedRequest", credentials: [{ place: "bearer", type: "page" }, {}, {}] });
  });

  test("that cannot begin, and reads of ids=, are among them", async () => {
    const plaza = await openPlaza({ database, world: cafe });
    const first = { name: "a", relative_url: "v26.0/5001", omit_response_on_success: false };
    const { story } = await plaza.post("/", { ...tokens, body: { batch: [first, { relative_url: "v26.0/{result=a:$.nothing.at.all}\ud800" }] } });
    expect(story?.parts?.at(1)).toMatchObject({ operation: "unknown", status: 400, method: "GET" });
    const many = await plaza.get("/", { ...tokens, query: { ...tokens.query, ids: "5001,999" } });
    expect({ status: many.status, parts: many.story?.parts }).toMatchObject({
      status: 400,
      parts: [
        { operation: "readLabel", path: "/5001", status: 200 },
        { status: 400, path: "/999" },
      ],
    });
  });
});

test("D-376: however many and long the parts, their list is bounded", () => {
  const part = {
    operation: "listLabels",
    method: "GET",
    path: `/${"\u0001".repeat(9_000)}`,
    status: 400,
    story: `;\n${JSON.stringify({ error: "x", message: "m".repeat(400) })}`,
  };
  const { parts = [], parts_left_out } = partsOfStory(Array.from({ length: 2_500 }, () => part));
  expect(JSON.stringify(parts).length).toBeLessThanOrEqual(12_288 + 50);
  expect(parts.length + (parts_left_out ?? 0)).toBe(2_500);
  const short = partsOfStory(Array.from({ length: 50 }, () => ({ ...part, path: `/${"a".repeat(99)}` })));
  expect({ all: short.parts?.length, left: short.parts_left_out, stories: short.parts?.some(({ story }) => story !== undefined) }).toEqual({
    all: 50,
    left: undefined,
    stories: true,
  });
});
