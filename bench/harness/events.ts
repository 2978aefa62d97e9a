/** Makes the requests for the benches of app events: requests of I1, as an advertiser's server sends them. */
import { APP } from "./data.ts";
import type { LoadRequest } from "./load.ts";

const EVENTS_TOKEN = "PLZeventseventseventseventseventseventsevent";

export const eventsWorld = {
  apps: [{ id: APP, name: "Bench", secret: "bench-secret" }],
  tokens: [{ token: EVENTS_TOKEN, type: "app", app: APP }],
};

/** The names of events. An app has some dozens of names, and reports a few of them most often. */
const NAMES = [
  "pf_mobile_content_view",
  "pf_mobile_add_to_cart",
  "pf_mobile_purchase",
  "pf_mobile_search",
  "menu opened",
  "level up",
  "share",
  "login",
];

/** Makes an event. `{number}` differs in each request, so that no event is a duplicate of another event. */
function event(index: number): Record<string, unknown> {
  const _eventName = NAMES[index % NAMES.length] as string;
  const price =
    index % NAMES.length < 3 ? { _valueToSum: 21.97, pf_currency: "EUR", pf_content_type: "product", pf_content_id: "4006381333931" } : {};
  return { _eventName, event_id: `order-{number}-${index}`, ...price, pf_description: "a few words about it" };
}

/** Makes requests with `count` events each. `first` is the number of the first request. */
export const eventsRequest = (count: number, first: number): LoadRequest => ({
  method: "POST",
  target: `/v26.0/${APP}/activities`,
  headers: { Authorization: `Bearer ${EVENTS_TOKEN}`, "Content-Type": "application/json", "X-Forwarded-For": "203.0.113.7" },
  body: JSON.stringify({
    event: "CUSTOM_APP_EVENTS",
    advertiser_id: "38400000-8cf0-11bd-b23e-{number}0000",
    application_tracking_enabled: 1,
    advertiser_tracking_enabled: 1,
    custom_events: Array.from({ length: count }, (_, index) => event(index)),
  }),
  number: { kind: "counted", first },
});

/**
 * The number of eight-digit numbers that a round can use for its requests. A round sends fewer requests than there are numbers.
 */
export const REQUESTS_PER_ROUND = 4_000_000;
export const CONNECTIONS = 64;
