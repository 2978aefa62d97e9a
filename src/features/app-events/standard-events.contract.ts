import { SHAPE_OF } from "#graph/schema/schema-node";

/** The two tables of app events in the interface's document: the standard events, and the form of each standard parameter. */

/**
 * A standard event in the document's table. `valueToSum` is the meaning of the event's `_valueToSum`, and is absent if the document gives no meaning.
 */
interface StandardEvent {
  readonly clause: string;
  readonly parameters: readonly StandardParameter[];
  readonly valueToSum?: string;
}

/**
 * The form of a standard parameter's value. The value of a `content ids` parameter may be JSON text; the value of a `content list` parameter always
 * is JSON text.
 */
type Form = "string" | "currency" | "content type" | "content ids" | "content list" | "integer" | "boolean";

/** EVT-37 to EVT-51: the form of each standard parameter. D-76 adds `pf_ad_type` and `pf_order_id`. */
export const standardParameters = {
  pf_ad_type: "string", // D-76
  pf_content: "content list", // EVT-39
  pf_content_id: "content ids", // EVT-37
  pf_content_type: "content type", // EVT-41
  pf_currency: "currency", // EVT-42
  pf_description: "string", // EVT-44
  pf_level: "string", // EVT-45
  pf_max_rating_value: "integer", // EVT-46
  pf_num_items: "integer", // EVT-47
  pf_order_id: "string", // D-76
  pf_payment_info_available: "boolean", // EVT-48
  pf_registration_method: "string", // EVT-49
  pf_search_string: "string", // EVT-50
  pf_success: "boolean", // EVT-51
} as const satisfies Record<string, Form>;

type StandardParameter = keyof typeof standardParameters;
export type ParameterForm = Form;

/** EVT-41: the allowed values of `pf_content_type`. */
export const contentTypes = ["product", "product_group"] as const;

/** EVT-9 to EVT-32: the standard events and their parameters. */
export const standardEvents: Readonly<Record<string, StandardEvent>> = {
  AdClick: { clause: "EVT-9", parameters: ["pf_ad_type"] },
  AdImpression: { clause: "EVT-10", parameters: ["pf_ad_type"], valueToSum: "revenue of a third-party platform's ads shown in the app" },
  Contact: { clause: "EVT-11", parameters: [] },
  CustomizeProduct: { clause: "EVT-12", parameters: [] },
  Donate: { clause: "EVT-13", parameters: [] },
  FindLocation: { clause: "EVT-28", parameters: [] },
  Schedule: { clause: "EVT-29", parameters: [] },
  StartTrial: { clause: "EVT-30", parameters: ["pf_order_id", "pf_currency"], valueToSum: "price of the subscription" },
  SubmitApplication: { clause: "EVT-31", parameters: [] },
  Subscribe: { clause: "EVT-32", parameters: ["pf_order_id", "pf_currency"], valueToSum: "price of the subscription" },
  pf_mobile_achievement_unlocked: { clause: "EVT-14", parameters: ["pf_description"] },
  pf_mobile_activate_app: { clause: "EVT-15", parameters: [] },
  pf_mobile_add_payment_info: { clause: "EVT-16", parameters: ["pf_success"] },
  pf_mobile_add_to_cart: { clause: "EVT-17", parameters: ["pf_content_type", "pf_content_id", "pf_currency"], valueToSum: "price of the item added" },
  pf_mobile_add_to_wishlist: {
    clause: "EVT-18",
    parameters: ["pf_content_type", "pf_content_id", "pf_currency"],
    valueToSum: "price of the item added",
  },
  pf_mobile_complete_registration: { clause: "EVT-19", parameters: ["pf_registration_method"] },
  pf_mobile_content_view: {
    clause: "EVT-20",
    parameters: ["pf_content_type", "pf_content_id", "pf_currency"],
    valueToSum: "price of the item viewed, if applicable",
  },
  pf_mobile_initiated_checkout: {
    clause: "EVT-21",
    parameters: ["pf_content_type", "pf_content_id", "pf_num_items", "pf_payment_info_available", "pf_currency"],
    valueToSum: "total price of the cart",
  },
  pf_mobile_level_achieved: { clause: "EVT-22", parameters: ["pf_level"] },
  pf_mobile_purchase: {
    clause: "EVT-23",
    parameters: ["pf_num_items", "pf_content_type", "pf_content_id", "pf_currency"],
    valueToSum: "price of the purchase",
  },
  pf_mobile_rate: { clause: "EVT-24", parameters: ["pf_content_type", "pf_content_id", "pf_max_rating_value"], valueToSum: "the rating" },
  pf_mobile_search: { clause: "EVT-25", parameters: ["pf_content_type", "pf_search_string", "pf_success"] },
  pf_mobile_spent_credits: { clause: "EVT-26", parameters: ["pf_content_type", "pf_content_id"], valueToSum: "total value of the credits spent" },
  pf_mobile_tutorial_completion: { clause: "EVT-27", parameters: ["pf_success", "pf_content_id"] },
};

/** EVT-34: the name of the event that the platform's SDK reports by itself if the app logs events automatically. */
export const ACTIVATE_APP = "pf_mobile_activate_app";

export const isStandardEvent = (name: string): boolean => Object.hasOwn(standardEvents, name);

const priced = new Set(Object.keys(standardEvents).filter((name) => standardEvents[name]?.parameters.includes("pf_currency")));

/** EVT-43, D-76: the `_valueToSum` of a standard event is a price if the event's row in the document's table lists `pf_currency`. */
export const isPriced = (name: string): boolean => priced.has(name);

/**
 * EVT-42: the allowed currency codes: the active codes of ISO 4217 (list one, including funds, metals and testing), and the codes that were withdrawn
 * since 2015, because goods may still be priced in withdrawn currencies.
 */
const CODES = `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU
  CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY
  KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR
  NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY
  TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX
  YER ZAR ZMW ZWG
  ANG BYR CUC HRK LTL MRO SLL STD VEF ZWL`;

export const currencies: ReadonlySet<string> = new Set(CODES.trim().split(/\s+/));

/** The JSON Schema of a currency, for the contract and the documents. */
export const currencyCode = { type: "string", enum: [...currencies], [SHAPE_OF]: "currency" } as const;
