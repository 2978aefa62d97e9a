/**
 * Checks that no secret of a world is in stored or shown data afterwards: in the request log, the program's log, deliveries, app events, metrics,
 * errors, traces and the database. The world and the requests are random. The requests have secrets where secrets are expected, in any encoding.
 */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { Client } from "pg";
import { type DatabaseKind, databaseKinds } from "#harness/databases";
import { startCollector } from "#harness/http/collector";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { startReceiver } from "#harness/receiver";
import { READ_SCOPES as scopes } from "#harness/scopes";
import { worldFile } from "#harness/server";
import { endAll, newFolder, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

/** The secrets are so long that they are found nowhere by chance, and have no character that an encoding changes. */
const secret = fc.stringMatching(/^[A-Za-z0-9]{24}$/);
const secretsOfWorld = fc.record({
  ...{ control_key: secret, app_secret: secret, other_app_secret: secret, verify_token: secret, stream_key: secret },
  ...{ app: secret, user: secret, page: secret, system_user: secret, revoked: secret },
});
type Secrets = typeof secretsOfWorld extends fc.Arbitrary<infer Value> ? Value : never;

const worldOf = (secrets: Secrets, callback: string) => ({
  apps: [
    { id: "1001", name: "Shop", secret: secrets.app_secret, callback: { url: callback, verify_token: secrets.verify_token, verified: true } },
    { id: "1002", name: "Other", secret: secrets.other_app_secret },
  ],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Cafe", people: [{ psid: "9001" }], roles: [{ user: "3001", tasks: ["MESSAGING", "CREATE_CONTENT", "MANAGE"] }] }],
  labels: ["5001", "5002", "5003"].map((id) => ({ id, page: "2001", name: `label ${id}` })),
  live_videos: [{ id: "5301", page: "2001", status: "UNPUBLISHED", stream_key: secrets.stream_key }],
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [{ id: "4101", account: "4001", display_phone_number: "+49 30 1" }],
  tokens: [
    { token: secrets.app, type: "app", app: "1001", scopes },
    { token: secrets.user, type: "user", app: "1001", user: "3001", scopes },
    { token: secrets.page, type: "page", app: "1001", page: "2001", user: "3001", scopes },
    { token: secrets.system_user, type: "system_user", app: "1001", user: "3001", scopes },
    { token: secrets.revoked, type: "user", app: "1001", user: "3001", scopes, expires_at: 1_700_000_000 },
  ],
});

const target = fc.constantFrom(
  ...[
    "GET /v26.0/2001/custom_labels",
    "POST /v26.0/2001/custom_labels",
    "GET /v26.0/5001",
    "POST /v26.0/2001/personas",
    "POST /v26.0/2001/live_videos",
  ],
  ...["POST /v26.0/5301", "POST /v26.0/1001/subscriptions", "POST /v26.0/1001/activities", "GET /microblog/v1.0/debug_token", "POST /v26.0/4101"],
  ...[
    "POST /v26.0/4001/subscribed_apps",
    "POST /",
    "POST /v26.0/",
    "GET /nothing",
    "PUT /v26.0/5001",
    "GET /v26.0/",
    "GET /app/1001/required_actions",
  ],
);
const secretName = fc.constantFrom(
  ...["access_token", "oauth_token", "input_token", "appsecret_proof", "verify_token", "client_secret", "stream_key", "hub.verify_token"],
);
const shape = fc.constantFrom("$", "$", "$", "$[]", "x[$]", "x[$][0]", "$[x]");
const pattern = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
const carried = fc.record({ name: secretName, shape, secret: fc.nat(), encoded: pattern });
const plan = fc.record({
  target,
  /** Whether the request carries a token that is valid in the world, so that the request succeeds. */
  isAllowed: fc.boolean(),
  query: fc.array(carried, { maxLength: 2 }),
  body: fc.array(carried, { maxLength: 2 }),
  kind: fc.constantFrom("form", "json", "multipart", "batch form", "batch json", "broken json", "json as form", "form as json"),
  bearer: fc.option(fc.nat(), { nil: undefined }),
  limit: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;
type Carried = Plan["query"][number];

const percentEncoded = (text: string, encoded: readonly boolean[]): string =>
  [...text].map((c, i) => (encoded[i % encoded.length] || /[^\w.[\]-]/.test(c) ? `%${c.charCodeAt(0).toString(16)}` : c)).join("");
const jsonEscaped = (text: string, escaped: readonly boolean[]): string =>
  `"${[...text].map((c, i) => (escaped[i % escaped.length] ? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}` : c)).join("")}"`;

/** The parameters that the request needs. These parameters are the same in every type of request body. */
const useful = (callback: string): Readonly<Record<string, string>> => ({
  ...{ page_label_name: "vip", name: "Bo", profile_picture_url: "https://example.com/bo.png", regenerate_stream_key: "false", title: "Opening" },
  ...{ object: "page", fields: "live_videos", callback_url: callback, override_callback_uri: callback },
  ...{ event: "CUSTOM_APP_EVENTS", advertiser_id: "device-1", custom_events: '[{"_eventName":"Contact","event_id":"1"}]' },
});

function requestOf({ target: line, query, body, kind, limit, ...rest }: Plan, secrets: Secrets, callback: string) {
  const [method = "", path = ""] = line.split(" ");
  const values = Object.values(secrets);
  const pair = ({ name, shape: form, secret: at, encoded }: Carried): string =>
    `${percentEncoded(form.replace("$", name), encoded)}=${percentEncoded(values[at % values.length] as string, encoded)}`;
  const member = ({ name, secret: at, encoded }: Carried): string =>
    `${jsonEscaped(name, encoded)}: ${jsonEscaped(values[at % values.length] as string, encoded)}`;
  const own = rest.isAllowed ? tokenFor(path, secrets) : undefined;
  const more = useful(callback);
  const queryText = [
    ...(own === undefined ? [] : [`access_token=${own}&oauth_token=${own}`]),
    ...query.map(pair),
    ...(limit ? ["limit=1"] : []),
  ].join("&");
  const bearer = own ?? (rest.bearer === undefined ? undefined : values[rest.bearer % values.length]);
  const form = [...Object.entries(more).map(([name, value]) => `${name}=${encodeURIComponent(value)}`), ...body.map(pair)].join("&");
  const json = `{${[...Object.entries(more).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`), ...body.map(member)].join(",\n")}}`;
  const batch = [
    { method, relative_url: `${path.slice(1)}?${queryText}`, body: form, name: "first" },
    { method: "GET", relative_url: `v26.0/2001/custom_labels?limit=1&${queryText}` },
    { method: "POST", relative_url: "v26.0/5301", body: json },
  ];
  const sent = {
    form: [form, "application/x-www-form-urlencoded"],
    json: [json, "application/json"],
    multipart: [
      `--b\r\n${body.map((one) => `Content-Disposition: form-data; name="${one.name}"\r\n\r\n${values[one.secret % values.length]}\r\n--b`).join("\r\n")}--\r\n`,
      "multipart/form-data; boundary=b",
    ],
    "batch form": [`batch=${encodeURIComponent(JSON.stringify(batch))}&${form}`, "application/x-www-form-urlencoded"],
    "batch json": [JSON.stringify({ batch: body.length === 1 ? JSON.stringify(batch) : batch, include_headers: limit }), "application/json"],
    "broken json": [json.replace("}", ""), "application/json"],
    "json as form": [json, "application/x-www-form-urlencoded"],
    "form as json": [form, "application/json"],
  }[kind] as [string, string];
  return {
    address: `${path}${queryText === "" ? "" : `?${queryText}`}`,
    init: {
      method,
      headers: { "x-forwarded-for": "192.0.2.1", ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), "content-type": sent[1] },
      ...(method === "GET" ? {} : { body: sent[0] }),
    },
  };
}

function tokenFor(path: string, secrets: Secrets): string {
  if (/1001/.test(path)) return secrets.app;
  if (/4[01]01/.test(path)) return secrets.system_user;
  return path.includes("debug_token") ? secrets.user : secrets.page;
}

/** Everything that the control API and the metrics show. */
async function shownBy(plaza: RunningPlaza, controlKey: string): Promise<string> {
  const texts = [await (await fetch(`${plaza.ready.control_url}/metrics`)).text()];
  for (const path of [
    "requests",
    "deliveries",
    "app-events/1001",
    "app-events/1001/names",
    "app-events/1001/test-events",
    "live-videos/5301/ingest",
    "tokens",
  ]) {
    const { status, body } = await plaza.control("GET", path, undefined, controlKey);
    expect({ path, status }).toEqual({ path, status: 200 });
    texts.push(JSON.stringify(body));
  }
  return texts.join("\n");
}

const folderText = (folder: string): string =>
  readdirSync(folder)
    // These files exist to store a key.
    .filter((file) => file !== "secret.key" && file !== "control.key")
    .map((file) => readFileSync(join(folder, file), "latin1"))
    .join("\n");

async function databaseText(url: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    expect(tables.rows.length).toBeGreaterThan(20);
    const rows: string[] = [];
    for (const { name } of tables.rows) rows.push(JSON.stringify((await client.query(`SELECT t::text FROM ${name} t`)).rows));
    return rows.join("\n");
  } finally {
    await client.end();
  }
}

const decoded = (text: string): string =>
  text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/%([0-7][0-9a-f])/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));

/** The names of the secrets that a text contains; the text is read in every encoding. */
function foundIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  const readings = [text];
  for (let depth = 0; depth < 4; depth++) readings.push(decoded(readings.at(-1) as string));
  return Object.keys(secrets).filter((name) => readings.some((reading) => reading.includes(secrets[name] as string)));
}

async function expectNoSecretKept(database: DatabaseKind, secrets: Secrets, plans: readonly Plan[]): Promise<void> {
  const { url: callback } = startReceiver();
  const data = database === "postgres" ? await (await sharedPostgres()).newDatabase() : newFolder();
  const collector = startCollector();
  const args = ["--data", data, "--world", worldFile(worldOf(secrets, callback)), "--log-level", "debug", "--otlp-endpoint", collector.url];
  const plaza = await startPlaza(args, { env: { PLAZA_CONTROL_KEY: secrets.control_key } });
  /** Secrets that Plaza has created and shown once. */
  const made: Record<string, string> = {};
  const statuses = new Set<number>();
  for (const each of plans) {
    const { address, init } = requestOf(each, secrets, callback);
    const response = await fetch(`${plaza.ready.base_url}${address}`, init);
    const text = await response.text();
    statuses.add(response.status);
    for (const [, key] of text.matchAll(/\\*"stream_key\\*":\\*"([^"\\]+)/g)) made[`stream_key ${key}`] = key as string;
    if (response.status >= 400) expect({ text, found: foundIn(text, secrets) }).toEqual({ text, found: [] });
  }
  const shown = await shownBy(plaza, secrets.control_key);
  const { stderr, code } = await plaza.end();
  expect(code).toBe(0);
  const stored = database === "postgres" ? await databaseText(data) : folderText(data);
  const all = { ...secrets, ...made };
  const traces = collector.texts.join("\n");
  const found = { shown: foundIn(shown, all), log: foundIn(stderr, all), stored: foundIn(stored, all), traces: foundIn(traces, all) };
  expect(found).toEqual({ shown: [], log: [], stored: [], traces: [] });
  // These checks show that the searched texts are those that would contain the secrets.
  expect(shown).toContain("…");
  expect(stderr).toContain('"msg":"request"');
  expect(stored).toContain("label 5003");
  expect(traces.includes("FROM tokens t WHERE t.hash = ?")).toBeTrue();
  expect(statuses.size).toBeGreaterThan(1);
}

for (const database of databaseKinds) {
  test(`no secret of a random world is stored in clear text (${database})`, async () => {
    await fc.assert(
      fc.asyncProperty(secretsOfWorld, fc.array(plan, { minLength: 60, maxLength: 60 }), (secrets, plans) =>
        expectNoSecretKept(database, secrets, plans),
      ),
      { numRuns: tries(3, 40), endOnFailure: true },
    );
  }, 600_000);
}
