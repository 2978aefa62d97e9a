/** An attempt at a delivery, as its row stores it in JSON. */
export interface Attempt {
  /** World time. */
  readonly time_ms: number;
  /** The callback's id; left out if no request was made. */
  readonly callback?: string;
  /** The time of its signatures (D-62), Unix seconds, real time. Left out if no request was made. */
  readonly timestamp?: number;
  /** Left out if no response came. */
  readonly status?: number;
  /** Real time. */
  readonly latency_ms?: number;
  /** The first bytes of the response, as text. */
  readonly answer?: string;
  /** Why no response came, e.g. `timeout: no whole response came in time`. */
  readonly error?: string;
}

/** A full retry table and a few replays; of more, the first and the last are kept. */
const ATTEMPTS_KEPT_MAX = 30;

/** Of a delivery that was not sent yet. */
export const NO_ATTEMPTS = "[]";

export function withAttempts(attempts: string, added: readonly Attempt[]): string {
  if (attempts === NO_ATTEMPTS && added.length < ATTEMPTS_KEPT_MAX) return JSON.stringify(added);
  const all = [...(JSON.parse(attempts) as Attempt[]), ...added];
  if (all.length > ATTEMPTS_KEPT_MAX) all.splice(1, all.length - ATTEMPTS_KEPT_MAX);
  return JSON.stringify(all);
}
