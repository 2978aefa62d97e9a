/**
 * Runs the conformance cases as tests, on servers that the tests start: once in memory and once on PostgreSQL. In memory, each response is also
 * checked against the OpenAPI document at `/openapi.json` of the server.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databaseKinds, testOnPostgres } from "#harness/databases";
import { planProblems } from "#harness/postgres/plans";
import { type PostgresCluster, startPostgresCluster } from "#harness/postgres-cluster";
import { DocumentedExchanges } from "#openapi/documented-exchanges";
import { documentOf } from "#openapi/documents";
import { type Case, loadCases, onOneServer } from "./cases.ts";
import { readClauses, wrongCitations } from "./coverage.ts";
import { Receiver } from "./http/receiver.ts";
import { failureText } from "./report/results.ts";
import { type RunningServer, startServer } from "./server.ts";
import { runCase } from "./session.ts";

/** The time limit of a case. A case has up to some hundred requests, and a start on a busy machine may take long. */
const CASE_TIMEOUT_MS = 60_000;

const cases = loadCases();

test("every case cites clauses that exist", () => {
  const wrong = wrongCitations(cases, readClauses());
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});

let cluster: Promise<PostgresCluster> | undefined;
const clusterOf = (): Promise<PostgresCluster> => (cluster ??= startPostgresCluster({ logsStatements: true }));
afterAll(async () => (await cluster)?.stop());

const dataOf = { sqlite: async () => ":memory:", postgres: async () => (await clusterOf()).url } as const;

/** The names of the operations that returned status 200 in the response profile `strict`. */
const succeeded = new Set<string>();

function declare(kind: keyof typeof dataOf, group: readonly [Case, ...Case[]]): void {
  const [first] = group;
  let server: RunningServer;
  let receiver: Receiver;
  let documented: DocumentedExchanges | undefined;
  beforeAll(async () => {
    receiver = await Receiver.start();
    server = await startServer(first, await dataOf[kind](), receiver.address);
    documented = kind === "sqlite" ? await DocumentedExchanges.of(server.addresses) : undefined;
  }, CASE_TIMEOUT_MS);
  afterAll(async () => {
    if (first.profile === "strict") for (const name of documented?.succeeded ?? []) succeeded.add(name);
    receiver.stop();
    await server.stop();
  });
  for (const testCase of group) {
    test(
      testCase.title,
      async () => {
        if (testCase.isAlone) await server.reset();
        const failure = await runCase(testCase, { ...server, ...(documented && { observe: documented.observe }) }, receiver);
        if (failure !== undefined) throw new Error(`${testCase.file}\n${failureText(failure)}`);
        if (documented !== undefined) expect(documented.takeProblems()).toEqual([]);
      },
      CASE_TIMEOUT_MS,
    );
  }
}

for (const kind of databaseKinds) {
  describe(`conformance (${kind})`, () => {
    for (const group of onOneServer(cases)) {
      const [first, ...others] = group;
      if (first !== undefined) describe(`${first.profile}, ${first.world}`, () => declare(kind, [first, ...others]));
    }
  });
}

if (databaseKinds.includes("sqlite"))
  test("every operation of the strict profile returned 200 at least once", () => {
    const named = Object.values(documentOf().paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    const names = named.filter((name) => !name.includes("WithoutVersion") && !name.includes("Under"));
    expect(names.filter((name) => !succeeded.has(name))).toEqual([]);
  });

/** Statements that may read more rows than they return, each with the reason. */
const READS_ALL: readonly (readonly [statement: string, why: string])[] = [
  ["SELECT s.fence FROM work_sessions", "a row for each process that runs"],
  ["EXISTS (SELECT 1 FROM jobs j WHERE j.fence > 0", "the jobs that run, some dozens for each process"],
  ["SELECT i.id FROM live_ingests i WHERE i.seen_ms <", "a row for each server that takes streams"],
  ["SELECT DISTINCT o.name FROM open_worlds o", "a row for each world that a process has open, looked at together for those whose process is gone"],
  ["SELECT 1 AS one FROM product_feeds f WHERE f.id <>", "looks once at each feed, for an id that a file brought along"],
  ["SELECT CAST(s.target AS TEXT) AS target, s.metric, s.start", "an export, which reads all in pages"],
  ["f JOIN feed_uploads u ON u.feed = f.id AND u.n = f.next_upload - 1", "once a minute, for alerts: the last upload of each of the newest feeds"],
  ["DELETE FROM passed_requests", "once, when a person is erased; it holds requests on their way to another process"],
  ["t.is_on_map = 1", "the map: its index holds those that are live, all of which are looked at"],
  ["SELECT CAST(a.id AS TEXT) AS id FROM ads a WHERE a.app =", "once, when an app is deleted"],
  ["t.app_connections LIKE $1", "once, when an owner is deleted"],
  ["DELETE FROM tokens WHERE app = $1 OR", "once, when an owner is deleted"],
  ["UPDATE tokens SET user_id = NULL", "once, when a person is deleted"],
  ["SELECT c.hash FROM login_codes c WHERE c.app = $1 OR", "once, when an owner is deleted; codes are kept for a day"],
  ["DELETE FROM login_codes WHERE app = $1 OR", "once, when an owner is deleted"],
  ["DELETE FROM login_deletions WHERE app = $1 OR", "once, when an owner is deleted"],
  ["FROM worlds w WHERE w.moving_to IS NOT NULL", "its partial index holds the few worlds that are moving, all of which are looked at"],
  ["WHERE d.ended_ms < $1 AND d.status IN (2, 3, 5) ORDER BY d.id LIMIT", "retention begins with the oldest, which ended first"],
  ["d.retry_due_ms, d.attempts, d.ended_ms, c.paused_ms", "people's list of deliveries, the newest first, by any filter"],
  ["SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM webhook_deliveries d", "a callback that is left: its partial index holds what is being sent"],
  ["d.members, e.object, e.field, CAST(e.entity AS TEXT) AS entity", "a claim sorts the few rows whose ids it names"],
  ["SELECT n.type FROM nodes n LIMIT", "reads up to 500 rows, to know which types a small world has"],
  // The following statement filters by a column that is not the first column of a key. If few rows have the same first column, PostgreSQL reads
  // all these rows and filters them; ANALYZE corrects the plan after a table has grown.
  ["SELECT DISTINCT e.device", "the rows of an app in the requests that are named"],
];

/** Statements without a plan. Statements without a plan are prepared too, because they are sent together with other statements. */
const HAS_NO_PLAN = /^(?:BEGIN|SAVEPOINT|COMMIT)\b/;

testOnPostgres(
  "the plan of a statement does not depend on when it was made, on an empty table or a large one",
  async () => {
    const postgres = await clusterOf();
    const planned = postgres.preparedStatements().filter((text) => !HAS_NO_PLAN.test(text));
    const statements = planned.filter((text) => !READS_ALL.some(([known]) => text.replace(/\s+/g, " ").includes(known)));
    expect(statements.length).toBeGreaterThan(200);
    expect(await planProblems(await postgres.newDatabase(), statements)).toEqual([]);
  },
  CASE_TIMEOUT_MS,
);
