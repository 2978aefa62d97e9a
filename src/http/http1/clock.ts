/** Time, as the server gives it. */
export interface Clock {
  monotonicMs(): number;
  /** Of the calendar, for the Date header. */
  nowMs(): number;
}
