/**
 * Records the names and values of all headers of a server's responses, except the responses of the graph's operations, and of the requests that the
 * server sends. The test fails if a change of the program loses, adds or changes a header.
 */
import { describe, expect, spyOn, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forTests } from "#config/for-tests";
import { readConfig } from "#config/read-config";
import { consoleFiles, PackedPage, referenceFiles } from "#control/console";
import { controlRoutes } from "#control/routes";
import { afterThisTest } from "#harness/cleanup";
import { openControl } from "#harness/control";
import { csv, feedWorld, row } from "#harness/feeds";
import { exchange } from "#harness/http/raw-http";
import { serveBytes } from "#harness/outbound";
import { temporaryFolder, threeTokens, worldFile } from "#harness/server";
import { ownRoutes } from "#http/routes/own-routes";
import { Log } from "#telemetry/log";
import { settings } from "./features.ts";
import { startPlaza } from "./main.ts";

async function open(given: object) {
  const options = { ...forTests, log_level: "silent", ...given };
  const plaza = await startPlaza(readConfig(options, {}, undefined, settings), new Log({ level: "silent", isPretty: false }));
  afterThisTest(() => plaza.stop());
  return plaza.ready;
}

/** Patterns for the parts of header values that differ in each response, and the text that replaces each such part. */
const SHAPES: readonly (readonly [shape: RegExp, shown: string])[] = [
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/, "{date}"],
  [/(?<=^x-pf-trace-id: )A[\w-]{11}$/, "{trace id}"],
  [/(?<=sha1=)[0-9a-f]{40}$/, "{40 hexadecimal digits}"],
  [/(?<=sha256=)[0-9a-f]{64}$/, "{64 hexadecimal digits}"],
  [/(?<=v1,)[\w+/]{43}=$/, "{44 of base64}"],
  [/(?<=msg_)\d+$/, "{id}"],
  [/(?<=webhook-timestamp: )\d{10}$/, "{unix seconds}"],
  [/(?<=hub\.challenge=)\d{10,15}/, "{digits}"],
  [/(?<='nonce-)[\w-]{16}(?=')/g, "{16 of base64url}"],
  [/(?<=127\.0\.0\.1:)\d+/g, "{port}"],
  [/(?<=^content-length: )\d+$/i, "{bytes}"],
];

/** Returns the first line and the header lines of a request or response, with the headers in the order of their names. */
function linesOf(text: string): string[] {
  const [first = "", ...headers] = text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n");
  return [first, ...headers.sort()].map((line) => SHAPES.reduce((so, [shape, shown]) => so.replace(shape, shown), line));
}

describe("responses of a server", () => {
  const CORS = [
    "access-control-allow-origin: *",
    "access-control-expose-headers: x-pf-trace-id, pf-api-version, x-app-usage, x-business-use-case-usage, x-ad-api-version-warning, deprecation, link, etag, retry-after, www-authenticate",
  ];
  const DATE = "date: {date}";
  const CHUNKED = "transfer-encoding: chunked";
  const JSON_TYPE = "content-type: application/json; charset=UTF-8";
  const TRACE = "x-pf-trace-id: {trace id}";
  const USAGE = ['x-app-usage: {"call_count":0,"total_cputime":0,"total_time":0}', "x-business-use-case-usage: {}"];
  const SCRIPT = ["cache-control: public, max-age=3600", "content-type: text/javascript; charset=utf-8"];
  /** Records the headers of the responses with the player's pages and media. */
  const UNKEPT = ["cache-control: no-store", "referrer-policy: no-referrer", "x-content-type-options: nosniff"];
  const BARE_PAGE = "content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'";
  const HOME_POLICY = "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
  /** Records the headers of the responses with the control API's pages and the files of these pages. */
  const PAGE = [
    "cross-origin-opener-policy: same-origin",
    "cross-origin-resource-policy: same-origin",
    "referrer-policy: no-referrer",
    "vary: Accept",
    "x-content-type-options: nosniff",
  ];
  const LENGTH = "content-length: {bytes}";
  const HTML = { accept: "text/html" };
  const REFUSED = [JSON_TYPE, "pf-api-version: v26.0", TRACE, ...USAGE];

  type Row = readonly [request: string, status: string, lines: readonly string[], headers?: Readonly<Record<string, string>>];

  /** The recorded responses, by the address under which their route is declared. `{ticket}` is the ticket of the player's page. */
  const GRAPH: Readonly<Record<string, readonly Row[]>> = {
    "/": [
      [
        "GET /",
        "200 OK",
        [...CORS, DATE, CHUNKED, HOME_POLICY, "content-type: text/html; charset=UTF-8", "vary: Accept", "x-content-type-options: nosniff"],
        HTML,
      ],
    ],
    "/openapi.json": [
      ["GET /openapi.json?type=label", "200 OK", [...CORS, DATE, CHUNKED, JSON_TYPE, TRACE]],
      ["HEAD /openapi.json?type=label", "200 OK", [...CORS, DATE, JSON_TYPE, TRACE]],
      ["GET /openapi.json?type=x", "400 Bad Request", [...CORS, DATE, LENGTH, ...REFUSED]],
    ],
    "/asyncapi.json": [["GET /asyncapi.json", "200 OK", [...CORS, DATE, CHUNKED, JSON_TYPE, TRACE]]],
    "/player/": [
      ["GET /player/hls.js", "200 OK", [...CORS, DATE, CHUNKED, ...SCRIPT]],
      [
        "GET /player/1",
        "200 OK",
        [
          ...[...CORS, DATE, CHUNKED, ...UNKEPT, "content-type: text/html; charset=utf-8"],
          "content-security-policy: default-src 'none'; connect-src 'self'; media-src 'self' blob:; script-src 'nonce-{16 of base64url}'; style-src 'nonce-{16 of base64url}'; base-uri 'none'; form-action 'none'",
        ],
      ],
      ["GET /player/1/{ticket}/live.m3u8", "200 OK", [...CORS, DATE, CHUNKED, ...UNKEPT, "content-type: application/vnd.apple.mpegurl"]],
      ["GET /player/1/{ticket}/1/0.ts", "200 OK", [...CORS, DATE, LENGTH, ...UNKEPT, "content-type: video/mp2t"]],
      ["GET /player/1/{ticket}/1/1.ts", "400 Bad Request", [...CORS, DATE, CHUNKED, ...REFUSED, "cache-control: no-store"]],
      ["GET /player/4?country=FR", "403 Forbidden", [...CORS, DATE, CHUNKED, ...UNKEPT, "content-type: text/html; charset=utf-8", BARE_PAGE]],
    ],
    "every address": [
      [
        "OPTIONS /v26.0/2001",
        "204 No Content",
        [
          ...[...CORS, DATE, "pf-api-version: v26.0", TRACE, ...USAGE],
          "access-control-allow-headers: Authorization, Content-Type, X-API-Version, If-None-Match, X-Forwarded-For",
          "access-control-allow-methods: GET, POST, DELETE, HEAD, OPTIONS",
          ...["access-control-max-age: 86400", "allow: GET, HEAD, POST, DELETE, OPTIONS"],
        ],
        { origin: "http://localhost:1", "access-control-request-method": "POST" },
      ],
    ],
  };

  const JSON_ALONE = [DATE, LENGTH, "content-type: application/json"];
  const FOREVER = "cache-control: public, max-age=31536000, immutable";
  const REFERENCE = [
    ...[DATE, LENGTH, ...PAGE, "cache-control: no-store", "content-type: text/html"],
    "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{16 of base64url}'; img-src 'self' data:; style-src-attr 'unsafe-inline'; connect-src 'self' http://127.0.0.1:{port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "permissions-policy: camera=(), microphone=(), geolocation=()",
  ];
  const CONTROL: Readonly<Record<string, readonly Row[]>> = {
    "/llms.txt": [["GET /llms.txt", "200 OK", [DATE, LENGTH, "content-type: text/markdown; charset=utf-8"]]],
    "/:folder{llms|guides|interface|recipes|operating|reference|decisions}/:page{.+\\.md}": [
      ["GET /llms/errors.md", "200 OK", [DATE, LENGTH, "content-type: text/markdown; charset=utf-8"]],
    ],
    "/assets/*": [
      ["GET /assets/a.css", "200 OK", [DATE, LENGTH, ...PAGE, FOREVER, "content-type: text/css"]],
      [
        "GET /assets/a.css",
        "200 OK",
        [DATE, LENGTH, ...PAGE, FOREVER, "content-encoding: gzip", "content-type: text/css"],
        { "accept-encoding": "gzip" },
      ],
    ],
    "/reference/*": [["GET /reference/a.css", "200 OK", [DATE, LENGTH, ...PAGE, FOREVER, "content-type: text/css"]]],
    "/docs": [["GET /docs", "200 OK", REFERENCE]],
    "/docs/": [["GET /docs/", "200 OK", REFERENCE]],
    "/healthz": [["GET /healthz", "200 OK", JSON_ALONE]],
    "/readyz": [["GET /readyz", "200 OK", JSON_ALONE]],
    "/v1/openapi.json": [["GET /v1/openapi.json", "200 OK", JSON_ALONE]],
    "/metrics": [["GET /metrics", "200 OK", [DATE, LENGTH, "content-type: text/plain; version=0.0.4; charset=utf-8"]]],
    "/v1/*": [
      ["GET /v1/worlds", "401 Unauthorized", [...JSON_ALONE, "www-authenticate: Bearer"]],
      ["DELETE /healthz", "404 Not Found", JSON_ALONE],
    ],
    "/mcp": [["GET /mcp", "401 Unauthorized", [...JSON_ALONE, "www-authenticate: Bearer"]]],
    "/*": [
      [
        "GET /worlds/default",
        "200 OK",
        [
          ...[DATE, LENGTH, ...PAGE, "cache-control: no-store", "content-type: text/html"],
          "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{16 of base64url}'; img-src 'self' data:; font-src 'self'; connect-src 'self' http://127.0.0.1:{port}; frame-src http://127.0.0.1:{port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          "permissions-policy: camera=(), microphone=(), geolocation=()",
        ],
        HTML,
      ],
      ["GET /nothing", "404 Not Found", JSON_ALONE],
    ],
  };

  /** Serves invented files in place of the files that the build of the console makes. */
  function pack(): void {
    const folder = join(import.meta.dir, "../console/dist");
    const name = `pack-of-headers-${process.pid}`;
    const body = Buffer.from(Bun.gzipSync(Buffer.from("text"))).toString("base64");
    const names = { "index.html": "text/html", "assets/a.css": "text/css", "reference/a.css": "text/css" };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.pack`), JSON.stringify(Object.fromEntries(Object.entries(names).map(([at, type]) => [at, { type, body }]))));
    afterThisTest(() => rmSync(join(folder, `${name}.pack`)));
    const page = new PackedPage(name);
    for (const files of [consoleFiles, referenceFiles]) {
      const pages = spyOn(files, "page").mockImplementation((nonce) => page.page(nonce));
      const assets = spyOn(files, "file").mockImplementation((c) => page.file(c));
      afterThisTest(() => [pages.mockRestore(), assets.mockRestore()]);
    }
  }

  test("have these headers at each declared address", async () => {
    const { app, plaza } = await openControl();
    const ofApi = new Set(controlRoutes(plaza.registry).map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ":$1")));
    expect(Object.keys(CONTROL)).toEqual([...new Set(app.routes.map(({ path }) => path))].filter((path) => !ofApi.has(path)));
    const deps = { registry: plaza.registry, monotonicMs: () => 0, traceId: () => "t", onUnexpected: () => {} };
    const own = ownRoutes(deps, [], { version: () => "", isCountryChosen: true, countryHeader: undefined });
    expect(Object.keys(GRAPH)).toEqual([...own.keys(), "every address"]);

    const recordings = temporaryFolder();
    const folder = join(recordings, "default/1/1");
    mkdirSync(folder, { recursive: true });
    const files = { index: "2000 5 1000\nend\n", "0.ts": "first" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const onPage = (id: string, more: object) => ({ id, page: "2001", status: "VOD", embeddable: true, ...more });
    const live_videos = [onPage("1", {}), onPage("4", { targeting: { geo_locations: { countries: ["DE"] } } })];
    const { base_url, control_url } = await open({ recordings, data: temporaryFolder(), world: worldFile({ ...feedWorld, live_videos }) });
    pack();
    const player = await (await fetch(`${base_url}/player/1`)).text();
    const ticket = /data-source="1\/([^/"]+)/.exec(player)?.[1] ?? "";
    for (const [url, rows] of [
      [base_url, GRAPH],
      [control_url, CONTROL],
    ] as const) {
      const port = Number(new URL(url).port);
      for (const [request, status, lines, headers = {}] of Object.values(rows).flat()) {
        const sent = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
        const { text } = await exchange(port, [`${request.replace("{ticket}", ticket)} HTTP/1.1\r\n${sent.join("")}\r\n`], { isHead: true });
        // The test compares names of headers in lower case, because the runtime's HTTP server chooses upper and lower case itself.
        const received = linesOf(text.replaceAll(/^[\w-]+(?=: )/gm, (name) => name.toLowerCase()));
        expect({ request, lines: received }).toEqual({ request, lines: [`HTTP/1.1 ${status}`, ...[...lines].sort()] });
      }
    }
  });
});

describe("requests of a server to others", () => {
  const USUAL = ["Host: 127.0.0.1:{port}", "User-Agent: plaza"];
  const FEED = ["Accept: */*", "Accept-Encoding: identity", ...USUAL];
  const VERIFYING = ["Accept: */*", ...USUAL];
  const asked = (path: string) => `GET ${path}?hub.mode=subscribe&hub.challenge={digits}&hub.verify_token=v HTTP/1.1`;

  /** The requests that the server sends, by the source file that sends each request. */
  const SENT: Readonly<Record<string, readonly (readonly string[])[]>> = {
    "features/login/login.callbacks.ts": [
      ["POST /removed HTTP/1.1", "Content-Length: {bytes}", "Content-Type: application/x-www-form-urlencoded", ...USUAL],
    ],
    "features/product-feeds/ingestion/files.ts": [
      ["GET /books.csv HTTP/1.1", ...FEED],
      ["GET /books.csv.gz?a=b HTTP/1.1", ...FEED],
    ],
    "webhooks/callbacks/handshake.ts": [
      [asked("/hook"), ...VERIFYING],
      [asked("/override"), ...VERIFYING],
    ],
    "webhooks/delivery/attempt.ts": [
      [
        ...["POST /hook HTTP/1.1", "Content-Length: {bytes}", "Content-Type: application/json", ...USUAL],
        "X-Hub-Signature-256: sha256={64 hexadecimal digits}",
        // D-307: Plaza sends the header X-Hub-Signature only in the profile `clients`, which has the login.
        "X-Hub-Signature: sha1={40 hexadecimal digits}",
        ...["webhook-id: msg_{id}", "webhook-signature: v1,{44 of base64}", "webhook-timestamp: {unix seconds}"],
      ],
    ],
  };

  test("have these headers, in each file that sends", async () => {
    const senders = [...new Bun.Glob("**/*.ts").scanSync(import.meta.dir)].filter((path) => !path.endsWith(".test.ts"));
    const texts = await Promise.all(senders.map(async (path) => ({ path, text: await Bun.file(join(import.meta.dir, path)).text() })));
    expect(Object.keys(SENT)).toEqual(
      texts
        .filter(({ text }) => /\.request\(\{/.test(text))
        .map(({ path }) => path)
        .sort(),
    );

    const heads: string[][] = [];
    const file = csv(row("b1"));
    const port = await serveBytes((request) => {
      heads.push(linesOf(request));
      const challenge = /hub\.challenge=(\d+)/.exec(request)?.[1];
      const body = request.includes(".gz") ? Buffer.from(Bun.gzipSync(file)) : Buffer.from(challenge ?? file);
      return [`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`, body];
    });
    const scopes = ["chatapp_business_management"];
    const url = (path: string) => `http://127.0.0.1:${port}${path}`;
    const { base_url, control_url, control_key } = await open({
      profile: "clients",
      world: worldFile({
        ...feedWorld,
        apps: [{ id: "1001", name: "Shop", secret: "s3cret", roles: [{ user: "3001", role: "administrator" }], deauthorize_url: url("/removed") }],
        chatapp_accounts: [{ id: "4001", name: "Chat", subscribed_apps: [{ app: "1001" }] }],
        tokens: [...feedWorld.tokens.filter(({ app }) => app === "1001"), { token: "admin", type: "system_user", app: "1001", user: "3001", scopes }],
      }),
    });
    const ask = async (url: string, token: string, body: Record<string, string>) => {
      const { query, headers } = threeTokens(token);
      const type = { "content-type": "application/json" };
      const response = await fetch(`${url}?${query}`, { method: "POST", headers: { ...headers, ...type }, body: JSON.stringify(body) });
      expect({ url, status: response.status, body: response.ok || (await response.text()) }).toEqual({ url, status: response.status, body: true });
    };
    const ofApp = { object: "page", callback_url: url("/hook"), verify_token: "v", fields: "live_videos" };
    await ask(`${base_url}/v26.0/1001/subscriptions`, "app", ofApp);
    await ask(`${base_url}/v26.0/2001/subscribed_apps`, "page", { subscribed_fields: "live_videos" });
    await ask(`${base_url}/v26.0/4001/subscribed_apps`, "admin", { override_callback_uri: url("/override"), verify_token: "v" });
    const world = `${control_url}/v1/worlds/default`;
    for (const path of ["/books.csv", "/books.csv.gz?a=b"]) await ask(`${world}/feeds/8101/uploads`, control_key as string, { url: url(path) });
    await ask(`${world}/deliveries/trigger`, control_key as string, { object: "page", field: "live_videos", entity: "2001" });
    const removed = await fetch(`${base_url}/v26.0/me/permissions`, { method: "DELETE", headers: { authorization: "Bearer reader" } });
    expect(await removed.json()).toEqual({ success: true });
    const all = Object.values(SENT).flat();
    while (heads.length < all.length) await Bun.sleep(5);
    const byFirstLine = (one: readonly string[], other: readonly string[]) => (`${one[0]}` < `${other[0]}` ? -1 : 1);
    // order: some requests are sent side by side.
    expect(heads.sort(byFirstLine)).toEqual(all.map(([first = "", ...headers]) => [first, ...headers.sort()]).sort(byFirstLine));
  });
});
