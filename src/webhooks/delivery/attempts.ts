/** What is stored of each attempt at a delivery, as JSON in its row. */
export interface Attempt {
  /** World time. */
  readonly time_ms: number;
  /** The callback's id; left out where no request was made to one. */
  readonly callback?: string;
  /** Unix seconds, real time: what its signatures were made with (D-62). Left out where no request was made. */
  readonly timestamp?: number;
  /** Left out where no response came. */
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

export function withAttempt(attempts: string, attempt: Attempt): string {
  const text = JSON.stringify(attempt);
  if (attempts === NO_ATTEMPTS) return `[${text}]`;
  const known = JSON.parse(attempts) as Attempt[];
  if (known.length >= ATTEMPTS_KEPT_MAX) known.splice(1, known.length - ATTEMPTS_KEPT_MAX + 1);
  return JSON.stringify([...known, attempt]);
}
