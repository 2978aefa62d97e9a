/** Webhooks that do not arrive. */
import { ALERTS_MAX, type Alert } from "#control-contract/alert";
import type { World } from "#graph/worlds/world";
import { type CallbackRow, listTroubled } from "#webhooks/callbacks/callbacks.store";
import { isGone, isHeld } from "#webhooks/callbacks/health";
import { countUnrouted, UNROUTED_MAX } from "#webhooks/history/unrouted.store";

const WAITS = "What is made for it waits until it is resumed";

function callbackAlert(callback: CallbackRow): Alert {
  const { id, url, app, failing_since_ms, alerted_ms, paused_ms } = callback;
  const name = `The callback ${url} of app ${app}`;
  if (paused_ms !== null) {
    const [level, text] = isHeld(callback)
      ? (["notice", `${name} is paused by a person. ${WAITS}.`] as const)
      : isGone(callback)
        ? (["error", `${name} is paused, because it returned 410. ${WAITS}.`] as const)
        : ([
            "error",
            `${name} is paused, because every attempt failed for five days. ${WAITS}, or until one of its hourly attempts succeeds.`,
          ] as const);
    return { kind: "callback_paused", level, of: id, text, time: paused_ms / 1000 };
  }
  const since = (failing_since_ms ?? 0) / 1000;
  // D-137: an hour of failures is more than a restart of the receiver.
  const level = alerted_ms === null ? "warning" : "error";
  return {
    kind: "callback_failing",
    level,
    of: id,
    text: `${name} fails. What is made for it is tried again, and is paused after five days.`,
    time: since,
  };
}

const countText = (count: number): string =>
  count === 1 ? "1 webhook waits" : `${count >= UNROUTED_MAX ? `${count} webhooks and more` : `${count} webhooks`} wait`;

export async function webhookAlerts({ database: { reader } }: World): Promise<readonly Alert[]> {
  const callbacks = await listTroubled(reader, ALERTS_MAX);
  const unrouted = await countUnrouted(reader);
  return [
    ...callbacks.map(callbackAlert),
    ...unrouted.map(
      ({ app, count }): Alert => ({
        ...{ kind: "no_callback", level: "warning", of: app },
        text: `${countText(count)} for a callback of app ${app}: it has none that is verified.`,
      }),
    ),
  ];
}
