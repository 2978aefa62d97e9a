/** Checks the signatures of a webhook: `X-Hub-Signature-256`, and the headers of Standard Webhooks. */
import { createHmac, timingSafeEqual } from "node:crypto";

export type Headers = Readonly<Record<string, string | undefined>>;

/** The largest difference between the clocks of sender and receiver that Standard Webhooks recommends. */
const TOLERANCE_SECONDS = 300;

/** The problem with the signatures of a webhook; undefined if they are correct. `body` is the body exactly as it was received. */
export function signatureProblem(secret: string, headers: Headers, body: string): string | undefined {
  const hub = headers["x-hub-signature-256"];
  if (hub === undefined) return "X-Hub-Signature-256 is missing";
  if (!isSame(hub, `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`))
    return "X-Hub-Signature-256 was not made with the app's secret";
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (id === undefined || timestamp === undefined || signatures === undefined) return "webhook-id, webhook-timestamp or webhook-signature is missing";
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    return `webhook-timestamp ${timestamp} is too far from the present time`;
  const expected = `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  return signatures.split(" ").some((signature) => isSame(signature, expected)) ? undefined : "webhook-signature was not made with the app's secret";
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
