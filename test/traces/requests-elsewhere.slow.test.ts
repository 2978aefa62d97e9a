/** D-358: a request is found from every process on the database, whichever process served it. */
import { afterEach, expect } from "bun:test";
import { testOnPostgres } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, type RunningPlaza, runPlaza, startPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const KEY = "a-key-of-both-servers";
const env = { PLAZA_CONTROL_KEY: KEY };

async function traceOf({ ready }: RunningPlaza): Promise<string> {
  const address = `${ready.base_url}/v26.0/2001/custom_labels?access_token=demo-page-token&oauth_token=demo-page-token`;
  // The request opens its own connection, so that any of the workers may get it.
  const response = await fetch(address, { headers: { authorization: "Bearer demo-page-token" }, keepalive: false });
  await response.text();
  return response.headers.get("x-pf-trace-id") as string;
}

const requestAt = (plaza: RunningPlaza, trace: string) => plaza.control("GET", `requests/${trace}`, undefined, KEY);

/** Repeats the question until the request is found, because on a busy machine another process may answer later than the server waits for it. */
async function foundAt(plaza: RunningPlaza, trace: string) {
  for (;;) {
    const found = await requestAt(plaza, trace);
    if (found.status !== 404) return found;
  }
}

async function twoServers(): Promise<[RunningPlaza, RunningPlaza]> {
  const data = await (await sharedPostgres()).newDatabase();
  const first = await startPlaza(["--data", data, "--workers", "2"], { env });
  return [first, await startPlaza(["--data", data], { env })];
}

testOnPostgres(
  "the story of a request is found at the server with two workers, at the other server, and by plaza explain",
  async () => {
    const [first, second] = await twoServers();
    for (const server of [first, second]) {
      // Whichever worker serves a request, every process finds it.
      for (let count = 0; count < 4; count++) {
        const trace = await traceOf(server);
        for (const asked of [first, second])
          expect(await foundAt(asked, trace)).toMatchObject({ status: 200, body: { trace_id: trace, story: { policy: { name: "pageMessaging" } } } });
      }
    }
    const trace = await traceOf(first);
    const explained = await runPlaza(["explain", trace, "--control-url", second.ready.control_url], { env });
    expect(explained).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("allowed to") });
    expect(await requestAt(first, "AnUnknownTrace")).toMatchObject({ status: 404 });
  },
  60_000,
);
