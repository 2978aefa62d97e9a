/** Draws steps that use labels and personas. */
import fc, { type Arbitrary } from "fast-check";
import { badText, body, callers, fields, list, node, oneOf, request, strayNode, text } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";

const tokens = callers("three", [
  "cafe-page",
  "cafe-page",
  "cafe-page",
  "ada-user",
  "ada-system-user",
  "cafe-page-of-other-app",
  "cafe-page-of-new-app",
  "cafe-page-expires-soon",
  "cafe-page-without-person",
  "cafe-page-data-ends-soon",
  "bar-page",
]);

const page: Arbitrary<NodeName> = oneOf<NodeName>(
  [12, fc.constant({ id: "2001" })],
  [2, fc.constant({ id: "2002" })],
  [2, fc.constant({ id: "me" })],
  [1, strayNode],
);
const label = oneOf([12, node("label")], [1, strayNode]);
const persona = oneOf([12, node("persona")], [1, strayNode]);
const person = oneOf([12, node("page_person")], [1, strayNode]);

/** The names of labels: a few names that repeat often, and random other names. */
const labelName: Arbitrary<Value> = oneOf<Value>(
  [6, fc.constantFrom("vip", "VIP", "regular", "new", "  new ", "straße", "STRASSE", "e\u0301", "é", "😀")],
  [5, text(20)],
  [1, fc.constantFrom("", "   ", "\t\n", "x".repeat(80), "x".repeat(81), "😀".repeat(80), "😀".repeat(81), ` ${"y".repeat(80)} `)],
  [2, fc.constantFrom(undefined, null, true, 12, 1.5, 12, ["a"], { a: "b" })],
  [1, badText],
);

const psid: Arbitrary<Value> = oneOf<Value>(
  [12, node("page_person").map((name) => ({ $node: name }))],
  [1, fc.constantFrom<Value>(9001, 9002, "9001", "9999999", "2001", "abc", true, null, undefined, ["9001"], { id: "9001" })],
);

const MIGRATION = "label_names_case_insensitive";
const migrationsOverride: Arbitrary<Value> = oneOf<Value>(
  [9, fc.constant(undefined)],
  [2, fc.boolean().map((on) => ({ [MIGRATION]: on }))],
  [1, fc.constantFrom<Value>({ another: true }, { [MIGRATION]: "yes" }, "{", [MIGRATION])],
);

const labelFields = fields("id", "name", "page_label_name", "page", "page{id}", "page{name}");
const common = { tokens };

export const labelSteps: Arbitrary<Step> = oneOf<Step>(
  [5, list({ ...common, operation: "listLabels", node: page, edge: "custom_labels" }, { fields: labelFields })],
  [2, list({ ...common, operation: "listLabelsOfUser", node: person, edge: "custom_labels" }, { fields: labelFields })],
  [
    6,
    request({
      ...common,
      ...{ operation: "createLabel", method: "POST", node: page, edge: "custom_labels" },
      query: fc.record({
        ...{ fields: labelFields, page_label_name: oneOf([15, fc.constant(undefined)], [1, fc.constantFrom("vip", "new")]) },
        migrations_override: migrationsOverride,
      }),
      body: body({ page_label_name: labelName, name: oneOf([9, fc.constant(undefined)], [1, fc.constantFrom("named", "vip")]) }),
    }),
  ],
  [2, request({ ...common, operation: "readLabel", method: "GET", node: label, edge: "", query: fc.record({ fields: labelFields }) })],
  [1, request({ ...common, operation: "deleteLabel", method: "DELETE", node: label, edge: "" })],
  [
    3,
    request({
      ...common,
      ...{ operation: "attachLabel", method: "POST", node: label, edge: "label" },
      query: fc.record({ user: oneOf<Value>([15, fc.constant(undefined)], [1, psid]) }),
      body: body({ user: psid }),
    }),
  ],
  [
    2,
    request({
      ...common,
      ...{ operation: "detachLabel", method: "DELETE", node: label, edge: "label" },
      query: fc.record({ user: psid }),
    }),
  ],
  [
    1,
    request({
      ...common,
      operation: "none",
      method: fc.constantFrom("PUT", "POST", "DELETE", "GET"),
      node: oneOf([1, label], [1, page]),
      edge: fc.constantFrom("", "label", "custom_labels", "nothing", "personas"),
    }),
  ],
);

const personaFields = fields("id", "name", "profile_picture_url", "page", "page{name}");
const personaName: Arbitrary<Value> = oneOf<Value>(
  [8, text(20)],
  [2, fc.constantFrom("Bo", " a ", "x".repeat(50), "😀".repeat(50), ` ${"y".repeat(50)} `)],
  [1, fc.constantFrom<Value>("", "   ", "\t\n", "x".repeat(51), "😀".repeat(51), true, null, undefined, { a: "b" }, 12)],
  [1, badText],
);
const picture: Arbitrary<Value> = oneOf<Value>(
  [10, fc.constantFrom("https://example.com/a.png", "http://example.com/ü?x=1&y=😀", "HTTPS://EXAMPLE.COM/")],
  [
    1,
    fc.constantFrom<Value>(
      "ftp://example.com/a",
      "example.com/a.png",
      "",
      "https://",
      `https://example.com/${"x".repeat(2100)}`,
      true,
      undefined,
      "data:image/png,x",
    ),
  ],
);

export const personaSteps: Arbitrary<Step> = oneOf<Step>(
  [3, list({ ...common, operation: "listPersonas", node: page, edge: "personas" }, { fields: personaFields })],
  [
    4,
    request({
      ...common,
      ...{ operation: "createPersona", method: "POST", node: page, edge: "personas" },
      query: fc.record({ fields: personaFields, name: oneOf([9, fc.constant(undefined)], [1, fc.constant("of the query")]) }),
      body: body({ name: personaName, profile_picture_url: picture }),
    }),
  ],
  [2, request({ ...common, operation: "readPersona", method: "GET", node: persona, edge: "", query: fc.record({ fields: personaFields }) })],
  [1, request({ ...common, operation: "deletePersona", method: "DELETE", node: persona, edge: "" })],
);
