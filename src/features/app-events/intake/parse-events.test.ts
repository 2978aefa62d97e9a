import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "#graph/response/json";
import { GraphError } from "#kernel/errors";
import { standardEvents, standardParameters } from "../standard-events.contract.ts";
import { type EventContext, readEvents } from "./parse-events.ts";

const context: EventContext = {
  list: "custom_events",
  received: 1_795_000_000,
  advertiser_tracking_enabled: 1,
  automatic_event_logging: false,
  profile: "strict",
};

const read = (event: unknown) => {
  const [found] = readEvents([event], context);
  if (found === undefined) throw new Error("nothing was read");
  return found;
};

/** Returns the parameter that the error for these events names, or undefined if the events are accepted. */
function refusedAt(events: readonly unknown[], more: Partial<EventContext> = {}): unknown {
  try {
    readEvents(events, { ...context, ...more });
    return undefined;
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    expect(error.errorName).toBe("invalidParameter");
    return error.details.data?.parameter;
  }
}

/** A valid value for each type of parameter. */
const values: Record<string, unknown> = {
  string: "text",
  currency: "EUR",
  "content type": "product",
  "content ids": "4006381333931",
  "content list": '[{"id":"a","quantity":2}]',
  integer: 3,
  boolean: 1,
};

test.each(Object.entries(standardEvents))("EVT: %s is accepted with its parameters", (name, { parameters, valueToSum }) => {
  const given = Object.fromEntries(parameters.map((parameter) => [parameter, values[standardParameters[parameter]]]));
  const event = read({ _eventName: name, ...(valueToSum === undefined ? {} : { _valueToSum: 9.99 }), ...given });
  expect(event.name).toBe(name);
  expect(event.value).toBe(valueToSum === undefined ? undefined : 9_990_000n);
  expect(event.parameters === "" ? {} : JSON.parse(event.parameters)).toEqual(given);
});

test.each(Object.entries(standardEvents).filter(([, { parameters }]) => parameters.includes("pf_currency")))(
  "EVT-43: %s needs pf_currency with a price, and does not without one",
  (name) => {
    expect(refusedAt([{ _eventName: name, _valueToSum: 1 }])).toBe("custom_events[0].pf_currency");
    expect(refusedAt([{ _eventName: name }])).toBeUndefined();
  },
);

test("EVT-43, D-76: an event without a currency in its row needs none", () => {
  for (const name of ["AdImpression", "pf_mobile_rate", "pf_mobile_spent_credits", "custom"])
    expect(refusedAt([{ _eventName: name, _valueToSum: 4 }])).toBeUndefined();
});

const ids = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => `item-${at}`));
const contents = (count: number) => JSON.stringify(Array.from({ length: count }, (_, at) => ({ id: `item-${at}`, quantity: at, item_price: 9.99 })));

test.each([
  ["EVT-1", "_eventName", [undefined, null, "", 5, "-x", " x", "a/b", "ä", "x".repeat(41), "a\nb"], ["x", "_x", "0 a-b_C", "x".repeat(40)]],
  [
    "EVT-35",
    "_logTime",
    ["soon", 1.5, -1, true, 1_795_000_000_000, "1.5", 253_402_300_800],
    [1_795_000_000, "1795000000", 0, null, 253_402_300_799, "253402300799"],
  ],
  ["EVT-36", "_valueToSum", ["x", true, {}, 1e13], [1, -1.5, "12.50", 0, "1.1234567", 1e-7, null]],
  [
    "EVT-38",
    "pf_content_id",
    [5, "[", "[1]", "[]x", '["a",""]', "x".repeat(101), `["${"x".repeat(101)}"]`, ids(1_001)],
    ["a", '["a","b"]', "x".repeat(100), ids(1_000)],
  ],
  [
    "EVT-39",
    "pf_content",
    ["", "{}", "[1]", "[[]]", '[{"id":"a"}]', '[{"quantity":1}]', '[{"id":"a","quantity":"x"}]', [{ id: "a", quantity: 1 }], contents(1_001)],
    ['[{"id":"a","quantity":1},{"id":7,"quantity":2}]', contents(1_000)],
  ],
  ["EVT-40", "pf_content", ['[{"id":"a","quantity":1,"item_price":"x"}]'], ['[{"id":"a","quantity":1,"item_price":9.99,"price":"3"}]']],
  ["EVT-41", "pf_content_type", ["thing", "Product", 1], ["product", "product_group"]],
  ["EVT-42", "pf_currency", ["EURO", "eur", "XYZ", "", 978], ["EUR", "USD", "JPY"]],
  ["EVT-44", "pf_description", [1, {}, "\u0000", "\ud800", "x".repeat(101)], ["", "a", "ß".repeat(100), "👍".repeat(100)]],
  ["EVT-45", "pf_level", [5, true], ["5", "boss"]],
  ["EVT-46", "pf_max_rating_value", [1.5, "five", -1, true, "5.0"], [5, "5", 0]],
  ["EVT-47", "pf_num_items", [1.5, "two", {}, -3], [2, "2"]],
  ["EVT-48", "pf_payment_info_available", [2, "yes", ""], [1, 0, "1", "0", true, false, "true", "True", "FALSE"]],
  ["EVT-49", "pf_registration_method", [1], ["mail"]],
  ["EVT-50", "pf_search_string", [1, ["a"]], ["shoes"]],
  ["EVT-51", "pf_success", [-1, "no"], [1, 0, false]],
  ["D-76", "pf_ad_type", [1], ["banner"]],
  ["D-76", "pf_order_id", [1], ["A-1"]],
  ["I1-17", "event_id", ["", true, {}, "x".repeat(101), "a\u0000"], ["e-1", 17, null, "x".repeat(100)]],
  ["D-76", "advertiser_tracking_enabled", [2, true, "yes"], [0, 1, "0", "1", null]],
  ["D-76", "anything_else", ["x".repeat(101), { a: "x".repeat(100) }, { a: "\ud800" }], ["x", 5, true, { a: 1 }, [1, 2], null]],
] as const)("%s: %s is checked", (_clause, parameter, wrong, right) => {
  const event = (value: unknown) => ({ _eventName: "x", [parameter]: value });
  for (const value of wrong) expect({ value, at: refusedAt([event(value)]) }).toEqual({ value, at: `custom_events[0].${parameter}` });
  for (const value of right) expect({ value, at: refusedAt([event(value)]) }).toEqual({ value, at: undefined });
});

test.each([
  ["pf_content", '[{"id":"a"}]', "is wrong: [0].quantity is required"],
  ["pf_content", '[{"id":"a","quantity":1},{"id":"a","quantity":-1}]', "is wrong: [1].quantity must not be negative"],
  ["pf_content", '[{"id":"a","quantity":1.5}]', "is wrong: [0].quantity must be an integer"],
  ["pf_content", '[{"id":"","quantity":1}]', "is wrong: [0].id must not be empty"],
  ["pf_content", '[{"quantity":1}]', "is wrong: [0].id is required"],
  ["pf_content", '[{"id":"a","quantity":1,"price":"x"}]', "is wrong: [0].price must be a number"],
  ["pf_content", `[{"id":"a","quantity":1,"brand":"${"x".repeat(101)}"}]`, "is wrong: [0].brand must have at most 100 characters"],
  ["pf_content", "[7]", "is wrong: [0] must be an object"],
  ["pf_content", "[null]", "is wrong: [0] must be an object"],
  ["pf_content", '[{"id":null,"quantity":1}]', "is wrong: [0].id is required"],
  ["pf_content", '[{"id":true,"quantity":1}]', "is wrong: [0].id must be a string"],
  ["pf_content", '[{"id":"a","quantity":null}]', "is wrong: [0].quantity is required"],
  ["pf_content", '[{"id":"a","quantity":"1","item_price":true}]', "is wrong: [0].item_price must be a number"],
  ["pf_content", `[{"id":"a","quantity":1,"${"x".repeat(101)}":1}]`, "is wrong: [0] has a key that must have at most 100 characters"],
  ["pf_content_id", "[null]", "is wrong: [0] is required"],
  ["pf_num_items", "-5", "must not be negative"],
  ["pf_num_items", "9007199254740993", "must be an integer"],
  ["_eventName", null, "is required"],
  ["_eventName", 5, "must be 1 to 40 letters"],
  ["event_id", "", "must not be empty"],
  ["event_id", true, "must be a string"],
  ["_valueToSum", true, "must be a number"],
  ["_logTime", true, "must be an integer"],
  ["_logTime", -1, "must be Unix seconds, of a time from 1970 to the year 9999"],
  ["_logTime", 253_402_300_800, "must be Unix seconds, of a time from 1970 to the year 9999"],
  ["pf_content_id", '["a",7]', "is wrong: [1] must be a string"],
  ["pf_content_id", ids(1_001), "must have at most 1000 items"],
  ["pf_num_items", -1, "must not be negative"],
  ["pf_num_items", "two", "must be an integer"],
])("D-70: the message for %s says what is wrong", (parameter, value, problem) => {
  expect(() => readEvents([{ _eventName: "x", [parameter]: value }], context)).toThrow(`(#100) Param custom_events[0].${parameter} ${problem}`);
});

test("D-70: the error names the index of the first invalid event", () => {
  const right = { _eventName: "x" };
  expect(refusedAt([right, right, { _eventName: "x", pf_success: 3 }, {}])).toBe("custom_events[2].pf_success");
  expect(refusedAt([right, "no object"])).toBe("custom_events[1]");
  expect(refusedAt([right, ["no object"]])).toBe("custom_events[1]");
  expect(refusedAt([{}], { list: "custom_events_file" })).toBe("custom_events_file[0]._eventName");
});

test("D-70: 25 parameters are accepted, 26 are not; the event's own properties do not count", () => {
  const own = { _eventName: "x", event_id: "1", _logTime: 1, _valueToSum: 1, advertiser_tracking_enabled: 1 };
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
  expect(refusedAt([{ ...own, ...many(25), none: null }])).toBeUndefined();
  expect(refusedAt([{ ...own, ...many(26) }])).toBe("custom_events[0].p25");
});

test("D-70: a parameter's name has at most 100 storable characters, and the error shows no more of it", () => {
  const at = (name: string) => refusedAt([{ _eventName: "x", [name]: 1 }]);
  const long = `${"x".repeat(99)}yz`;
  expect([at(long.slice(0, 100)), at(long)]).toEqual([undefined, `custom_events[0].${long.slice(0, 100)}`]);
  expect([at("a\u0000b"), at("a\ud800")]).toEqual(["custom_events[0].ab", "custom_events[0].a\ufffd"]);
});

test("D-76: an unknown parameter is a number of at most 100 digits, or JSON of at most 100 characters", () => {
  const at = (json: string) => {
    const [event] = parseJson(`[{"_eventName":"x","p":${json}}]`, "it") as unknown[];
    return refusedAt([event]);
  };
  const list = (length: number) => JSON.stringify(["x".repeat(length - 4)]);
  expect([at("1".repeat(100)), at(list(100))]).toEqual([undefined, undefined]);
  expect([at("1".repeat(101)), at(list(101))]).toEqual(["custom_events[0].p", "custom_events[0].p"]);
});

test("null counts as absent: the event then has the request's time and flag, and neither a value nor a key", () => {
  const none = { event_id: null, _logTime: null, _valueToSum: null, advertiser_tracking_enabled: null, p: null };
  expect(read({ _eventName: "x", ...none })).toEqual(read({ _eventName: "x" }));
  expect(read({ _eventName: "x" })).toMatchObject({ event_id: undefined, value: undefined, parameters: "" });
});

test("a parameter that is null is not stored, even if all others are texts and numbers", () => {
  expect(read({ _eventName: "x", a: "b", no: null, n: 1 }).parameters).toBe('{"a":"b","n":1}');
});

test("EVT-34: pf_mobile_activate_app is refused while the app logs events automatically", () => {
  expect(refusedAt([{ _eventName: "pf_mobile_activate_app" }], { automatic_event_logging: true })).toBe("custom_events[0]._eventName");
  expect(refusedAt([{ _eventName: "pf_mobile_activate_app" }])).toBeUndefined();
});

test("D-76: unknown parameters are kept as sent, long numbers digit by digit", () => {
  const text = '[{"_eventName":"x","__proto__":1,"a":"b","big":12345678901234567890.5,"in":{"big":12345678901234567891},"no":null}]';
  const [event] = readEvents(parseJson(text, "it") as unknown[], context);
  expect(event?.parameters).toBe('{"__proto__":1,"a":"b","big":"12345678901234567890.5","in":{"big":"12345678901234567891"}}');
});

test("D-293: in clients a list may be JSON, is stored as text, and has the same limits", () => {
  const of = (event: object) => readEvents([{ _eventName: "x", ...event }], { ...context, profile: "clients" })[0]?.parameters;
  const [list] = parseJson('[[{"id":"é😀","quantity":1,"item_price":1234567890.1234567890}]]', "it") as unknown[];
  expect(of({ pf_content: list })).toBe(JSON.stringify({ pf_content: '[{"id":"é😀","quantity":1,"item_price":1234567890.1234567890}]' }));
  expect(of({ pf_content_id: ["a", "b"], pf_num_items: 2 })).toBe(JSON.stringify({ pf_content_id: '["a","b"]', pf_num_items: 2 }));
  expect(of({ shades: ["red"] })).toBe('{"shades":["red"]}');
  for (const [parameter, wrong] of [
    ["pf_content", [{ id: "a" }]],
    ["pf_content", [{ id: "a\ud800", quantity: 1 }]],
    ["pf_content", { id: "a", quantity: 1 }],
    ["pf_content_id", [7]],
    ["pf_content_id", new Array(1_001).fill("a")],
    ["pf_content_type", ["product"]],
  ] as const) {
    expect(refusedAt([{ _eventName: "x", [parameter]: wrong }], { profile: "clients" })).toBe(`custom_events[0].${parameter}`);
  }
  for (const parameter of ["pf_content", "pf_content_id"])
    expect(refusedAt([{ _eventName: "x", [parameter]: [] }])).toBe(`custom_events[0].${parameter}`);
});

test("EVT-36, D-70: a value is read without a binary float", () => {
  const [event] = readEvents(parseJson('[{"_eventName":"x","_valueToSum":123456789012.123457}]', "it") as unknown[], context);
  expect(event?.value).toBe(123_456_789_012_123_457n);
});

test("EVT-35, D-76: an event has the request's time and tracking unless it has its own", () => {
  expect(read({ _eventName: "x" })).toMatchObject({ time: 1_795_000_000, advertiser_tracking_enabled: 1 });
  expect(read({ _eventName: "x", _logTime: 7, advertiser_tracking_enabled: "0" })).toMatchObject({ time: 7, advertiser_tracking_enabled: 0 });
});

test("any event is accepted, or refused with the parameter's name, and never causes another error", () => {
  const name = fc.oneof(
    fc.constantFrom("_eventName", "event_id", "_logTime", "_valueToSum", ...Object.keys(standardParameters)),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue({ stringUnit: "binary" }), { maxKeys: 30 }), (event) => {
      const parameter = refusedAt([{ _eventName: "x", ...event }]);
      expect(parameter === undefined || String(parameter).startsWith("custom_events[0]")).toBeTrue();
    }),
    { numRuns: 500 },
  );
});
