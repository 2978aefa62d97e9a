/** What needs somebody's attention, of the server's own parts and of features (D-279). */
import type { World } from "#graph/worlds/world";

/**
 * `error`: something is broken or lost by now; `warning`: it will be, or comes late; `notice`: somebody has asked for it, and others may wonder.
 */
export const alertLevels = ["error", "warning", "notice"] as const;

export interface Alert {
  /** E.g. `callback_paused`. */
  readonly kind: string;
  readonly level: (typeof alertLevels)[number];
  /** What it is about: an id, by which a caller finds it. */
  readonly of: string;
  /** What is wrong, why, and what ends it: sentences for people. */
  readonly text: string;
  /** World time in Unix seconds: since when, or when it comes. */
  readonly time?: number;
}

/** As many as a person can see to. */
export const ALERTS_MAX = 100;

// Features stand above this layer and their type below it, so the type learns of alerts from here.
declare module "#graph/contract/feature" {
  interface Feature {
    /** What of the feature's own nodes needs attention now. It is asked every few seconds while somebody looks, so it reads little. */
    alerts?(world: World): Promise<readonly Alert[]>;
  }
}
