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
    "Who may call what. First comes whether the caller may know that the node exists: where not, the response is that of a node that is missing. Then " +
      "its scopes (code 10) and its page task or role (code 200) are checked (D-14, D-91).",
    table(
      ["call", "tokens", "scopes", "who", "the token stands in"],
      entries.map(({ request, scheme, policy }) => [code(request), ...policyCells(policy), schemeText(schemes[scheme])]),
    ),
    "With the profile `clients` a token serves in any place.",
    ...fieldPart(entries),
    "Who may know that a node exists:",
    table(
      ["node type", "who"],
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
    // The registry's has the fields that other features give to it.
    const reading = registry.find(type, "GET", undefined)?.reading;
    return reading === undefined ? [] : [{ request: `GET /{${type}_id}`, scheme: reading.scheme, policy: reading.policy, set: reading.set }];
  });
  return [...requests, ...reads];
}

function fieldPart(entries: readonly Entry[]): string[] {
  const rows = entries.flatMap(({ request, policy, set }) => fieldRows(request, policy, set));
  return rows.length === 0 ? [] : ["Fields that not all of these callers may read (D-16):", table(["field", "who"], rows)];
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

/** Only what differs from the request's own policy. */
function fieldRows(request: string, policy: Policy, set: FieldSet | undefined): string[][] {
  if (set === undefined) return [];
  return fieldsBeyond(policy, set).map(({ path, field }) => [code(`${request}: ${path}`), field.policy.summary]);
}
