/**
 * The rule that attributes an event to an ad (D-74, ATTR clauses). The rule is a pure function of the event and the touches of the event's device. A
 * touch is a click on an ad or an impression of an ad.
 *
 * | rule | window | touch | ads |
 * |---|---|---|---|
 * | last click | `click_seconds` | the latest click, even if an impression is later | ads that may claim events of the app |
 * | view-through, if no click matches | `view_seconds` | the latest impression, if `views` allows the event | ads that may claim events of the app |
 */
import type { EventKind } from "../app-events.contract.ts";
import { CLICK_WINDOW_SECONDS, REPORT_CLICK_WINDOW_SECONDS, REPORT_VIEW_WINDOW_SECONDS, VIEW_WINDOW_SECONDS } from "../app-events.limits.ts";

export interface Ad {
  readonly id: string;
  readonly app: string;
  readonly campaign_id: string;
  readonly objective: string;
  /** The apps whose events can be attributed to the ad, if the ad does not have an app objective (ATTR-7). */
  readonly tracked_apps: readonly string[];
}

export interface Touch {
  /** The id of the touch. Touches that are recorded later have greater ids. */
  readonly id: string;
  readonly ad: Ad;
  readonly kind: "click" | "impression";
  /** The time of the touch in Unix seconds. */
  readonly time: number;
  /** The ids of the device on which the ad was clicked or seen. A touch that names only a person has no device ids. */
  readonly devices: readonly string[];
}

export interface AttributableEvent {
  readonly kind: EventKind;
  /** The time of the event in Unix seconds. */
  readonly time: number;
  /** D-76: if the value is 0, the event is attributed to an ad only in reports. */
  readonly advertiser_tracking_enabled: 0 | 1;
}

export interface Model {
  readonly click_seconds: number;
  readonly view_seconds: number;
  /** Tells which events may be attributed to impressions. */
  readonly views: "none" | "installs" | "all";
  /**
   * I1-12, D-76: if true, events whose `advertiser_tracking_enabled` is 0 are attributed, too. The interface's document allows the attribution of
   * such events only in reports.
   */
  readonly countsUntracked: boolean;
}

export const clicksAlone: Model = { click_seconds: CLICK_WINDOW_SECONDS, view_seconds: VIEW_WINDOW_SECONDS, views: "none", countsUntracked: false };
/** ATTR-4: the attribution windows for a request with `consider_views`, in which installs may be attributed to impressions. */
export const clicksAndViews: Model = { ...clicksAlone, views: "installs" };
/** LIM-12: the attribution windows for reports are 1 day for impressions and 28 days for clicks. */
export const reporting: Model = {
  click_seconds: REPORT_CLICK_WINDOW_SECONDS,
  view_seconds: REPORT_VIEW_WINDOW_SECONDS,
  views: "all",
  countsUntracked: true,
};

export interface Attribution {
  readonly touch: Touch;
  readonly cross_campaign: boolean;
  readonly cross_device: boolean;
}

/**
 * Returns the touch to which an event is attributed, or undefined if no touch may claim the event. `devices` are all ids of the event's device.
 * `touches` are the touches of the event's device, of its persons, and of the devices that are linked by these persons.
 */
export function attribute(
  event: AttributableEvent,
  devices: readonly string[],
  touches: readonly Touch[],
  app: string,
  model: Model,
): Attribution | undefined {
  if (event.advertiser_tracking_enabled === 0 && !model.countsUntracked) return undefined;
  const latest = (kind: Touch["kind"], seconds: number): Touch | undefined => {
    let found: Touch | undefined;
    for (const touch of touches) {
      if (touch.kind !== kind || touch.time > event.time || touch.time < event.time - seconds || claimOf(touch.ad, app) === undefined) continue;
      if (found === undefined || isLater(touch, found)) found = touch;
    }
    return found;
  };
  const isView = model.views === "all" || (model.views === "installs" && event.kind === "MOBILE_APP_INSTALL");
  const touch = latest("click", model.click_seconds) ?? (isView ? latest("impression", model.view_seconds) : undefined);
  if (touch === undefined) return undefined;
  return {
    touch,
    cross_campaign: claimOf(touch.ad, app) === "cross-campaign",
    // ATTR-8: an attribution is cross-device if the touch names device ids, but none of these ids belongs to the device of the event.
    cross_device: touch.devices.length > 0 && !touch.devices.some((id) => devices.includes(id)),
  };
}

/**
 * Returns whether the touch `one` is later than the touch `other`. If both touches happened in the same second, the touch that was recorded later
 * counts as later. Touch ids are decimal numbers without leading zeros, so a longer id is a greater number.
 */
const isLater = (one: Touch, other: Touch): boolean =>
  one.time !== other.time ? one.time > other.time : one.id.length !== other.id.length ? one.id.length > other.id.length : one.id > other.id;

const APP_OBJECTIVES: ReadonlySet<string> = new Set(["APP_INSTALLS", "APP_ENGAGEMENT"]);

/** Returns whether events of the app may be attributed to the ad. */
export const isClaimable = (ad: Ad, app: string): boolean => claimOf(ad, app) !== undefined;

/** ATTR-7: an ad with an app objective claims events of its own app. An ad without an app objective claims events of the apps that it tracks. */
function claimOf(ad: Ad, app: string): "own" | "cross-campaign" | undefined {
  if (APP_OBJECTIVES.has(ad.objective)) return ad.app === app ? "own" : undefined;
  return ad.tracked_apps.includes(app) ? "cross-campaign" : undefined;
}
