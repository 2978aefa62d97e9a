/**
 * Checks every operation, in both response profiles and in all notations: a request sent by itself and the same request in a batch get the same
 * status, body and headers, and leave equal worlds. The two requests go to two worlds that are equal at first.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Endpoint } from "#graph/contract/registry";
import type { GraphRequest } from "#graph/pipeline/request";
import { parseBody } from "#graph/request-text/body";
import { parsePairs } from "#graph/request-text/pairs";
import { exportWorld } from "#graph/worlds/file/import-export";
import { fullWorld, nodeOfType } from "#harness/full-world";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { tries } from "#harness/proof";
import { findHeader } from "#kernel/http-text/headers";
import { buildRegistry } from "#main";

/** The number of requests that are sent to one pair of worlds. */
const REQUESTS = 20;

interface Drawn {
  readonly operation: string;
  readonly method: string;
  readonly version: string;
  readonly id: string | undefined;
  readonly query: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly tokens: { readonly kind: string; readonly by: "part" | "batch"; readonly places: readonly string[] };
  readonly isObject: boolean;
}

const endpoints = new Map(buildRegistry().endpoints.map((endpoint) => [endpoint.access.operation, endpoint]));
const endpointOf = ({ operation }: Pick<Drawn, "operation">) => endpoints.get(operation) as Endpoint;

const known = fc.constantFrom(...Object.values(nodeOfType), "9001", "2002", "1001", "4002");
const value = fc.oneof(
  known,
  fc.constantFrom("", "0", "1", "true", "false", "null", "-1", "5", "a", "vip", "GET", "id", "id,name", "[1,2]", '["9001"]', '{"a":1}', "1e400"),
  fc.constantFrom("9007199254740993", "https://example.com/x.png", "commerce", "{id", "a,b", "\u0000", "ä&b=c%d+e", "1795600000", "completed"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const general = ["fields", "limit", "after", "before", "debug", "metadata", "ids", "migrations_override", "method", "unknown"];
const nameOf = (endpoint: Endpoint) =>
  fc
    .tuple(
      fc.constantFrom(...endpoint.paramNames, ...endpoint.paramNames, ...general),
      fc.constantFrom("", "", "", "", "[]", "[0]", "[a]", "[a][b]", "[a][]", "["),
    )
    .map(([name, suffix]) => name + suffix);

/** Pairs of names and values as a form writes them, both valid and invalid. */
const pairsOf = (endpoint: Endpoint) =>
  fc
    .array(
      fc.tuple(nameOf(endpoint), value, fc.constantFrom("encoded", "encoded", "encoded", "bare", "broken", "twice")).map(([name, text, how]) => {
        const pair = `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`;
        if (how === "bare") return `${name}=${text.replaceAll(/[^\x21-\x7e]|[&#%+]/g, "")}`;
        return how === "twice" ? `${pair}&${pair}` : how === "broken" ? `${pair}%ff` : pair;
      }),
      { maxLength: 4 },
    )
    .map((pairs) => pairs.join("&"));

const jsonOf = (endpoint: Endpoint) =>
  fc
    .array(
      fc.tuple(
        nameOf(endpoint),
        fc.oneof(
          value.map((text) => JSON.stringify(text)),
          value,
          fc.constantFrom("1", "null", '"\\ud800"', '["9001",9001]', "{}", "1e400"),
        ),
      ),
      {
        maxLength: 4,
      },
    )
    .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text === "" ? '""' : text}`).join(",")}}`);

const multipartOf = (endpoint: Endpoint) =>
  fc.array(fc.tuple(nameOf(endpoint), value, fc.boolean()), { maxLength: 3 }).map((parts) =>
    [
      ...parts.map(([name, text, isFile]) => {
        const disposition = `form-data; name="${name}"${isFile ? '; filename="f"' : ""}`;
        return `--b\r\nContent-Disposition: ${disposition}\r\n\r\n${text.toWellFormed()}\r\n`;
      }),
      "--b--",
    ].join(""),
  );

const bodyOf = (endpoint: Endpoint): fc.Arbitrary<{ body: string; type: string | undefined }> => {
  const of = (body: fc.Arbitrary<string>, ...types: (string | undefined)[]) => fc.record({ body, type: fc.constantFrom(...types) });
  const form = "application/x-www-form-urlencoded";
  return fc.oneof(
    of(fc.constant(""), undefined),
    of(pairsOf(endpoint), undefined, form, form, "application/json"),
    of(jsonOf(endpoint), "application/json", "application/json", undefined, form),
    of(multipartOf(endpoint), "multipart/form-data; boundary=b", "multipart/form-data; boundary=c"),
  );
};

const request = fc.constantFrom(...endpoints.keys()).chain((operation): fc.Arbitrary<Drawn> => {
  const endpoint = endpointOf({ operation });
  const own = endpoint.served?.contract.method ?? "GET";
  const { kinds } = endpoint.access.policy;
  return fc
    .record({
      method: fc.constantFrom(own, own, own, own, own === "GET" ? "HEAD" : own, "POST", "DELETE", "PUT"),
      version: fc.constantFrom("/v25.0", "/v25.0", "/v26.0", "/v23.0", "", "/v99.0"),
      id:
        endpoint.nodeType === undefined
          ? fc.constant(undefined)
          : fc.oneof({ weight: 8, arbitrary: fc.constant(nodeOfType[endpoint.nodeType]) }, known),
      query: pairsOf(endpoint),
      body: bodyOf(endpoint),
      headers: fc.subarray(["X-Forwarded-For: 198.51.100.9", "If-None-Match: *", "X-API-Version: 1.0.0", "Accept: text/html"]),
      tokens: fc.record({
        kind: fc.constantFrom(...kinds, ...kinds, "page"),
        by: fc.constantFrom("part", "batch"),
        places: fc.oneof(fc.constant(["access_token", "oauth_token"]), fc.subarray(["access_token", "oauth_token"])),
      }),
      isObject: fc.boolean(),
    })
    .map(({ body: { body, type }, headers, ...drawn }) => ({
      ...{ operation, ...drawn, body },
      headers: type === undefined ? headers : [...headers, `Content-Type: ${type}`],
    })) as fc.Arbitrary<Drawn>;
});

const bearer = ({ kind }: Drawn["tokens"]) => `Authorization: Bearer full-${kind}`;
const tokenPairs = ({ kind, places }: Drawn["tokens"]) => places.map((place) => `${place}=full-${kind}`);
const surfaceOf = (drawn: Drawn) => endpointOf(drawn).access.surfaces[0] ?? "base";

/** The request that the HTTP layer would make of the bytes of an HTTP request. */
function received(drawn: Drawn, method: string, path: string, pairs: readonly string[], lines: readonly string[], body: string): GraphRequest {
  const headers = lines.flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const queryText = pairs.filter((pair) => pair !== "").join("&");
  const query = parsePairs(queryText, "The query");
  const parsed = parseBody(Buffer.from(body), findHeader(headers, "content-type"));
  return {
    ...{ surface: surfaceOf(drawn), method, path, queryText, query: query.parameters, body: parsed.parameters, files: parsed.files },
    ...{ header: (name) => findHeader(headers, name), baseUrl: "http://plaza.test", defect: query.defect ?? parsed.defect, batchDepth: 0 },
  };
}

function pathOf(drawn: Drawn): string {
  const { version, id } = drawn;
  const endpoint = endpointOf(drawn);
  const edge = endpoint.served?.contract.edge ?? undefined;
  const isVersioned = !["app", "microblog"].includes(surfaceOf(drawn));
  return `${isVersioned ? version : ""}${id === undefined ? "" : `/${id}`}${edge === undefined ? "" : `/${edge}`}` || "/";
}

const withoutTrace = (text: string) => text.replaceAll(/"pftrace_id":"[^"]*"/g, "");

async function direct(plaza: TestPlaza, drawn: Drawn) {
  const { method, query, headers, body, tokens } = drawn;
  const sent = received(drawn, method, pathOf(drawn), [query, ...tokenPairs(tokens)], [...headers, bearer(tokens)], body);
  const response = await plaza.send(sent);
  const text = method === "HEAD" || response.body === undefined ? "" : JSON.stringify(response.body);
  return {
    status: response.status,
    body: withoutTrace(text),
    headers: Object.entries(response.headers).filter(([name]) => name !== "x-pf-trace-id"),
  };
}

/** Sends the request as one request of a batch. The tokens are either in the request inside the batch, or in the request that carries the batch. */
async function asPart(plaza: TestPlaza, drawn: Drawn) {
  const { method, query, headers, body, tokens, isObject } = drawn;
  const isOwn = tokens.by === "part" && tokens.places.length > 0;
  const pairs = [query, ...(isOwn ? tokenPairs(tokens) : [])].filter((pair) => pair !== "");
  const relative_url = `${pathOf(drawn)}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`;
  const lines = isOwn ? [...headers, bearer(tokens)] : headers;
  const asObject = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  const batch = [{ method, relative_url, headers: isObject ? asObject : lines, ...(body === "" ? {} : { body }) }];
  const form = `batch=${encodeURIComponent(JSON.stringify(batch))}`;
  const sent = received(drawn, "POST", "/", isOwn ? [] : tokenPairs(tokens), [bearer(isOwn ? { ...tokens, kind: "app" } : tokens)], form);
  const whole = await plaza.send(sent);
  expect({ status: whole.status, body: whole.body }).toEqual({ status: 200, body: [expect.anything()] });
  const [{ code, headers: shown, body: text }] = whole.body as [{ code: number; headers: { name: string; value: string }[]; body: string }];
  return {
    status: code,
    body: withoutTrace(text === "" ? "" : JSON.stringify(JSON.parse(text))),
    headers: shown.map(({ name, value: of }) => [name, of]).filter(([name]) => name !== "x-pf-trace-id"),
  };
}

test("a request has the same response and effect by itself and as a part of a batch", async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("strict", "clients"),
      fc.array(request, { minLength: REQUESTS, maxLength: REQUESTS }),
      async (profile, drawn) => {
        const open = () => openPlaza({ world: fullWorld, profile, seed: 7 });
        const [alone, batched] = [await open(), await open()];
        for (const one of drawn) {
          const response = await direct(alone, one);
          statuses.add(response.status);
          expect(await asPart(batched, one)).toEqual(response);
        }
        const [left, right] = [
          await exportWorld(alone.world, alone.registry, { secrets: true }),
          await exportWorld(batched.world, batched.registry, { secrets: true }),
        ];
        expect(right).toEqual(left);
        await alone.close();
        await batched.close();
      },
    ),
    { numRuns: tries(15, 250) },
  );
  // Some requests succeed, because the test must not compare refusals only.
  expect([...statuses]).toContain(200);
}, 3_000_000);
