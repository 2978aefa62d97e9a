/** D-385, D-387: sends an app a signed request if a person removed the app (`deauthorize_url`) or wants her data deleted (`data_deletion_url`). */
import type { AppFacts } from "#auth/app-facts";
import type { World } from "#graph/worlds/world";
import type { JobKind } from "#jobs/job-kind";
import { unixSeconds } from "#kernel/clock";
import { type NodeId, nodeId } from "#kernel/ids";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import type { Transaction } from "#storage/database";
import { objectIn, signedRequest } from "./login.signed-request.ts";
import { answerDeletion, insertDeletion } from "./login.store.ts";

const KIND = "login_callback";
/** The longest time that Plaza waits for the app's response to a signed request. The handshake of a callback has the same limit. */
const DEADLINE_MS = 15_000;
const RESPONSE_BYTES_MAX = 65_536;
/** The number of times that Plaza tries to send a signed request before it gives up. */
const ATTEMPTS_MAX = 5;
const WAIT_MS = 3_600_000;

/** The fields of an app that have the addresses for signed requests. */
type Callback = "deauthorize_url" | "data_deletion_url";

interface Payload {
  readonly person: NodeId;
  readonly issued_at: number;
  /**
   * The number of this attempt; the first attempt is 1. The payload of the job has this number because each attempt is a job of its own, so the
   * number of runs of one job does not count the attempts.
   */
  readonly attempt: number;
}

/**
 * Schedules the signed request that tells an app that a person removed it. The key of the job consists of the app's and the person's id, because a
 * person can remove an app only once between two logins.
 */
export async function scheduleDeauthorization(tx: Transaction, world: World, app: AppFacts, person: NodeId): Promise<void> {
  if (app.deauthorize_url !== undefined)
    await schedule(tx, world, app.id, "deauthorize_url", { person, issued_at: unixSeconds(world.clock), attempt: 1 });
}

/**
 * Schedules the signed request that asks an app to delete a person's data. A later request of the same person to the same app replaces an earlier
 * one.
 */
export async function scheduleDeletion(tx: Transaction, world: World, app: NodeId, person: NodeId): Promise<void> {
  const issued_at = unixSeconds(world.clock);
  await insertDeletion(tx, app, person, issued_at);
  await schedule(tx, world, app, "data_deletion_url", { person, issued_at, attempt: 1 });
}

async function schedule(tx: Transaction, { jobs, clock }: World, app: NodeId, callback: Callback, payload: Payload, waitMs = 0): Promise<void> {
  const key = `${app}/${callback}/${payload.person}`;
  await jobs.schedule(tx, { kind: KIND, key, share: app, dueMs: clock.nowMs() + waitMs, payload });
}

export const callbackJob: JobKind<World> = {
  kind: KIND,
  atOnceMax: { running: 4, waiting: 32, ofShare: 4 },
  async run(world, key, given, job) {
    const [id = "", callback] = key.split("/") as [string, Callback];
    const app = nodeId(id);
    const payload = given as Payload;
    const { person, issued_at, attempt } = payload;
    const facts = await world.ports.get("app").findFacts(world.database.reader, app);
    const url = facts?.[callback];
    const answer: Answer =
      facts === undefined || url === undefined
        ? { problem: `the app has no ${callback}`, isFinal: true }
        : await job.whileWaiting(() => send(world, url, facts, { user_id: person, issued_at }));
    const result = callback === "data_deletion_url" ? confirmationIn(answer) : answer;
    await world.database.write(async (tx) => {
      await job.settle(tx);
      if (callback === "data_deletion_url") {
        const { url = "", confirmation_code = "", problem = "" } = result;
        const confirmed_at = problem === "" ? unixSeconds(world.clock) : 0;
        await answerDeletion(tx, { app, person, confirmed_at, url, confirmation_code, problem });
      }
      if (result.problem !== undefined && answer.isFinal !== true && attempt < ATTEMPTS_MAX)
        await schedule(tx, world, app, callback, { ...payload, attempt: attempt + 1 }, attempt * WAIT_MS);
    });
  },
};

/** The body of the app's response if its status is 200 to 299, or the reason why Plaza got no such response. */
interface Answer {
  readonly body?: string;
  readonly url?: string;
  readonly confirmation_code?: string;
  readonly problem?: string;
  /** The property is true if sending the signed request again would be useless, so that Plaza makes no further attempt. */
  readonly isFinal?: true;
}

async function send(world: World, url: string, app: AppFacts, payload: Readonly<Record<string, unknown>>): Promise<Answer> {
  const body = new URLSearchParams({ signed_request: signedRequest(payload, world.sealer.open(app.sealed_secret)) }).toString();
  try {
    const response = await world.outbound.request({
      method: "POST",
      url,
      headers: { "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "plaza" },
      body,
      deadlineMs: DEADLINE_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
    });
    if (response.status < 200 || response.status > 299) return { problem: `the app answered with the status ${response.status}` };
    return { body: response.body.toString("utf8") };
  } catch (error) {
    if (error instanceof CallbackRefused || error instanceof RequestFailed) return { problem: `the app gave no answer: ${error.message}` };
    throw error;
  }
}

/** The app's answer may have only visible ASCII characters, which every database can store and every terminal can show. */
const VISIBLE = /^[!-~]{1,2000}$/;

/** D-387: the app answers with the address of a page about the deletion, and with a code by which the person can refer to her request. */
function confirmationIn({ body, problem }: Answer): Pick<Answer, "url" | "confirmation_code" | "problem"> {
  if (body === undefined) return { problem: problem ?? "" };
  const { url, confirmation_code } = objectIn(body);
  if (typeof url !== "string" || !VISIBLE.test(url) || !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    return { problem: "the app's answer has no url; it must be JSON with the address of a page about the deletion" };
  if (typeof confirmation_code !== "string" || !VISIBLE.test(confirmation_code))
    return { problem: "the app's answer has no confirmation_code; it must be JSON with a text of visible ASCII characters" };
  return { url, confirmation_code };
}
