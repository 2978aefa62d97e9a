import type { Policy } from "#auth/policy";
import { placeNames, type Scheme, type SchemeName, schemes } from "#auth/schemes";
import type { Feature } from "#graph/contract/feature";
import type { FieldSet } from "#graph/contract/operation";
import { Registry } from "#graph/contract/registry";
import { fieldsBeyond } from "#graph/pipeline/fields/field-policies";
import { code, codes, page, table } from "./markdown.ts";
import { addressOf } from "./operations-page.ts";

interface Entry {
  readonly request: string;
  readonly scheme: SchemeName;
  readonly policy: Policy;
  readonly set?: FieldSet;
}

export function permissionsPage(features: readonly Feature[]): string {
  const registry = new Registry(features);
  const entries = features.flatMap((feature) => entriesOf(feature, registry));
  const types = features.flatMap(({ nodeTypes }) => nodeTypes ?? []);
  return page("Permissions", "the features' policies and contracts, and `src/auth/schemes.ts`", [
    "[Authentication](../interface/authentication.md) explains tokens. Plaza first checks whether the caller may know that the node exists; if not, the " +
      "response is the one for a missing node. It then checks the token's scopes (code 10) and the page task or role of the person (code 200).",
    table(
      ["request", "tokens", "scopes", "who", "place of the token"],
      entries.map(({ request, scheme, policy }) => [code(request), ...policyCells(policy), schemeText(schemes[scheme])]),
    ),
    "With the profile `clients` one token in any place is enough.",
    ...fieldPart(entries),
    "The tokens whose bearers can see that a node exists:",
    table(
      ["node type", "whose token"],
      types.map(({ type, policy }) => [code(type), policy.summary]),
    ),
  ]);
}

function entriesOf({ nodeTypes, operations }: Feature, registry: Registry): Entry[] {
  const requests = (operations ?? []).map(({ contract }): Entry => {
    const entry = { request: `${contract.method} ${addressOf(contract)}`, scheme: contract.scheme, policy: contract.policy };
    const set = contract.kind === "list" ? contract.items : contract.kind === "write" ? contract.readBack?.set : undefined;
    return set === undefined ? entry : { ...entry, set };
  });
  const reads = (nodeTypes ?? []).flatMap(({ type }): Entry[] => {
    // The fields come from the registry, because it also has the fields that other features add to the node type.
    const reading = registry.find(type, "GET", undefined)?.reading;
    return reading === undefined ? [] : [{ request: `GET /{${type}_id}`, scheme: reading.scheme, policy: reading.policy, set: reading.set }];
  });
  return [...requests, ...reads];
}

function fieldPart(entries: readonly Entry[]): string[] {
  const rows = entries.flatMap(({ request, policy, set }) => fieldRows(request, policy, set));
  return rows.length === 0 ? [] : ["Fields that not all of these callers can read:", table(["field", "who"], rows)];
}

function policyCells({ kinds, scopes, summary }: Policy): string[] {
  return [kinds.join(", "), scopes.length === 0 ? "" : codes(scopes), summary];
}

function schemeText({ places, need, developmentOnly }: Scheme): string {
  const names = places.map((place) => {
    const where = place === "body" ? "body" : place === "bearer" ? "header" : "query";
    return `${code(placeNames[place])} (${where}${developmentOnly?.includes(place) === true ? ", in development mode only" : ""})`;
  });
  return names.length === 1 ? (names[0] as string) : `${need === "all" ? "all of" : "one of"} ${names.join(", ")}`;
}

/** Returns a row for each field that needs other permissions than the request. */
function fieldRows(request: string, policy: Policy, set: FieldSet | undefined): string[][] {
  if (set === undefined) return [];
  return fieldsBeyond(policy, set).map(({ path, field }) => [code(`${request}: ${path}`), field.policy.summary]);
}
