import { afterEach, expect, test } from "bun:test";
import { endAll, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

test("each request is a line of the log, without its query, with the reason if it was refused; --quiet omits these lines", async () => {
  for (const quiet of [[], ["--quiet"]]) {
    const plaza = await startPlaza(["--data", ":memory:", ...quiet]);
    await plaza.page("custom_labels");
    await plaza.page("custom_labels", "stolen-token");
    const { stderr } = await plaza.end();
    for (const token of ["demo-page-token", "stolen-token"]) expect(stderr).not.toContain(token);
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ msg }) => msg === "request");
    if (quiet.length > 0) expect(requests).toEqual([]);
    else
      expect(requests).toMatchObject([
        {
          level: "info",
          method: "GET",
          path: "/v26.0/2001/custom_labels",
          status: 200,
          ms: expect.any(Number),
          operation: "listLabels",
          app: "1001",
        },
        {
          method: "GET",
          path: "/v26.0/2001/custom_labels",
          status: expect.any(Number),
          code: 190,
          reason: expect.stringMatching(/./),
          trace_id: expect.any(String),
        },
      ]);
  }
});

test("an unread log delays no request and no end", async () => {
  const plaza = await startPlaza(["--data", ":memory:"]);
  // A thousand lines of about 250 bytes each, which is far more than a pipe holds.
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 100 }, () => plaza.page("custom_labels")));
  plaza.process.kill("SIGTERM");
  expect(await plaza.process.exited).toBe(0);
});
