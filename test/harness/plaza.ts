/**
 * A world in the test's own process, called without a socket. The harness checks every response by the contract of its operation. A test fails if a
 * response has an undeclared error, or if a webhook breaks its contract, which the harness checks when the world closes.
 */
import { expect } from "bun:test";
import { Compile } from "typebox/compile";
import type { Token } from "#auth/token";
import { hashOf } from "#auth/tokens";
import { insertToken } from "#auth/tokens.store";
import type { Endpoint, Registry } from "#graph/contract/registry";
import { commonErrors, responseSchema } from "#graph/contract/response-schemas";
import { handleRequest, type RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphRequest, SurfaceName } from "#graph/pipeline/request";
import { type RequestStory, readStory } from "#graph/pipeline/story/story-text";
import { standardCalendar, type VersionCalendar } from "#graph/versions/calendar";
import { importWorld } from "#graph/worlds/file/import-export";
import { migrationsOf, type OpenWorld, openWorld } from "#graph/worlds/open-world";
import type { RateLimitConfig } from "#graph/worlds/rate-limits";
import type { Streaming } from "#graph/worlds/world";
import { definitionOf } from "#kernel/errors";
import { buildRegistry } from "#main";
import { GuardedClient } from "#outbound/client";
import type { Database } from "#storage/database";
import { openDatabase } from "#storage/open";
import type { KeyRing } from "#storage/sealing";
import { monotonicMs, randomFraction, randomSecret, SeededIds, sleepMs, TimeOrderedIds, traceId } from "#system";
import { type BrokenPayload, silentObserver } from "#webhooks/observer";
import { afterThisTest } from "./cleanup.ts";
import type { DatabaseKind } from "./databases.ts";
import { leaveSchema, noteNewSchema, openBeside, takeSchema } from "./postgres/left-worlds.ts";
import { sharedPostgres } from "./postgres-cluster.ts";

export interface PlazaOptions {
  readonly workBegins?: (work: string, id?: string) => void;
  readonly database?: DatabaseKind;
  readonly profile?: "strict" | "clients";
  /** The content of the world: a world file, as an object. */
  readonly world?: Record<string, unknown>;
  readonly calendar?: VersionCalendar;
  /** The settings of the world, by their names. All settings that are not given have their defaults. */
  readonly settings?: Readonly<Record<string, number>>;
  /** The rate limits. Default: no limits. */
  readonly rateLimits?: RateLimitConfig;
  readonly registry?: Registry;
  /** How encoders connect. The world only mentions these addresses in its responses; no program listens there. */
  readonly streaming?: Streaming;
  /** The folder in which the world stores recordings. */
  readonly recordings?: string;
  /** The keys with which the world seals its secrets. By default, the world has a fixed sealing key. */
  readonly keys?: KeyRing;
  /** The seed of ids and secrets: they are the same in each world with this seed. */
  readonly seed?: number;
  /** Default: true. */
  readonly isSandbox?: boolean;
  /** Whether delivered webhooks are logged. Default: false. */
  readonly hasWebhookLog?: boolean;
}

export interface TestRequest {
  readonly surface?: SurfaceName;
  readonly query?: Record<string, unknown>;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly files?: GraphRequest["files"];
  /** Sends this token three times, as page messaging requires: twice in the query and once as a bearer token. */
  readonly token?: string;
  /** Sends this token only as a bearer token. */
  readonly bearer?: string;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
  readonly body: any;
  readonly operation: string;
  readonly story: RequestStory | undefined;
  /** The story of the request as the log stores it. */
  readonly text: string | undefined;
}

let schemaCount = 0;

export async function openPlaza(options: PlazaOptions = {}): Promise<TestPlaza> {
  const built = buildRegistry();
  const registry = options.registry ?? built;
  const time = { realMs: 1_795_000_000_000 };
  const brokenPayloads: BrokenPayload[] = [];
  const { name, database } = await openData(options, registry);
  const world = await openWorld({
    name,
    database,
    registry,
    ports: registry.openPorts(),
    profile: options.profile ?? "strict",
    seed: options.seed,
    calendar: options.calendar ?? standardCalendar,
    settings: options.settings ?? {},
    rateLimits: options.rateLimits ?? { app_calls_per_hour: 0, page_calls_per_hour: 0 },
    deliveriesPerSecondMax: 0,
    hasWebhookLog: options.hasWebhookLog ?? false,
    randomSecret: options.seed === undefined ? randomSecret : countedSecrets(),
    faults: { sleepMs, randomFraction, monotonicMs },
    outbound: new GuardedClient({ rules: { isSandbox: true, allowed: [] } }),
    observer: {
      ...silentObserver,
      workBegins: options.workBegins ?? (() => {}),
      payloadBroken: (broken) => brokenPayloads.push(broken),
      jobFailed: () => {},
      workFailed: () => {},
    },
    recordings: options.recordings,
    keys: options.keys ?? { current: new Uint8Array(32).fill(7), previous: [], isOwn: false, rotate() {}, retire() {} },
    realNowMs: () => time.realMs,
    isSandbox: options.isSandbox ?? true,
    timeOrderedIds: (processNumber) => new TimeOrderedIds(processNumber),
    seededIds: (next) => new SeededIds(next),
  });
  world.streaming = options.streaming;
  if (options.world !== undefined) await importWorld(world, registry, JSON.stringify(options.world), { isMerge: false });
  const plaza = new TestPlaza(world, registry, time, brokenPayloads);
  afterThisTest(() => plaza.close());
  return plaza;
}

function countedSecrets(): (byteCount: number) => string {
  let count = 0;
  return (byteCount) => Buffer.alloc(byteCount, String(++count).padStart(8, "0")).toString("base64url");
}

/** Opens the database of a world. On PostgreSQL, the world reuses the schema of an earlier test, unless the test has a registry of its own. */
async function openData({ database: kind, registry: own, seed }: PlazaOptions, registry: Registry): Promise<{ name: string; database: Database }> {
  const isShared = kind === "postgres" && own === undefined;
  const data = kind === "postgres" ? (await sharedPostgres()).url : ":memory:";
  const taken = isShared ? await takeSchema(data) : undefined;
  // Worlds with the same seed have the same name, because stream keys contain the name.
  const name = taken ?? (seed === undefined || kind === "postgres" ? `t${process.pid}_${++schemaCount}` : "seeded");
  const migrations = migrationsOf(registry);
  const database = isShared ? await openBeside(data, name, migrations) : await openDatabase({ data, world: name, migrations });
  if (isShared && taken === undefined) await noteNewSchema(data, name);
  if (isShared) afterThisTest(() => leaveSchema(name));
  return { name, database };
}

export class TestPlaza {
  readonly #unexpected: unknown[] = [];
  readonly #deps: RequestDeps;

  constructor(
    readonly world: OpenWorld,
    readonly registry: Registry,
    /** The real time, as the world reads it. */
    readonly time: { realMs: number },
    /**
     * The webhooks that broke their contract (D-136). A test that causes webhooks that break their contract removes them from this list; webhooks
     * that are left in it fail the test.
     */
    readonly brokenPayloads: BrokenPayload[],
  ) {
    this.#deps = { registry, traceId, monotonicMs, onUnexpected: (error) => this.#unexpected.push(error) };
  }

  request(method: string, path: string, request: TestRequest = {}): Promise<TestResponse> {
    return this.send(requestOf(method, path, request));
  }

  async send(request: GraphRequest): Promise<TestResponse> {
    const response = await handleRequest(this.#deps, this.world, request);
    if (this.#unexpected.length > 0) throw this.#unexpected[0];
    const body = response.body === "" ? undefined : JSON.parse(response.body);
    const { status, headers, operation } = response;
    const story = readStory({ ...response, path: request.path, surface: request.surface }, this.registry);
    const result = { status, headers, body, operation, story, text: response.story };
    this.#check(result);
    return result;
  }

  get = (path: string, request?: TestRequest) => this.request("GET", path, request);
  post = (path: string, request?: TestRequest) => this.request("POST", path, request);
  delete = (path: string, request?: TestRequest) => this.request("DELETE", path, request);

  /** Creates a token and returns its value. */
  async mint(token: Partial<Token> & Pick<Token, "type" | "app">): Promise<string> {
    const value = `test-${randomSecret(12)}`;
    const none = { user: undefined, page: undefined, social_account: undefined, microblog_user: undefined };
    const times = { issued_at: 1, expires_at: 0, data_access_expires_at: 0, revoked_at: 0 };
    await this.world.database.write((tx) => insertToken(tx, { id: this.world.ids.mint(), ...none, scopes: [], ...times, ...token }, hashOf(value)));
    return value;
  }

  /** The stored values of the given columns (`table.column`). */
  async dump(columns: readonly string[]): Promise<unknown[]> {
    const rows: unknown[] = [];
    for (const column of columns) {
      const text = `SELECT ${column} AS value FROM ${column.split(".")[0]}`;
      rows.push(...(await this.world.database.reader.all({ query: { text }, values: [] })));
    }
    return rows;
  }

  async close(): Promise<void> {
    this.world.outbound.close();
    await this.world.database.close();
    expect(this.brokenPayloads).toEqual([]);
  }

  #check(result: TestResponse): void {
    const endpoint = this.registry.endpoints.find(({ access }) => access.operation === result.operation);
    if (result.status >= 400) checkError(result, endpoint);
    else if (endpoint !== undefined && result.body !== undefined) checkResponse(result, endpoint, this.world.profile);
    expect(result.headers["x-pf-trace-id"]).toBeString();
    expect(result.headers["pf-api-version"]).toBeString();
  }
}

const validators = new WeakMap<Endpoint, Map<string, ReturnType<typeof Compile>>>();

function checkResponse(result: TestResponse, endpoint: Endpoint, profile: "strict" | "clients"): void {
  const known = validators.get(endpoint) ?? new Map<string, ReturnType<typeof Compile>>();
  validators.set(endpoint, known);
  const validator = known.get(profile) ?? Compile(responseSchema(endpoint, profile));
  known.set(profile, validator);
  // D-34: the extra data that a request can ask for does not belong to the operation's contract.
  const { __debug__: _, metadata: __, ...own } = result.body;
  if (validator.Check(own)) return;
  throw new Error(
    `${result.operation} returned what its contract does not allow: ${JSON.stringify(validator.Errors(own))}\n${JSON.stringify(result.body)}`,
  );
}

function checkError(result: TestResponse, endpoint: Endpoint | undefined): void {
  const error = result.body.error ?? result.body;
  const isDeclared = [...commonErrors, ...(endpoint?.access.errors ?? [])].some((declared) => {
    const entry = definitionOf(declared);
    const statuses = [entry.status, entry.flatStatus];
    return statuses.includes(result.status) && [entry.code, entry.flatCode].includes(error.code) && entry.subcode === error.error_subcode;
  });
  if (!isDeclared) throw new Error(`${result.operation} returned an undeclared error: ${result.status} ${JSON.stringify(result.body)}`);
  expect(error.pftrace_id).toBe(result.headers["x-pf-trace-id"]);
}

export function requestOf(
  method: string,
  path: string,
  { surface = "base", query = {}, body = {}, headers = {}, files = new Map(), token, bearer }: TestRequest,
): GraphRequest {
  const fullQuery = token === undefined ? query : { access_token: token, oauth_token: token, ...query };
  const authorization = token ?? bearer;
  const sent: Record<string, string> = authorization === undefined ? headers : { authorization: `Bearer ${authorization}`, ...headers };
  const pairs = Object.entries(fullQuery).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return {
    surface,
    method,
    path,
    queryText: pairs.join("&"),
    query: fullQuery,
    body,
    files,
    header: (name) => sent[name],
    baseUrl: "http://plaza.test",
    batchDepth: 0,
  };
}

/** Expects the response for an object that does not exist (D-21). */
export async function expectUnreadable(plaza: TestPlaza, id: string, bearer: string): Promise<void> {
  const { status, body } = await plaza.get(`/v26.0/${id}`, { bearer });
  expect({ id, status, code: body.error.code, error_subcode: body.error.error_subcode }).toEqual({ id, status: 400, code: 100, error_subcode: 33 });
}

/** The path and query of the URL in `next` or `previous`, with which a test follows the link. */
export function requestOfLink(link: string): { path: string; query: Record<string, string> } {
  const url = new URL(link);
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
}
