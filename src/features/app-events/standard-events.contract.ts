/** The two tables of the document, as data: standard events, and what each standard parameter holds. */

/** Means what the document says `_valueToSum` is; none: it is given no meaning. */
interface StandardEvent {
  readonly parameters: readonly StandardParameter[];
  readonly valueToSum?: string;
}

/** How a value is written. `json` forms are strings that hold JSON. */
type Form = "string" | "currency" | "content type" | "content ids" | "content list" | "integer" | "boolean";

/** EVT-37 to EVT-51; D-76 for `pf_ad_type` and `pf_order_id`. */
export const standardParameters = {
  pf_ad_type: "string",
  pf_content: "content list",
  pf_content_id: "content ids",
  pf_content_type: "content type",
  pf_currency: "currency",
  pf_description: "string",
  pf_level: "string",
  pf_max_rating_value: "integer",
  pf_num_items: "integer",
  pf_order_id: "string",
  pf_payment_info_available: "boolean",
  pf_registration_method: "string",
  pf_search_string: "string",
  pf_success: "boolean",
} as const satisfies Record<string, Form>;

export type StandardParameter = keyof typeof standardParameters;
export type ParameterForm = Form;

/** EVT-41. */
export const contentTypes = ["product", "product_group"] as const;

/** EVT-9 to EVT-32. */
export const standardEvents: Readonly<Record<string, StandardEvent>> = {
  AdClick: { parameters: ["pf_ad_type"] },
  AdImpression: { parameters: ["pf_ad_type"], valueToSum: "revenue of a third-party platform's ads shown in the app" },
  Contact: { parameters: [] },
  CustomizeProduct: { parameters: [] },
  Donate: { parameters: [] },
  FindLocation: { parameters: [] },
  Schedule: { parameters: [] },
  StartTrial: { parameters: ["pf_order_id", "pf_currency"], valueToSum: "price of the subscription" },
  SubmitApplication: { parameters: [] },
  Subscribe: { parameters: ["pf_order_id", "pf_currency"], valueToSum: "price of the subscription" },
  pf_mobile_achievement_unlocked: { parameters: ["pf_description"] },
  pf_mobile_activate_app: { parameters: [] },
  pf_mobile_add_payment_info: { parameters: ["pf_success"] },
  pf_mobile_add_to_cart: { parameters: ["pf_content_type", "pf_content_id", "pf_currency"], valueToSum: "price of the item added" },
  pf_mobile_add_to_wishlist: { parameters: ["pf_content_type", "pf_content_id", "pf_currency"], valueToSum: "price of the item added" },
  pf_mobile_complete_registration: { parameters: ["pf_registration_method"] },
  pf_mobile_content_view: { parameters: ["pf_content_type", "pf_content_id", "pf_currency"], valueToSum: "price of the item viewed, if it has one" },
  pf_mobile_initiated_checkout: {
    parameters: ["pf_content_type", "pf_content_id", "pf_num_items", "pf_payment_info_available", "pf_currency"],
    valueToSum: "total price of what is in the cart",
  },
  pf_mobile_level_achieved: { parameters: ["pf_level"] },
  pf_mobile_purchase: { parameters: ["pf_num_items", "pf_content_type", "pf_content_id", "pf_currency"], valueToSum: "price of the purchase" },
  pf_mobile_rate: { parameters: ["pf_content_type", "pf_content_id", "pf_max_rating_value"], valueToSum: "the rating" },
  pf_mobile_search: { parameters: ["pf_content_type", "pf_search_string", "pf_success"] },
  pf_mobile_spent_credits: { parameters: ["pf_content_type", "pf_content_id"], valueToSum: "total value of the credits spent" },
  pf_mobile_tutorial_completion: { parameters: ["pf_success", "pf_content_id"] },
};

/** EVT-34: reported by the device itself while the app logs events automatically. */
export const ACTIVATE_APP = "pf_mobile_activate_app";

export const isStandardEvent = (name: string): boolean => Object.hasOwn(standardEvents, name);

const priced = new Set(Object.keys(standardEvents).filter((name) => standardEvents[name]?.parameters.includes("pf_currency")));

/** EVT-43, D-76: the event's row lists `pf_currency`, so a `_valueToSum` is a price. */
export const isPriced = (name: string): boolean => priced.has(name);
