/** D-385: tells an app that a person removed it, by a signed request to the app's `deauthorize_url`. */
import { createHmac } from "node:crypto";
import type { AppFacts } from "#auth/app-facts";
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { unixSeconds } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import type { Transaction } from "#storage/database";

const KIND = "login_deauthorization";
/** As for the handshake of a callback: the app has to answer quickly, and its answer is not read. */
const DEADLINE_MS = 15_000;
const RESPONSE_BYTES_MAX = 65_536;
/** The runs before Plaza gives up. With the waits below they take 15 hours. */
const ATTEMPTS_MAX = 5;
const WAIT_MS = 3_600_000;

/** A person removes an app at most once until the next login, so the pair is the key of the job. */
export async function scheduleDeauthorization(
  tx: Transaction,
  { jobs, clock }: World,
  { id, deauthorize_url }: AppFacts,
  person: NodeId,
): Promise<void> {
  if (deauthorize_url === undefined) return;
  const payload = { person, issued_at: unixSeconds(clock) };
  await jobs.schedule(tx, { kind: KIND, key: `${id}/${person}`, share: id, dueMs: clock.nowMs(), payload });
}

/**
 * A signed request: the signature, a dot and the payload, both in base64url. The signature is the HMAC-SHA256 of the encoded payload with the app's
 * secret.
 */
export function signedRequest(payload: Readonly<Record<string, unknown>>, secret: string): string {
  const encoded = Buffer.from(JSON.stringify({ algorithm: "HMAC-SHA256", ...payload })).toString("base64url");
  return `${createHmac("sha256", secret).update(encoded).digest("base64url")}.${encoded}`;
}

export const deauthorizationJob: JobKind<World> = {
  kind: KIND,
  atOnceMax: { running: 4, waiting: 32, ofShare: 4 },
  async run(world, key, payload, job) {
    const [app = ""] = key.split("/");
    const { person, issued_at } = payload as { person: string; issued_at: number };
    const facts = await world.ports.get("app").findFacts(world.database.reader, nodeId(app));
    const url = facts?.deauthorize_url;
    const isDone =
      facts === undefined || url === undefined || (await job.whileWaiting(() => send(world, url, facts, { user_id: person, issued_at })));
    await world.database.write(async (tx) => {
      await job.settle(tx);
      if (isDone || job.attempt >= ATTEMPTS_MAX) return;
      await world.jobs.schedule(tx, { kind: KIND, key, share: app, dueMs: world.clock.nowMs() + job.attempt * WAIT_MS, payload });
    });
  },
};

/** Sends the request. Returns whether the app answered with a status of success. */
async function send(world: World, url: string, app: AppFacts, payload: Readonly<Record<string, unknown>>): Promise<boolean> {
  const body = new URLSearchParams({ signed_request: signedRequest(payload, world.sealer.open(app.sealed_secret)) }).toString();
  try {
    const { status } = await world.outbound.request({
      method: "POST",
      url,
      headers: { "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "plaza" },
      body,
      deadlineMs: DEADLINE_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
    });
    return status >= 200 && status < 300;
  } catch (error) {
    if (error instanceof CallbackRefused || error instanceof RequestFailed) return false;
    throw error;
  }
}
