/**
 * Checks that the server accepts exactly the requests that the document allows. The test sends requests that differ in one place from an accepted
 * request: if the document allows the request, the server must not refuse it for a parameter, and the other way round.
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
  { because: "D-40: two labels of a page have two names", said: /^.{6} Param page_label_name is already used by the label/ },
  { because: "D-311: two names of one parameter have one value", said: /must not have one value, and \w+ another/ },
  { because: "D-111: a plan is of the future", said: /planned_start_time must be in the future/ },
  { because: "ATTR-9, ATTR-10: each platform has cookies of one form", said: /attribution must be a UUID for platform i2/ },
  { because: "D-146: names of the time zone database", said: /timezone is not a name of the time zone database/ },
  {
    because: "D-54: a range of time begins before it ends, and followers are counted now",
    said: /since (must be before until|cannot be combined with)/,
  },
  { because: "EVT-43: a price has a currency", said: /pf_currency is required because the _valueToSum/ },
  { because: "EVT-39: the form of JSON inside of a text", said: /pf_content must be a JSON list of objects/ },
  // OpenAPI cannot express that query parameters depend on each other, or that a list of them is closed.
  { because: "D-60: fields of an object", said: /^.{6} Param (object is required|fields must be fields of)/ },
  { because: "D-74: a device has one id at least", said: /^.{6} Param advertiser_id or attribution is required/ },
  { because: "D-382: a code that a dialog gave to the app", said: /^.{6} Param code is not a code of this app/ },
  { because: "D-383: the secret of the token's app", said: /^.{6} Param client_secret is not the secret of the token's app/ },
  { because: "D-384: a permission that the person granted", said: /^.{6} Param permission is not a permission that the app has/ },
  { because: "D-50: a misspelt filter", said: /^.{6} Param unheard_of is not known here/ },
];

/** Requests that the document does not describe, and that the server accepts or refuses for another reason than a parameter. */
const takenBeyond: readonly { readonly because: string; isOf(operation: string, place: string, params: Json): boolean }[] = [
  { because: "UD-3, D-73: a value that is no hash is dropped, not refused", isOf: (_operation, place) => place.startsWith("ud.") },
  {
    because: "D-293: in clients a list inside an event is taken as the text that it stands for, also where that text is no list",
    isOf: (operation, place) => operation === "reportAppEvents" && /^custom_events\[0\]\.pf_content(_id)?$/.test(place),
  },
  {
    because: "I1-17: the list belongs to reports of custom events, and nothing looks at it in another",
    isOf: (operation, place, { event }) => operation === "reportAppEvents" && place === "custom_events" && event === "MOBILE_APP_INSTALL",
  },
  {
    because: "D-382: the app's id and secret are a token of the app, so wrong ones are refused with the errors of tokens",
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

    /** The schema of an operation's parameters, as one object. */
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
