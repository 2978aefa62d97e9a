/** D-04, D-20, D-21: finds the endpoint of a request by its form, or the error if there is none. */
import { describe, expect, test } from "bun:test";
import type { Address } from "#graph/pipeline/address";
import type { GraphRequest, SurfaceName } from "#graph/pipeline/request";
import { checkAddress, findEndpoint, formByShape, idOf, isShownOn, notFound, notFoundNode, readAddress, readMethod } from "#graph/pipeline/route";
import type { Authenticated, Incoming, Reached } from "#graph/pipeline/stages";
import { standardCalendar } from "#graph/versions/calendar";
import { GraphError } from "#kernel/errors";
import { buildRegistry } from "#main";

const registry = buildRegistry();

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly surface?: SurfaceName;
  readonly query?: object;
  readonly body?: object;
  readonly authorization?: string;
}

const requestOf = ({ method = "GET", path = "/", surface = "base", query = {}, body = {}, authorization }: Asked): GraphRequest =>
  ({
    method,
    path,
    surface,
    query,
    body,
    header: (name: string) => (name === "authorization" ? authorization : undefined),
  }) as unknown as GraphRequest;
/** 18 November 2026. */
const NOW_MS = 1_795_000_000_000;
const incomingOf = (asked: Asked, profile = "strict"): Incoming =>
  ({ request: requestOf(asked), registry, world: { profile, calendar: standardCalendar, clock: { nowMs: () => NOW_MS } } }) as unknown as Incoming;
const addressOf = (parts: Partial<Record<keyof Address, unknown>>) =>
  ({ version: undefined, id: undefined, edge: undefined, prefix: undefined, ...parts }) as unknown as Address;
const held = [{ place: "bearer", value: "t", token: { type: "page", page: "2001", app: "1001" } }];
const authenticated = (address: Address, method: string, credentials: object[]): Authenticated =>
  ({ address, method, credentials, dead: [], app: undefined }) as unknown as Authenticated;
const codeOf = (act: () => unknown): unknown => {
  try {
    return { was: act() };
  } catch (error) {
    return (error as { errorName?: unknown }).errorName ?? error;
  }
};

describe("D-04: the method", () => {
  test("is the request's own, and GET for HEAD", () => {
    expect(["GET", "HEAD", "POST", "DELETE", "PUT"].map((method) => readMethod(requestOf({ method })))).toEqual([
      ...["GET", "GET", "POST", "DELETE", "PUT"],
    ]);
  });

  test("of a POST may be changed by a parameter, in any case, of the query before the body; of others never", () => {
    const posted = (query: object, body: object = {}) => codeOf(() => readMethod(requestOf({ method: "POST", query, body })));
    expect([posted({ method: "get" }), posted({}, { method: "Delete" }), posted({ method: "POST" }, { method: "get" })]).toEqual([
      ...[{ was: "GET" }, { was: "DELETE" }, { was: "POST" }],
    ]);
    for (const method of ["put", "", "head", 7, ["get"], null]) expect(posted({}, { method })).toBe("invalidParameter");
    for (const method of ["GET", "DELETE"]) expect(readMethod(requestOf({ method, query: { method: "post" } }))).toBe(method);
  });
});

describe("an address", () => {
  const addressAt = (path: string, surface: SurfaceName = "base") => readAddress(incomingOf({ path, surface }));
  const read = (path: string, surface: SurfaceName = "base") => codeOf(() => checkAddress(incomingOf({ path, surface }), addressAt(path, surface)));

  test("D-03: names a version of some calendar, only if the surface has none of its own", () => {
    expect(read("/v26.0/2001")).toEqual({ was: addressOf({ version: 26, id: "2001" }) });
    expect([read("/v19.0/2001"), read("/v27.0")]).toEqual(["unknownPath", "unknownPath"]);
    expect(read("/2001", "microblog")).toEqual({ was: addressOf({ id: "2001" }) });
    expect(read("/v26.0/2001", "microblog")).toBe("unknownPath");
  });

  test("D-03: has a literal before its id only if the edge may follow it", () => {
    expect(read("/pages/2001/owned_product_catalogs")).toMatchObject({ was: { prefix: "pages", edge: "owned_product_catalogs" } });
    expect(read("/pages/2001/custom_labels")).toBe("unknownPath");
  });

  test("D-20, D-83: keeps its version and its edge if it is unknown", () => {
    expect(addressAt("/v24.0/abc/custom_labels")).toMatchObject({ version: 24, edge: "custom_labels", unknown: "/v24.0/abc/custom_labels" });
    expect(addressAt("/v24.0/1/2/3/custom_labels")).toMatchObject({ version: 24, edge: "custom_labels", unknown: "/v24.0/1/2/3/custom_labels" });
    expect(addressAt("/v24.0/pages/2001/custom_labels")).toMatchObject({
      version: 24,
      edge: "custom_labels",
      unknown: "/v24.0/pages/2001/custom_labels",
    });
    expect(addressAt("/v99.0/2001/custom_labels")).toEqual(addressOf({ id: "2001", edge: "custom_labels", unknown: "/v99.0" }) as Address);
    expect(addressAt("/v99.0/abc")).toEqual(addressOf({ unknown: "/v99.0/abc" }) as Address);
  });

  test("has the id that it names, or the token's own", () => {
    const id = (address: object, credentials: object[]) => codeOf(() => idOf(incomingOf({}), authenticated(addressOf(address), "GET", credentials)));
    expect([id({ id: "7" }, held), id({ id: "me" }, held), id({}, held)]).toEqual([{ was: "7" }, { was: "2001" }, { was: undefined }]);
    expect([id({ id: "7" }, []), id({ id: "me" }, []), id({ edge: "debug_token" }, [])]).toEqual(["tokenMissing", "tokenMissing", "unknownPath"]);
    expect([id({}, []), id({ edge: "nothing" }, [])]).toEqual(["unknownPath", "unknownPath"]);
  });

  test("D-13 [clients]: needs no token if its operation may do without, but `me` does", () => {
    const id = (address: object, method: string, profile: string) =>
      codeOf(() => idOf(incomingOf({ method }, profile), authenticated(addressOf(address), method, [])));
    expect(id({ id: "1001", edge: "activities" }, "POST", "clients")).toEqual({ was: "1001" });
    expect(id({ id: "1001", edge: "activities" }, "POST", "strict")).toBe("tokenMissing");
    expect(id({ id: "1001", edge: "subscriptions" }, "POST", "clients")).toBe("tokenMissing");
    expect(id({ id: "me", edge: "activities" }, "POST", "clients")).toBe("tokenMissing");
  });
});

describe("an endpoint", () => {
  const find = (asked: Asked, address: object, node: object | undefined, credentials = held, profile = "strict") =>
    codeOf(() => {
      const given = addressOf(address);
      const id = given.id as never;
      const found = findEndpoint(incomingOf(asked, profile), authenticated(given, asked.method ?? "GET", credentials), id, node as never);
      if (found instanceof GraphError) throw found;
      return found.endpoint.access.operation;
    });
  const page = { id: "2001", type: "page", owner: "2001" };

  test("belongs to the node's type, to the method and the edge, or to a literal", () => {
    expect(find({}, { id: "2001", edge: "custom_labels" }, page)).toEqual({ was: "listLabels" });
    expect(find({ method: "POST" }, { id: "2001", edge: "custom_labels" }, page)).toEqual({ was: "createLabel" });
    expect(find({ surface: "microblog" }, { edge: "debug_token" }, undefined)).toEqual({ was: "inspectToken" });
  });

  test("does not exist on another surface, for another method or type, or without the node", () => {
    expect(find({ surface: "ads" }, { id: "2001", edge: "custom_labels" }, page)).toBe("unsupportedRequest");
    expect(find({ method: "PUT" }, { id: "2001", edge: "custom_labels" }, page)).toBe("unsupportedRequest");
    expect(find({}, { id: "2001", edge: "custom_labels" }, { ...page, type: "label" })).toBe("unsupportedRequest");
    expect(find({}, { id: "2001", edge: "custom_labels" }, undefined)).toBe("unsupportedRequest");
    // If no node has the id, the edge is not read as a literal path.
    expect(find({ surface: "microblog" }, { id: "7", edge: "debug_token" }, undefined)).toBe("unsupportedRequest");
    expect(find({ surface: "microblog", method: "POST" }, { edge: "debug_token" }, undefined)).toBe("unsupportedRequest");
    expect(find({}, { id: "2001", edge: "nothing" }, page, [])).toBe("tokenMissing");
    for (const credentials of [held, []]) expect(find({}, { edge: "debug_token" }, undefined, credentials)).toBe("unknownPath");
    expect(find({}, { edge: "custom_labels" }, undefined)).toBe("unknownPath");
    expect(find({}, {}, undefined)).toBe("unknownPath");
  });

  test("D-55: is on more surfaces in the `clients` profile if it says so", () => {
    const on = (surfaces: string[], clientsSurfaces: string[] | undefined, profile: string) =>
      isShownOn({ access: { surfaces, clientsSurfaces } } as never, incomingOf({}, profile));
    expect([on(["base"], undefined, "strict"), on(["ads"], ["base"], "strict"), on(["ads"], ["base"], "clients")]).toEqual([true, false, true]);
    expect([on(["ads"], ["app"], "clients"), on(["ads"], undefined, "clients"), on(["base"], ["ads"], "clients")]).toEqual([false, false, true]);
  });
});

describe("D-20: the form of an error that no operation decides", () => {
  const form = (address: object | undefined, query: object, credentials?: object[]) =>
    formByShape(
      requestOf({ query }),
      { address: address === undefined ? undefined : addressOf(address), credentials } as unknown as Reached,
      registry,
    );
  const oauth = { oauth_token: "t" };

  test("is flat on edges of page messaging, and wrapped on others", () => {
    for (const query of [{}, oauth]) {
      expect(form({ id: "7", edge: "custom_labels" }, query)).toBe("flat");
      expect(form({ id: "7", edge: "subscriptions" }, query)).toBe("wrapped");
      expect(form({ edge: "debug_token" }, query)).toBe("wrapped");
      // The server chooses the form of the error as for a caller with a valid token.
      expect([form({ id: "7", edge: "subscriptions" }, query, held), form({ edge: "debug_token" }, query, held)]).toEqual(["wrapped", "wrapped"]);
    }
  });

  test("follows `oauth_token` for a bare id, for an unknown address, and with a live token for an edge of no node", () => {
    expect([form(undefined, {}), form({ id: "7" }, {}), form({ id: "7", edge: "nothing" }, {}, held)]).toEqual(["wrapped", "wrapped", "wrapped"]);
    expect([form(undefined, oauth), form({ id: "7" }, oauth), form({ id: "7", edge: "nothing" }, oauth, held)]).toEqual(["flat", "flat", "flat"]);
    const nowhere = { id: "7", edge: "nothing", unknown: "/v99.0" };
    expect([form(nowhere, oauth), form({ unknown: "/x" }, oauth), form(nowhere, {})]).toEqual(["flat", "flat", "wrapped"]);
    expect(form({ ...nowhere, edge: "label" }, {})).toBe("flat");
    expect([form({ id: "7", edge: "nothing" }, oauth, []), form({ id: "7", edge: "nothing" }, oauth), form({}, oauth, [])]).toEqual(
      Array(3).fill("wrapped"),
    );
  });
});

describe("D-21: a missing node", () => {
  const refusal = (asked: Asked, address: object, method = "GET") => {
    const { errorName, message } = notFound(incomingOf(asked), { address: addressOf(address), method });
    return { errorName, message };
  };
  const intents: Asked = { authorization: "Bearer t" };

  test("has the migration intents' own error for a read of an id with a bearer token, in one of their versions, on the base surface", () => {
    expect(refusal(intents, { id: "7", version: 24 })).toMatchObject({ errorName: "unknownObject404", message: expect.stringContaining("7") });
    const others: [Asked, object, string?][] = [
      [intents, { id: "7", version: 26 }],
      [intents, { id: "7" }],
      [intents, { id: "7", version: 24, edge: "x" }],
      [intents, { id: "7", version: 24 }, "DELETE"],
      [
        { ...intents, surface: "ads" },
        { id: "7", version: 24 },
      ],
      [
        { ...intents, query: { oauth_token: "t" } },
        { id: "7", version: 24 },
      ],
      [{}, { id: "7", version: 24 }],
      [{ authorization: "" }, { id: "7", version: 24 }],
    ];
    for (const [asked, address, method] of others) expect(refusal(asked, address, method)).toMatchObject({ errorName: "unsupportedRequest" });
  });

  test("is named by its id, or else by its literal", () => {
    expect(refusal({}, { id: "7", edge: "x" }).message).toContain("'7'");
    expect(refusal({}, { edge: "debug_token" }, "POST").message).toContain("'debug_token'");
    expect(refusal({}, {}, "POST").message).toContain("''");
  });

  test("has the same error if a handler finds it gone", () => {
    const gone = (asked: Asked) => {
      const { request: graphRequest, world } = incomingOf(asked);
      return notFoundNode({ graphRequest, world, node: { id: "7", type: "page", owner: "7" } } as never).errorName;
    };
    expect([gone({ ...intents, path: "/v24.0/7" }), gone({ ...intents, path: "/v24.0/7/x" }), gone({ ...intents, path: "/7/24" })]).toEqual([
      ...["unknownObject404", "unsupportedRequest", "unsupportedRequest"],
    ]);
    expect([gone({ ...intents, path: "/7" }), gone({ ...intents, path: "/" }), gone({ path: "/v24.0/7" })]).toEqual(
      Array(3).fill("unsupportedRequest"),
    );
    expect(gone({ ...intents, path: "/v24.0/7", method: "HEAD" })).toBe("unknownObject404");
  });
});
