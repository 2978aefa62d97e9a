/** D-20, D-22, D-34, D-83: the headers of a response depend on how many steps of the pipeline the request passed. */
import { describe, expect, test } from "bun:test";
import { renderError, renderPart, renderResponse } from "#graph/pipeline/render";
import type { Incoming, Reached } from "#graph/pipeline/stages";
import { standardCalendar } from "#graph/versions/calendar";
import { invalidParameter } from "#kernel/errors";
import { buildRegistry } from "#main";

const registry = buildRegistry();

interface Asked {
  readonly method?: string;
  readonly surface?: string;
  readonly known?: string;
  readonly query?: object;
}

const incomingOf = ({ method = "GET", surface = "base", known, query = {} }: Asked): Incoming =>
  ({
    request: { method, surface, query, header: (name: string) => (name === "if-none-match" ? known : undefined) },
    world: {
      calendar: standardCalendar,
      // 18 November 2026.
      clock: { nowMs: () => 1_795_000_000_000 },
      profile: "strict",
      rateLimits: { appUsage: (id: string) => (id === "1" ? 40 : 0), pageUsage: () => 30, pageWaitMinutes: () => 2 },
    },
    registry,
    ...{ traceId: "trace", upgrades: [] },
  }) as unknown as Incoming;
const respond = (asked: Asked, reached: object = {}, response: unknown = { id: "7" }) =>
  renderResponse(incomingOf(asked), reached as unknown as Reached, response);

describe("D-34: the entity tag of a response", () => {
  const { headers } = respond({});
  const tag = headers.etag as string;

  test("is that of its text, only for reads", () => {
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    expect(respond({ method: "HEAD" }).headers.etag).toBe(tag);
    expect(respond({}, {}, { id: "8" }).headers.etag).not.toBe(tag);
    for (const method of ["POST", "DELETE"]) {
      const { status, body, headers } = respond({ method, known: "*" });
      expect({ status, body, etag: headers.etag }).toEqual({ status: 200, body: '{"id":"7"}', etag: undefined });
    }
  });

  test("of the caller makes the response 304, in each allowed form", () => {
    for (const known of [tag, `W/${tag}`, ` ${tag} `, `"x",${tag}`, `"x" , W/${tag} , "y"`, "*", " * "]) {
      const { status, body, headers } = respond({ known });
      expect({ known, status, body, etag: headers.etag }).toEqual({ known, status: 304, body: "", etag: tag });
    }
    for (const known of ["", '"x"', tag.slice(1, -1), `${tag}x`, `w/${tag}`, '"x","*"', `"W/${tag.slice(1)}`]) {
      expect({ known, ...respond({ known }) }).toMatchObject({ known, status: 200, body: '{"id":"7"}' });
    }
  });
});

describe("the headers of a response", () => {
  const headersOf = (asked: Asked, reached: object = {}) => respond(asked, reached).headers;
  const NO_USAGE = '{"call_count":0,"total_cputime":0,"total_time":0}';

  test("exist at whatever step the request ended", () => {
    expect(headersOf({ method: "POST" })).toEqual({
      "content-type": "application/json; charset=UTF-8",
      "x-pf-trace-id": "trace",
      "pf-api-version": "v26.0",
      "x-app-usage": NO_USAGE,
      "x-business-use-case-usage": "{}",
    });
  });

  test("D-83: name the version that served, else the requested one, else the newest; or the surface's own", () => {
    const version = (reached: object, surface?: string) => headersOf(surface === undefined ? {} : { surface }, reached)["pf-api-version"];
    expect(version({ address: { version: 22 }, served: { version: 25 } })).toBe("v25.0");
    expect(version({ address: { version: 22 } })).toBe("v22.0");
    expect(version({ address: {} })).toBe("v26.0");
    expect([version({ served: { version: 26 } }, "app"), version({}, "microblog"), version({}, "ads")]).toEqual(["1.0.0", "v1.0", "v26.0"]);
  });

  test("VER-6f: warn if a deprecated version was requested", () => {
    const warning = (served: object) => headersOf({}, { served })["x-ad-api-version-warning"];
    expect(warning({ version: 25, upgradedFrom: 22 })).toBe("The call has been auto-upgraded to v25.0 as v22.0 has been deprecated");
    expect(warning({ version: 25 })).toBeUndefined();
  });

  test("D-22: show the usage of the app, and of the page", () => {
    const usage = (reached: object) => {
      const headers = headersOf({}, reached);
      return [headers["x-app-usage"], headers["x-business-use-case-usage"]];
    };
    expect(usage({ app: { id: "1" } })).toEqual(['{"call_count":40,"total_cputime":0,"total_time":0}', "{}"]);
    expect(usage({ subject: { owner: "8" } })).toEqual([
      NO_USAGE,
      '{"8":[{"type":"pages","call_count":30,"total_cputime":0,"total_time":0,"estimated_time_to_regain_access":2}]}',
    ]);
  });

  test("D-90: have those of the request's form, and of its operation", () => {
    const deprecation = (reached: object) => headersOf({ method: "POST" }, reached).deprecation;
    const activities = registry.find("app", "POST", "activities");
    expect(activities?.access.headers?.deprecation).toStartWith("@");
    expect(deprecation({ method: "POST", address: { edge: "activities" } })).toBe(activities?.access.headers?.deprecation as string);
    expect(deprecation({ endpoint: activities })).toBe(activities?.access.headers?.deprecation as string);
    expect([deprecation({ method: "GET", address: { edge: "activities" } }), deprecation({ address: { edge: "activities" } })]).toEqual([
      ...[undefined, undefined],
    ]);
    expect(deprecation({ method: "POST", address: {} })).toBeUndefined();
  });
});

describe("a response tells the log", () => {
  test("its operation, even for a node that the caller may not see, and the app that sent it", () => {
    const said = (reached: object) => {
      const { operation, app, traceId } = respond({}, reached);
      return { operation, app, traceId };
    };
    const endpoint = { access: { operation: "readPage" } };
    expect(said({ endpoint, app: { id: "1" } })).toEqual({ operation: "readPage", app: "1", traceId: "trace" });
    expect(said({ concealed: endpoint })).toEqual({ operation: "readPage", app: undefined, traceId: "trace" });
    expect(said({ many: "batch" })).toMatchObject({ operation: "batch" });
    expect(said({})).toMatchObject({ operation: "unknown" });
  });

  test("nothing of failed parts", () => {
    const part = { status: 400, headers: { a: "b" }, body: "{}", operation: "readPage", traceId: "other", app: "1" };
    expect(renderPart(incomingOf({}), part)).toEqual({ ...part, operation: "ids", traceId: "trace", app: undefined });
  });
});

test("D-20: an error has the form of its operation, or of the request's own shape, and its own headers besides the general ones", () => {
  const error = (asked: Asked, reached: object) => renderError(incomingOf(asked), reached as unknown as Reached, invalidParameter("a", "is wrong"));
  const isFlat = (asked: Asked, reached: object) => "message" in JSON.parse(error(asked, reached).body);
  const [flat, wrapped] = (["flat", "wrapped"] as const).map((errorForm) => ({ endpoint: { access: { errorForm, operation: "o" } } }));
  const oauth = { query: { oauth_token: "t" } };
  expect([isFlat({}, flat as object), isFlat(oauth, wrapped as object)]).toEqual([true, false]);
  expect([isFlat({}, {}), isFlat(oauth, {})]).toEqual([false, true]);
  const { status, headers } = error({}, { address: { version: 22 } });
  expect({ status, version: headers["pf-api-version"], etag: headers.etag }).toEqual({ status: 400, version: "v22.0", etag: undefined });
});
