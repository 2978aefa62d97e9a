/** The conformance cases as tests, on servers of their own: once on memory, once on PostgreSQL. */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type Case, loadCases } from "./cases.ts";
import { readClauses, wrongCitations } from "./coverage.ts";
import { Receiver } from "./receiver.ts";
import { failureText } from "./report.ts";
import { type RunningServer, serverKey, startServer } from "./server.ts";
import { runCase } from "./session.ts";

/** A case has up to some hundred requests; a start on a loaded machine may take long. */
const CASE_TIMEOUT_MS = 60_000;

const cases = loadCases();

test("every case cites clauses that exist", () => {
  const wrong = wrongCitations(cases, readClauses());
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});

function declare(group: readonly Case[], data: () => Promise<string>): void {
  const [first] = group;
  if (first === undefined) return;
  let server: RunningServer | undefined;
  let receiver: Receiver | undefined;
  beforeAll(async () => {
    receiver = await Receiver.start();
    server = await startServer(first, await data(), receiver.address);
  }, CASE_TIMEOUT_MS);
  afterAll(async () => {
    receiver?.stop();
    await server?.stop();
  });
  for (const testCase of group) {
    test(
      testCase.title,
      async () => {
        if (server === undefined || receiver === undefined) throw new Error("the server did not start");
        const failure = await runCase(testCase, server, receiver);
        if (failure !== undefined) throw new Error(`${testCase.file}\n${failureText(failure)}`);
      },
      CASE_TIMEOUT_MS,
    );
  }
}

const stores: Readonly<Record<string, () => Promise<string>>> = {
  memory: async () => ":memory:",
  PostgreSQL: async () => (await sharedPostgres()).url,
};

for (const [name, data] of Object.entries(stores)) {
  describe(`conformance on ${name}`, () => {
    for (const group of Map.groupBy(cases, serverKey).values()) describe(`${group[0]?.profile}, ${group[0]?.world}`, () => declare(group, data));
  });
}
