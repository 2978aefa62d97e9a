/** D-34, D-39: runs each request of a batch or of `ids=` as a request of its own, with shared limits. */
import { describe, expect, test } from "bun:test";
import { runBatch } from "#graph/pipeline/batch/batch";
import { dispatchMany, type Many, manyOf } from "#graph/pipeline/batch/multi-get";
import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import type { Authenticated, Incoming } from "#graph/pipeline/stages";
import { standardCalendar } from "#graph/versions/calendar";
import type { World } from "#graph/worlds/world";
import type { GraphError } from "#kernel/errors";
import { buildRegistry } from "#main";

const CHARACTERS_MAX = 8_388_608;
const responding = (body: string, status = 200) => ({ status, headers: {}, body }) as unknown as GraphResponse;
const headers: Readonly<Record<string, string>> = { authorization: "Bearer t", "if-none-match": '"x"', "x-why": "because" };
const whole = {
  ...{ surface: "base", method: "POST", path: "/v24.0/", queryText: "", query: { access_token: "q" }, body: { oauth_token: "b", batch: [] } },
  ...{ files: new Map(), baseUrl: "http://plaza.test", batchDepth: 0, header: (name: string) => headers[name] },
} as unknown as GraphRequest;
const registry = buildRegistry();
const around = (request: GraphRequest) => {
  const world = { profile: "strict", calendar: standardCalendar, clock: { nowMs: () => 1_795_000_000_000 } } as unknown as World;
  return { request, world, registry, now: 1_795_000_000 };
};
const refuse = (error: GraphError) => responding(error.message, 400);

/** The request that the batch makes for one of its parts, without the keys that the part has from the batch. */
const shown = ({ method, path, queryText, query, body, batchDepth, header, defect }: GraphRequest) => ({
  ...{ method, path, queryText, query: { ...query }, body: { ...body }, isPart: batchDepth > 0 },
  ...(defect === undefined ? {} : { defect: defect.message }),
  headers: Object.keys(headers).filter((name) => header(name) !== undefined),
});

describe("a request of a batch", () => {
  const asked = async (part: object, batch: Partial<GraphRequest> = {}) => {
    const requests: GraphRequest[] = [];
    const run = async (request: GraphRequest) => {
      requests.push(request);
      return responding("{}");
    };
    const responses = await runBatch(run, around({ ...whole, ...batch }), [part], refuse);
    return requests.length === 0 ? responses[0]?.body : shown(requests[0] as GraphRequest);
  };

  test("has the version, the tokens and the headers of the batch by default, but no entity tag", async () => {
    expect<unknown>(await asked({ relative_url: "7/notes?limit=2" })).toEqual({
      ...{ method: "GET", path: "/v24.0/7/notes", queryText: "limit=2&access_token=q", isPart: true },
      ...{ query: { access_token: "q", limit: "2" }, body: { oauth_token: "b" }, headers: ["authorization", "x-why"] },
    });
  });

  test("has its own, and then none of the batch's", async () => {
    const own = { headers: ["x-why"], query: { access_token: "own" }, queryText: "access_token=own", body: {} };
    expect(await asked({ relative_url: "/v22.0/7?access_token=own" })).toMatchObject({ path: "/v22.0/7", ...own });
    // The requests of page messaging, for which the bearer token of the batch counts (D-10).
    expect(await asked({ relative_url: "7?oauth_token=own" })).toMatchObject({
      headers: ["authorization", "x-why"],
      query: { oauth_token: "own" },
      body: {},
    });
    expect(await asked({ method: "post", relative_url: "7", body: "access_token=own" })).toMatchObject({
      method: "POST",
      query: {},
      body: { access_token: "own" },
    });
  });

  test.each([
    ["7", "/v24.0/", "/v24.0/7"],
    ["/7", "/v24.0", "/v24.0/7"],
    ["//7/", "/v24.0", "/v24.0//7/"],
    ["v22.0/7", "/v24.0/", "/v22.0/7"],
    ["/v22.0/7", "/", "/v22.0/7"],
    ["7", "/", "/7"],
    ["", "/v24.0/", "/v24.0/"],
    ["7", "/batch", "/7"],
  ])("to %p in a batch to %s is for %s", async (relative_url, path, expected) => {
    expect(await asked({ relative_url }, { path })).toMatchObject({ path: expected });
  });

  test("has a body as a form, or as JSON if it begins so", async () => {
    const body = async (text: unknown) => ((await asked({ relative_url: "7", body: text })) as { body?: object }).body;
    expect([await body("a=1&b=%C3%BC"), await body(' {"a":1}'), await body({ a: [1] })]).toEqual([
      { oauth_token: "b", a: "1", b: "ü" },
      { oauth_token: "b", a: 1 },
      { oauth_token: "b", a: [1] },
    ]);
    // A defect in one request of a batch is thrown at the same step as in a request that is sent alone.
    expect((await asked({ relative_url: "7", body: "{" })) as unknown).toMatchObject({ defect: "(#100) The request body is not valid JSON" });
  });
});

describe("requests of a batch", () => {
  const parts = (count: number, more: object = {}) => Array.from({ length: count }, () => ({ relative_url: "7", ...more }));
  const codes = async (bodies: readonly number[], more: readonly object[] = []) => {
    let at = 0;
    const run = async () => responding("x".repeat(bodies[at++] ?? 0));
    return (await runBatch(run, around(whole), [...parts(bodies.length), ...more], refuse)).map((response) => response?.code ?? null);
  };

  test("D-39: have up to 8,388,608 characters of responses together; the next one is not run", async () => {
    expect(await codes([CHARACTERS_MAX / 2, CHARACTERS_MAX / 2, 1])).toEqual([200, 200, 200]);
    expect(await codes([CHARACTERS_MAX, 1, 1])).toEqual([200, 200, 400]);
    expect(await codes([CHARACTERS_MAX + 1, 1])).toEqual([200, 400]);
    // A request of a batch that does not run uses nothing of the shared limit.
    const failing = async ({ path }: GraphRequest) =>
      responding("x".repeat(path.endsWith("/8") ? CHARACTERS_MAX - 1 : 1), path.endsWith("/6") ? 400 : 200);
    const blocked = [{ relative_url: "6", name: "a" }, { relative_url: "7", depends_on: "a" }, { relative_url: "8" }, ...parts(2)];
    expect((await runBatch(failing, around(whole), blocked, refuse)).map((response) => response?.code ?? null)).toEqual([400, null, 200, 200, 400]);
  });

  test("make way for others in between", async () => {
    const events: string[] = [];
    const run = async () => {
      events.push("part");
      setImmediate(() => events.push("other"));
      return responding("{}");
    };
    await runBatch(run, around(whole), parts(3), refuse);
    expect(events).toEqual(["part", "other", "part", "other", "part"]);
  });

  test("end with an error of the catalogue if they are refused, and with another one otherwise", async () => {
    const failed = runBatch(() => Promise.reject(new RangeError("the store is away")), around(whole), parts(2), refuse);
    await expect(failed).rejects.toThrow("the store is away");
  });
});

describe("several nodes by ids=", () => {
  const authenticated = { address: { id: undefined, edge: undefined }, method: "GET", credentials: [{}] } as unknown as Authenticated;
  const many = (query: Record<string, unknown>, run: (request: GraphRequest) => Promise<GraphResponse>, more: Partial<GraphRequest> = {}) => {
    const request = { ...whole, method: "GET", path: "/v24.0/notes/", query, body: {}, ...more };
    const incoming = { ...around(request), upgrades: [] } as unknown as Incoming;
    return dispatchMany(run, incoming, authenticated, manyOf(incoming, authenticated) as Many, () => {});
  };
  const collecting = () => {
    const requests: GraphRequest[] = [];
    const run = async (request: GraphRequest) => {
      requests.push(request);
      return responding("{}");
    };
    return { requests, run };
  };

  test("are each read as separate requests, without the ids and without the entity tag", async () => {
    const { requests, run } = collecting();
    const queryText = "ids=1,2&limit=2&ids[]=1&ids%5B0%5D=2&IDS=3&ids&idsx=1";
    await many({ ids: "1,2", limit: "2" }, run, { queryText, body: { ids: "3", a: 1 } });
    expect<unknown>(requests.map(shown)).toEqual(
      ["1", "2"].map((id) => ({
        ...{
          method: "GET",
          path: `/v24.0/${id}/notes`,
          queryText: "limit=2&IDS=3&idsx=1",
          query: { limit: "2", IDS: "3", idsx: "1" },
          body: { a: 1 },
          isPart: true,
        },
        headers: ["authorization", "x-why"],
      })),
    );
    for (const [path, expected] of [
      ["/", "/1"],
      ["/notes", "/1/notes"],
      ["/v24.0", "/v24.0/1"],
    ] as const) {
      const of = collecting();
      await many({ ids: "1" }, of.run, { path });
      expect(of.requests[0]?.path).toBe(expected);
    }
    await expect(many({ ids: "1" }, run, { path: "/v24.0/notes/more" })).rejects.toThrow("Unknown path components: /v24.0/notes/more");
  });

  test("D-39: have up to 8,388,608 characters of responses together, and fail with the first failure", async () => {
    const sized = (...lengths: number[]) => {
      let at = 0;
      return async () => responding(JSON.stringify("x".repeat((lengths[at++] ?? 2) - 2)));
    };
    const half = CHARACTERS_MAX / 2;
    expect(Object.keys(JSON.parse((await many({ ids: "1,2,3" }, sized(half, half, 9)))?.body ?? ""))).toEqual(["1", "2", "3"]);
    await expect(many({ ids: "1,2,3" }, sized(half, half + 1, 9))).rejects.toThrow("more than 8388608 characters before 3");
    const failed = responding("{}", 404);
    expect(await many({ ids: "1,2" }, async ({ path }) => (path.includes("/2") ? failed : responding("{}")))).toMatchObject({
      status: 404,
      body: "{}",
    });
  });

  test("make way for others in between", async () => {
    const events: string[] = [];
    const run = async () => {
      events.push("part");
      setImmediate(() => events.push("other"));
      return responding("{}");
    };
    await many({ ids: "1,2,3" }, run);
    expect(events).toEqual(["part", "other", "part", "other", "part"]);
  });
});
