/** Problems of a world that need attention, from the server's own parts and from features (D-279). */
import type { World } from "#graph/worlds/world";

/** `error`: something is broken or lost; `warning`: something is late or will break; `notice`: it is intended, but may surprise others. */
export const alertLevels = ["error", "warning", "notice"] as const;

export interface Alert {
  /** E.g. `callback_paused`. */
  readonly kind: string;
  readonly level: (typeof alertLevels)[number];
  /** The id of the node that it is about. */
  readonly of: string;
  /** Sentences for people: the problem, its cause, and how it ends. */
  readonly text: string;
  /** World time in Unix seconds: when it began, or when it will happen. */
  readonly time?: number;
}

/** A person cannot deal with more. */
export const ALERTS_MAX = 100;

// This layer imports no features, and their type is in a lower one, so this declaration adds alerts to the type.
declare module "#graph/contract/feature" {
  interface Feature {
    /** Current problems of the feature's nodes. It is called every few seconds while somebody reads alerts, so it must read little. */
    alerts?(world: World): Promise<readonly Alert[]>;
  }
}
