/** An attempt at a delivery, as its row stores it in JSON. */
export interface Attempt {
  /** World time at which the attempt began. */
  readonly time_ms: number;
  /** The id of the callback to which the request was sent; undefined if no request was made. */
  readonly callback?: string;
  /** The time in the attempt's signatures (D-62), in Unix seconds of real time; undefined if no request was made. */
  readonly timestamp?: number;
  /** The HTTP status of the response; undefined if no response came. */
  readonly status?: number;
  /** The real time in ms that the request took. */
  readonly latency_ms?: number;
  /** The first bytes of the response, as text. */
  readonly answer?: string;
  /** The reason if no response came, for example `timeout: the response was not complete in time`. */
  readonly error?: string;
}

/**
 * The number of attempts that a row stores, enough for all retries and a few replays. If a delivery has more attempts, only its first and last
 * attempts are stored.
 */
const ATTEMPTS_KEPT_MAX = 30;

/** The JSON list of the attempts at a delivery that was never sent. */
export const NO_ATTEMPTS = "[]";

export function withAttempts(attempts: string, added: readonly Attempt[]): string {
  if (attempts === NO_ATTEMPTS && added.length < ATTEMPTS_KEPT_MAX) return JSON.stringify(added);
  const all = [...(JSON.parse(attempts) as Attempt[]), ...added];
  if (all.length > ATTEMPTS_KEPT_MAX) all.splice(1, all.length - ATTEMPTS_KEPT_MAX);
  return JSON.stringify(all);
}
