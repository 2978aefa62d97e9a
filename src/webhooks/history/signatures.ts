/** The signatures of attempts that were made, for people who compare them with what their receiver computes. */
import { nodeId } from "#kernel/ids";
import { secretsOf } from "../delivery/attempt.ts";
import type { DeliveryDeps } from "../delivery/deps.ts";
import { signatureHeaders } from "../delivery/signing.ts";
import type { DeliveryView } from "./view.ts";

export type SigningDeps = Pick<DeliveryDeps, "database" | "facts" | "sealer" | "realNowMs">;

/**
 * For each attempt the headers that signed it: made again, with the app's secret as it is now, because what an attempt has sent is not kept.
 * Undefined: it sent nothing, or the app is gone.
 */
export async function signaturesOf(
  deps: SigningDeps,
  { app, webhook_id, attempts }: DeliveryView,
  body: string,
): Promise<readonly (Readonly<Record<string, string>> | undefined)[]> {
  const of = await deps.facts.findApp(deps.database.reader, nodeId(app));
  return attempts.map(({ timestamp }) =>
    of === undefined || timestamp === undefined ? undefined : signatureHeaders(secretsOf(deps, of), { webhookId: webhook_id, timestamp, body }),
  );
}
