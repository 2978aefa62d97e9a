/** D-320: compares recordings that other programs have written with real servers. */
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

interface Given {
  readonly headers?: readonly unknown[];
  readonly method?: string;
  readonly path?: string;
  readonly postData?: unknown;
  readonly response?: unknown;
}

const [OK, WRONG_USE] = [0, 2];
const answered = { status: 200, headers: [], content: { text: "{}" } };
const authorization = { name: "Authorization", value: "Bearer demo-page-token" };

function harOf({ headers = [], method = "POST", path = "/v26.0/2001/live_videos", postData, response = answered }: Given, before = ""): string {
  const request = { method, url: `http://127.0.0.1:40123${path}`, headers: [authorization, ...headers], postData };
  const file = join(newFolder(), "recorded.har");
  writeFileSync(file, before + JSON.stringify({ log: { version: "1.2", entries: [{ request, response }] } }));
  return file;
}

const typed = (type: string) => [{ name: "Content-Type", value: type }];
const [FORM, PARTS] = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=----WebKitFormBoundaryX"];
const reading: Given = { method: "GET", path: "/v26.0/2001?fields=name" };

/** Requests of recordings. Each recording creates a video with this title, or only reads. */
const taken: readonly (readonly [kind: string, given: Given, title: string | undefined, before?: string])[] = [
  ["a byte order mark", reading, undefined, "\uFEFF"],
  ["null for a body", { ...reading, postData: null }, undefined],
  ["null for a response", { ...reading, response: null }, undefined],
  ["a number as a header's value", { ...reading, headers: [{ name: "X-A", value: 5 }] }, undefined],
  ["base64 under encoding", { headers: typed("application/json"), postData: { text: "eyJ0aXRsZSI6InA0In0=", encoding: "base64" } }, "p4"],
  ["params of a form", { headers: typed(FORM), postData: { mimeType: FORM, params: [{ name: "title", value: "p1" }] } }, "p1"],
  ["params beside an empty text", { headers: typed(FORM), postData: { text: "", params: [{ name: "title", value: "p2" }] } }, "p2"],
  ["params of multipart", { headers: typed(PARTS), postData: { mimeType: PARTS, params: [{ name: "title", value: "p6 ä" }] } }, "p6 ä"],
  [
    "a body that was compressed",
    { headers: [...typed("application/json"), { name: "Content-Encoding", value: "gzip" }], postData: { text: '{"title":"p7"}' } },
    "p7",
  ],
];

test("each odd kind of recording is sent as it was recorded, or refused in one sentence", async () => {
  const servers = [await startPlaza(["--data", ":memory:"]), await startPlaza(["--data", ":memory:"])];
  const compare = (file: string) => runPlaza(["compare", ...servers.map(({ ready }) => ready.base_url), "--recording", file]);
  for (const [kind, given, title, before] of taken) {
    const { code, stdout } = await compare(harOf(given, before));
    expect({ kind, code, stdout }).toEqual({ kind, code: OK, stdout: "1 requests, 0 differences\n" });
    if (title === undefined) continue;
    for (const at of [0, 1]) {
      const url = `${servers[at]?.ready.base_url}/v26.0/2001/live_videos?fields=title&limit=1`;
      const { data } = (await (await fetch(url, { headers: { authorization: authorization.value } })).json()) as { data: { title: string }[] };
      expect({ kind, titles: data.map((video) => video.title) }).toEqual({ kind, titles: [title] });
    }
  }
  // Both servers refuse the request, so their responses are equal, although the recorded response has another status.
  const unknown = harOf({ headers: typed("application/json"), postData: { text: '{"titel":' } });
  expect(await compare(unknown)).toMatchObject({
    ...{ code: OK, stderr: "" },
    stdout: "other statuses than in the recording: 1\n  POST /v26.0/2001/live_videos: 200, now 400 and 400\n1 requests, 0 differences\n",
  });
  for (const [given, problem] of [
    [{ ...reading, headers: [{ name: "X-B", value: "a\nb" }] }, 'headers[1] cannot be sent: {"name":"X-B","value":"a\\nb"}'],
    [{ headers: typed(PARTS), postData: { params: [{ name: "source", fileName: "a.mp4" }] } }, 'postData has the file "a.mp4" without its content'],
  ] as const) {
    const { code, stdout, stderr } = await compare(harOf(given));
    expect({ code, stdout, lines: stderr.trimEnd().split("\n") }).toEqual({
      ...{ code: WRONG_USE, stdout: "" },
      lines: [expect.stringMatching(/^plaza: --recording: .* cannot be used: log\.entries\[0\]\.request\..*/)],
    });
    expect(stderr).toContain(problem);
  }
});
