/**
 * Checks that the server accepts exactly the requests that the document allows. The test sends requests that differ in one value from an accepted
 * request: the server must refuse the changed value if and only if the document does not allow it.
 */
import { describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import type { Endpoint } from "#graph/contract/registry";
import { openFullPlaza } from "#harness/full-world";
import { startReceiver } from "#harness/receiver";
import { pointer } from "./documented-exchanges.ts";
import { documentOf, endpointsOf, registry } from "./documents.ts";
import { send, taken, world } from "./samples.ts";
import { type Json, variantsOf } from "./variants.ts";

/** Messages of refusals by rules that no schema can express: rules about stored data, about the time, or about several parameters. */
const refusedBeyond: readonly { readonly because: string; readonly said: RegExp }[] = [
  { because: "D-40: two labels of one page must have different names", said: /^.{6} Param page_label_name is already used by the label/ },
  { because: "D-311: a parameter that is given under both of its names must have the same value", said: /must have the same value as \w+/ },
  { because: "D-111: the planned start of a live video must be in the future", said: /planned_start_time must be in the future/ },
  { because: "ATTR-9, ATTR-10: the platform of an app event decides the form of its cookie", said: /attribution must be a UUID for platform i2/ },
  { because: "D-146: a time zone must be a name of the time zone database", said: /timezone is not a name of the time zone database/ },
  {
    because: "D-54: a range of time must begin before it ends, and the number of followers has no range of time",
    said: /since (must be before until|cannot be combined with)/,
  },
  { because: "EVT-43: an app event with a price must have a currency", said: /pf_currency is required because the _valueToSum/ },
  { because: "EVT-39: the parameter pf_content is a text that must contain a JSON list", said: /pf_content must be a JSON list of objects/ },
  // OpenAPI cannot express that query parameters depend on each other, or that no other query parameters are allowed.
  {
    because: "D-60: a subscription must have an object and only fields of this object",
    said: /^.{6} Param (object is required|fields must be fields of)/,
  },
  {
    because: "D-74: a report of app events must have at least one id of the device",
    said: /^.{6} Param advertiser_id is required if attribution is missing/,
  },
  { because: "D-382: a code must be one that the login dialog gave to the app", said: /^.{6} Param code is not a code of this app/ },
  { because: "D-383: client_secret must be the secret of the token's app", said: /^.{6} Param client_secret is not the secret of the token's app/ },
  {
    because: "D-384: a permission to revoke must be one that the person granted to the app",
    said: /^.{6} Param permission is not a permission that the app has/,
  },
  { because: "D-50: a list of required actions refuses a misspelt filter", said: /^.{6} Param unheard_of is not known here/ },
];

/** Requests that the document does not describe, and that the server accepts or refuses for a reason other than a parameter. */
const takenBeyond: readonly { readonly because: string; isOf(operation: string, place: string, params: Json): boolean }[] = [
  { because: "UD-3, D-73: user data whose value is not a hash are dropped, not refused", isOf: (_operation, place) => place.startsWith("ud.") },
  {
    because: "D-293: the profile clients accepts a list inside an event as the list's JSON text, even for a parameter that is not a list",
    isOf: (operation, place) => operation === "reportAppEvents" && /^custom_events\[0\]\.pf_content(_id)?$/.test(place),
  },
  {
    because: "I1-17: the list custom_events is read only in reports of custom events, and ignored in other reports",
    isOf: (operation, place, { event }) => operation === "reportAppEvents" && place === "custom_events" && event === "MOBILE_APP_INSTALL",
  },
  {
    because: "D-382: the app's id and secret together are a token of the app, so wrong values get the errors of tokens",
    isOf: (operation, place) => /^(read|create)AccessToken$/.test(operation) && /^client_(id|secret)$/.test(place),
  },
];

for (const profile of ["strict", "clients"] as const) {
  describe(`the document of ${profile}`, () => {
    const document = documentOf({ profile });
    const ajv = new Ajv2020({ strict: false }).addFormat("uri", URL.canParse).addFormat("binary", true);
    ajv.addSchema(document, "document");
    const names = Object.keys(taken(""));
    const endpoints = endpointsOf(profile);

    /** The schemas of an operation's parameters, combined into the schema of one object. */
    function schemaOf({ access, nodeType }: Endpoint): object {
      const { paths } = documentOf({ profile, ...(nodeType === undefined ? {} : { type: nodeType }) });
      const operation = Object.values(paths)
        .flatMap((item) => Object.values(item))
        .find((one) => one.operationId === access.operation);
      if (operation === undefined) throw new Error(`no operation ${access.operation}`);
      const name = `${access.operation[0]?.toUpperCase()}${access.operation.slice(1)}Request`;
      if (name in document.components.schemas) return { $ref: `document#${pointer("components", "schemas", name)}` };
      const own = operation.parameters.filter((one) => one.in === "query" && one.name !== undefined);
      const schema = JSON.stringify({
        type: "object",
        properties: Object.fromEntries(own.map((one) => [one.name, one.schema])),
        required: own.filter((one) => one.required).map((one) => one.name),
      });
      return JSON.parse(schema.replaceAll('"#/components', '"document#/components'));
    }

    test("all operations with parameters are requested", () => {
      const withParameters = registry.endpoints.filter(({ served }) => Object.keys(served?.contract.params.properties ?? {}).length > 0);
      expect(new Set(names)).toEqual(new Set(withParameters.map(({ access }) => access.operation)));
    });

    for (const endpoint of endpoints) {
      const { operation } = endpoint.access;
      if (!names.includes(operation)) continue;
      test(`${operation} accepts exactly what the document allows`, async () => {
        const plaza = await openFullPlaza({ profile, world });
        const allows = ajv.compile(schemaOf(endpoint));
        const samples = taken(startReceiver().url)[operation] ?? [];
        const parted: string[] = [];
        for (const sample of samples) {
          const first = await send(plaza, endpoint, sample);
          expect({ sample, allowed: allows(sample), why: ajv.errorsText(allows.errors), refused: first.isRefused, said: first.said }).toMatchObject({
            allowed: true,
            refused: false,
          });
          for (const { place, value, params } of variantsOf(sample, JSON.parse(JSON.stringify(document)), schemaOf(endpoint))) {
            // In a query, a list or an object is sent as text.
            if (endpoint.served?.contract.method !== "POST" && typeof value === "object" && typeof sample[place] === "string") continue;
            const isAllowed = allows(params);
            const { isRefused, status, said } = await send(plaza, endpoint, params);
            const isParted = isAllowed
              ? isRefused && !refusedBeyond.some((rule) => rule.said.test(said))
              : status !== 400 && !takenBeyond.some((rule) => rule.isOf(operation, place, params));
            if (isParted)
              parted.push(`${place}: ${JSON.stringify(value)?.slice(0, 60)}: ${isAllowed ? "allowed" : "not allowed"}, ${status} ${said}`);
          }
        }
        expect(parted).toEqual([]);
      }, 60_000);
    }
  });
}
