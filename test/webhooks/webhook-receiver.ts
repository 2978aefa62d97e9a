/**
 * A receiver of webhooks as an app would write it, in a process of its own. The receiver checks both signatures of each POST, one of them with the
 * package standardwebhooks. The receiver returns 500 for some POSTs, and lists at `/log` the webhooks that it got.
 */
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";

const [secret = "", failingShare = "0"] = process.argv.slice(2);
const verifier = new Webhook(Buffer.from(secret, "utf8").toString("base64"));

export interface LogEntry {
  readonly path: string;
  readonly webhook_id: string;
  readonly object: string;
  readonly fields: readonly string[];
  /** The numbers that the test put into the payloads. */
  readonly numbers: readonly number[];
  readonly is_taken: boolean;
}

const log: LogEntry[] = [];
const wrong: string[] = [];
let share = Number(failingShare);
/** The state of a random generator that makes the same responses in each run. */
let die = 7;
const roll = (): number => {
  die = (die * 48_271) % 2_147_483_647;
  return die / 2_147_483_647;
};

interface Body {
  readonly object: string;
  readonly entry: readonly {
    readonly changes?: readonly { readonly field: string; readonly value: { readonly n?: number } }[];
    readonly messaging?: readonly { readonly n?: number }[];
  }[];
}

function check(text: string, headers: Record<string, string>): void {
  try {
    verifier.verify(text, headers);
    const expected = `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
    if (headers["x-hub-signature-256"] !== expected) throw new Error(`X-Hub-Signature-256 is ${headers["x-hub-signature-256"]}`);
    if (/[^\u0020-\u007e]/.test(text)) throw new Error("the body is not ASCII");
  } catch (error) {
    wrong.push(`${error}: ${text.slice(0, 200)}`);
  }
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/log") return Response.json({ log: log.splice(0), wrong });
    if (url.pathname === "/share") {
      share = Number(url.searchParams.get("failing"));
      return new Response("ok");
    }
    if (request.method === "GET") return new Response(url.searchParams.get("hub.challenge"));
    const text = await request.text();
    const headers = Object.fromEntries(request.headers);
    check(text, headers);
    const { object, entry } = JSON.parse(text) as Body;
    const changes = entry.flatMap((one) => one.changes ?? []);
    const values = [...changes.map(({ value }) => value), ...entry.flatMap((one) => one.messaging ?? [])];
    const is_taken = roll() >= share;
    log.push({
      path: url.pathname,
      webhook_id: headers["webhook-id"] ?? "",
      object,
      fields: changes.map(({ field }) => field),
      numbers: values.flatMap(({ n }) => (n === undefined ? [] : [n])),
      is_taken,
    });
    return new Response(null, { status: is_taken ? 200 : 500 });
  },
});
console.log(server.url.origin);
