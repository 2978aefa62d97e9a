/**
 * A world in the test's own process, called without a socket. Every answer is checked against its contract, undeclared
 * errors fail the test, and so do webhooks that break their contract; each world is looked over for leaks when it closes.
 */
import { describe, expect } from "bun:test";
import { Compile } from "typebox/compile";
import type { Token } from "#auth/token";
import { hashOf } from "#auth/tokens";
import { insertToken } from "#auth/tokens.store";
import { answerSchema } from "#graph/answer-schemas";
import { standardCalendar, type VersionCalendar } from "#graph/calendar";
import { commonErrors } from "#graph/common-errors";
import { climb, type Stairs } from "#graph/ladder";
import { type OpenWorld, openWorld } from "#graph/open-world";
import type { Endpoint, Registry } from "#graph/registry";
import type { GraphRequest, SurfaceName } from "#graph/request";
import { importWorld } from "#graph/world-file";
import { catalogue, type ErrorName } from "#kernel/errors";
import { ReaderRegistry } from "#kernel/readers";
import { buildRegistry } from "#main";
import { randomFraction, randomSecret, SeededIds, sleepMs, TimeOrderedIds, traceId } from "#system";
import { GuardedClient } from "#webhooks/guarded-client";
import { type BrokenPayload, silentObserver } from "#webhooks/observer";
import { afterThisTest } from "./cleanup.ts";
import { sharedPostgres } from "./postgres-cluster.ts";

export type DatabaseKind = "sqlite" | "postgres";
export const databaseKinds: readonly DatabaseKind[] = ["sqlite", "postgres"];

export interface PlazaOptions {
  readonly database?: DatabaseKind;
  readonly profile?: "strict" | "clients";
  /** A world file, as an object. */
  readonly world?: Record<string, unknown>;
  readonly calendar?: VersionCalendar;
  readonly labelsPerPageMax?: number;
  readonly registry?: Registry;
}

export interface TestCall {
  readonly surface?: SurfaceName;
  readonly query?: Record<string, unknown>;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  /** Sends this token in all three places of page messaging. */
  readonly token?: string;
  /** Sends this token as bearer alone. */
  readonly bearer?: string;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer.
  readonly body: any;
  readonly operation: string;
}

/** The same tests on both databases. */
export function onEachDatabase(title: string, body: (kind: DatabaseKind) => void): void {
  for (const kind of databaseKinds) describe(`${title} (${kind})`, () => body(kind));
}

let schemaCount = 0;

export async function openPlaza(options: PlazaOptions = {}): Promise<TestPlaza> {
  const built = buildRegistry();
  const registry = options.registry ?? built;
  const readers = new ReaderRegistry();
  for (const room of registry.rooms) room.registerReaders?.(readers);
  const time = { realMs: 1_795_000_000_000 };
  const brokenPayloads: BrokenPayload[] = [];
  const world = await openWorld({
    name: `t${process.pid}_${++schemaCount}`,
    data: options.database === "postgres" ? (await sharedPostgres()).url : ":memory:",
    registry,
    readers,
    profile: options.profile ?? "strict",
    seed: undefined,
    calendar: options.calendar ?? standardCalendar,
    limits: { labels_per_page_max: options.labelsPerPageMax ?? 5_000 },
    rateLimits: { app_calls_per_hour: 0, page_calls_per_hour: 0 },
    deliveriesPerSecondMax: 0,
    randomSecret,
    faults: { sleepMs, randomFraction },
    outbound: new GuardedClient({ rules: { isSandbox: true, allowed: [] } }),
    observer: { ...silentObserver, payloadBroken: (broken) => brokenPayloads.push(broken), jobFailed: () => {}, workFailed: () => {} },
    masterKey: new Uint8Array(32).fill(7),
    realNowMs: () => time.realMs,
    timeOrderedIds: (processNumber) => new TimeOrderedIds(processNumber),
    seededIds: (next) => new SeededIds(next),
  });
  if (options.world !== undefined) await importWorld(world, registry, JSON.stringify(options.world), { isMerge: false });
  const plaza = new TestPlaza(world, registry, time, brokenPayloads);
  afterThisTest(() => plaza.close());
  return plaza;
}

export class TestPlaza {
  readonly #unexpected: unknown[] = [];
  readonly #stairs: Stairs;

  constructor(
    readonly world: OpenWorld,
    readonly registry: Registry,
    /** Real time, as the world sees it. */
    readonly time: { realMs: number },
    /** Of webhooks (D-136). A test that makes such takes them out; what is left fails it. */
    readonly brokenPayloads: BrokenPayload[],
  ) {
    this.#stairs = { registry, traceId, onUnexpected: (error) => this.#unexpected.push(error) };
  }

  async call(method: string, path: string, call: TestCall = {}): Promise<TestAnswer> {
    const response = await climb(this.#stairs, this.world, requestOf(method, path, call));
    if (this.#unexpected.length > 0) throw this.#unexpected[0];
    const body = response.body === "" ? undefined : JSON.parse(response.body);
    const answer = { status: response.status, headers: response.headers, body, operation: response.operation };
    this.#check(answer);
    return answer;
  }

  get = (path: string, call?: TestCall) => this.call("GET", path, call);
  post = (path: string, call?: TestCall) => this.call("POST", path, call);
  delete = (path: string, call?: TestCall) => this.call("DELETE", path, call);

  /** Mints a token and answers its value. */
  async mint(token: Partial<Token> & Pick<Token, "type" | "app">): Promise<string> {
    const value = `test-${randomSecret(12)}`;
    const none = { user: undefined, page: undefined, social_account: undefined, microblog_user: undefined };
    const times = { issued_at: 1, expires_at: 0, data_access_expires_at: 0, revoked_at: 0 };
    await this.world.database.write((tx) => insertToken(tx, { id: this.world.ids.mint(), ...none, scopes: [], ...times, ...token }, hashOf(value)));
    return value;
  }

  /** What stands in some columns (`table.column`), for looking at what is stored. */
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

  #check(answer: TestAnswer): void {
    const endpoint = this.registry.endpoints.find(({ access }) => access.operation === answer.operation);
    if (answer.status >= 400) checkError(answer, endpoint);
    else if (endpoint !== undefined && answer.body !== undefined) checkAnswer(answer, endpoint, this.world.profile);
    expect(answer.headers["x-pf-trace-id"]).toBeString();
    expect(answer.headers["pf-api-version"]).toBeString();
  }
}

const validators = new WeakMap<Endpoint, Map<string, ReturnType<typeof Compile>>>();

function checkAnswer(answer: TestAnswer, endpoint: Endpoint, profile: "strict" | "clients"): void {
  const known = validators.get(endpoint) ?? new Map<string, ReturnType<typeof Compile>>();
  validators.set(endpoint, known);
  const validator = known.get(profile) ?? Compile(answerSchema(endpoint, profile));
  known.set(profile, validator);
  // D-34: what a call asks for beside the answer is no part of its contract.
  const { __debug__: _, metadata: __, ...own } = answer.body;
  if (validator.Check(own)) return;
  throw new Error(`${answer.operation} answered against its contract: ${JSON.stringify(validator.Errors(own))}\n${JSON.stringify(answer.body)}`);
}

function checkError(answer: TestAnswer, endpoint: Endpoint | undefined): void {
  const error = answer.body.error ?? answer.body;
  const allowed: ErrorName[] = [...commonErrors, ...(endpoint?.access.errors ?? [])];
  const isDeclared = allowed.some((name) => {
    const entry: { status: number; flatStatus?: number; code: number; flatCode?: number; subcode?: number } = catalogue[name];
    const statuses = [entry.status, entry.flatStatus];
    return statuses.includes(answer.status) && [entry.code, entry.flatCode].includes(error.code) && entry.subcode === error.error_subcode;
  });
  if (!isDeclared) throw new Error(`${answer.operation} answered an undeclared error: ${answer.status} ${JSON.stringify(answer.body)}`);
  expect(error.pftrace_id).toBe(answer.headers["x-pf-trace-id"]);
}

function requestOf(method: string, path: string, { surface = "base", query = {}, body = {}, headers = {}, token, bearer }: TestCall): GraphRequest {
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
    files: new Map(),
    header: (name) => sent[name],
    baseUrl: "http://plaza.test",
    batchDepth: 0,
  };
}

/** D-21: answers as an object that does not exist. */
export async function expectUnreadable(plaza: TestPlaza, id: string, bearer: string): Promise<void> {
  const { status, body } = await plaza.get(`/v26.0/${id}`, { bearer });
  expect([id, status, body.error.code, body.error.error_subcode]).toEqual([id, 400, 100, 33]);
}

/** Follows an absolute `next` or `previous` link. */
export function callOfLink(link: string): { path: string; query: Record<string, string> } {
  const url = new URL(link);
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
}
