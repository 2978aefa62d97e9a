import type { NodeId } from "#kernel/ids";
import type { EventKind } from "../app-events.contract.ts";
import type { ReportedEvent } from "./parse-events.ts";
import type { Device } from "./parse-request.ts";

/** A valid I1 request. */
export interface Report {
  readonly app: NodeId;
  readonly kind: EventKind;
  readonly device: Device;
  /** Empty unless `kind` is `CUSTOM_APP_EVENTS`. */
  readonly events: readonly ReportedEvent[];
  /** The parameter that contained the events, for errors. */
  readonly list: string;
  readonly event_name_limit: number;
  /** Unix seconds. */
  readonly received: number;
}
