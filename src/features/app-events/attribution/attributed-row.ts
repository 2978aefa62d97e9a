import type { Row } from "#storage/sql";

/** A row of attribution as the handler makes it: flags are 1 and 0; null is absent. */
export interface AttributedRow extends Row {
  readonly event: "MOBILE_APP_INSTALL" | "CUSTOM_APP_EVENTS" | "DEFERRED_APP_LINK";
  readonly event_name: string | null;
  readonly event_time: number;
  readonly ad_id: string;
  readonly campaign_id: string;
  readonly click_time: number | null;
  readonly is_view_through: 1 | null;
  readonly view_time: number | null;
  readonly cross_campaign: 0 | 1;
  readonly cross_device: 0 | 1;
}
