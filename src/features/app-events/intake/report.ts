import type { NodeId } from "#kernel/ids";
import type { EventKind } from "../app-events.contract.ts";
import type { ReportedEvent } from "./parse-events.ts";
import type { Device } from "./parse-request.ts";

/** A request of I1 that was found right in itself. */
export interface Report {
  readonly app: NodeId;
  readonly kind: EventKind;
  readonly device: Device;
  /** Empty but for custom events. */
  readonly events: readonly ReportedEvent[];
  /** The parameter that held the events, for errors. */
  readonly list: string;
  readonly event_name_limit: number;
  /** Unix seconds. */
  readonly received: number;
}
