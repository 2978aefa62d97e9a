/**
 * The route of an event for one app (ROUTE-1 to ROUTE-3, ROUTE-17, D-63):
 *
 * | field | phone override | account override | app callback | goes to |
 * | --- | --- | --- | --- | --- |
 * | honours overrides | set | any | any | the phone's override |
 * | honours overrides | none | set | any | the account's override |
 * | honours overrides | none | none | verified | the app's callback |
 * | ignores overrides | any | any | verified | the app's callback |
 * | any | no override applies | no override applies | none, or not verified | no callback yet: the event waits |
 */
export interface AppCallback {
  readonly url: string;
  /** Whether the handshake with the callback succeeded (D-61). */
  readonly isVerified: boolean;
}

export interface RouteFacts {
  readonly honoursOverrides: boolean;
  /**
   * The URL of the override for the phone number of the event. The URL needs no check, because overrides were verified when they were set (ROUTE-27,
   * D-57).
   */
  readonly phoneOverride: string | undefined;
  readonly accountOverride: string | undefined;
  readonly appCallback: AppCallback | undefined;
}

export type Route =
  | { readonly to: "phone" | "account" | "app"; readonly url: string }
  | { readonly to: "nowhere"; readonly reason: "no_callback" | "callback_not_verified" };

export function routeOf({ honoursOverrides, phoneOverride, accountOverride, appCallback }: RouteFacts): Route {
  if (honoursOverrides && phoneOverride !== undefined) return { to: "phone", url: phoneOverride };
  if (honoursOverrides && accountOverride !== undefined) return { to: "account", url: accountOverride };
  if (appCallback === undefined) return { to: "nowhere", reason: "no_callback" };
  if (!appCallback.isVerified) return { to: "nowhere", reason: "callback_not_verified" };
  return { to: "app", url: appCallback.url };
}
