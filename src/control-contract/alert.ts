/** Alerts are problems of a world that need attention. Alerts are reported by the server itself and by the features (D-279). */
import type { World } from "#graph/worlds/world";

/**
 * `error`: something is broken or lost. `warning`: something is late or will break. `notice`: somebody intended the situation,
 * but it may surprise other people.
 */
export const alertLevels = ["error", "warning", "notice"] as const;

export interface Alert {
  /** The kind of problem, e.g. `callback_paused`. */
  readonly kind: string;
  readonly level: (typeof alertLevels)[number];
  /** The id of the node that the problem is about. */
  readonly of: string;
  /** Sentences for people: the problem, its cause, and how the problem ends. */
  readonly text: string;
  /** World time in Unix seconds: when the problem began, or when the problem will happen. */
  readonly time?: number;
}

/** The greatest number of alerts in one response. The limit is low because a person cannot deal with more alerts. */
export const ALERTS_MAX = 100;

// This layer may not import features, and a lower layer defines the type `Feature`. Therefore this declaration adds `alerts` to the type `Feature`.
declare module "#graph/contract/feature" {
  interface Feature {
    /**
     * Lists the current problems of the feature's nodes. While somebody reads alerts, the server calls this function every few seconds, so
     * the function must make only small queries.
     */
    alerts?(world: World): Promise<readonly Alert[]>;
  }
}
