/** The statuses of webhooks and callbacks in words, with a sign and a colour that say the same as the words. */
const SIGNS: Readonly<Record<string, readonly [className: string, sign: string]>> = {
  delivered: ["good", "✓"],
  working: ["good", "✓"],
  waiting: ["quiet", "…"],
  sending: ["live", "↑"],
  failing: ["warn", "!"],
  failed: ["bad", "✕"],
  paused: ["bad", "❚❚"],
  unsubscribed: ["quiet", "−"],
};

const WORDS: Readonly<Record<string, string>> = {
  queued: "in the queue",
  retry: "retries later",
  callback_paused: "callback paused",
  no_callback: "no callback",
  callback_not_verified: "not verified",
  gone: "410 gone",
  gave_up: "retries used up",
  failed: "failed for five days",
  held: "by a person",
};

interface Status {
  readonly status: string;
  readonly reason?: string | undefined;
}

function StatusText({ status, reason }: Status) {
  const [className, sign] = SIGNS[status] ?? ["quiet", "·"];
  return (
    <span className={className}>
      <span aria-hidden="true">{sign}</span> {status}
      {reason !== undefined && `, ${WORDS[reason] ?? reason}`}
    </span>
  );
}

export const DeliveryStatus = StatusText;
export const CallbackStatus = StatusText;
