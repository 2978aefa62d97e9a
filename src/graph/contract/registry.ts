/**
 * What the features define, collected once at start, first of all (type, method, edge) → operation. It refuses duplicates, a node
 * type, operation or field without a policy (D-16), errors and policies that no feature lists, and ports that no feature provides.
 */
import { Type } from "typebox";
import { nobody, ownApp, type Policy } from "#auth/policy";
import { clientsScheme, type Place, schemes } from "#auth/schemes";
import { catalogue, type DeclaredError, definitionOf, type ErrorDefinition, type ErrorName } from "#kernel/errors";
import { PortRegistry } from "#kernel/ports";
import { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import type { WebhookObject } from "#webhooks/catalogue/field";
import { fieldsBeyond } from "../pipeline/fields/field-policies.ts";
import { parametersReader, type ReadParameters } from "../pipeline/parameters.ts";
import type { ServedIn } from "../schema/schema-node.ts";
import { ChangeLog } from "../versions/changes.ts";
import { openMigrations } from "../versions/migration-windows.ts";
import { entryReader } from "../worlds/file/entry-reader.ts";
import type { World } from "../worlds/world.ts";
import type { Feature } from "./feature.ts";
import type { Access, Field, FieldSet, ListOperation, Method, NodeType, Operation, Served } from "./operation.ts";
import { portsOfServer } from "./ports.ts";

/** An operation, ready to be called. */
export interface Endpoint {
  readonly access: Access & { readonly operation: string };
  readonly served: Served | undefined;
  /** The node type whose declared fields answer, for a read of a node. */
  readonly reading: NonNullable<NodeType["reading"]> | undefined;
  /** The node type that it hangs on; undefined for an address without an id. */
  readonly nodeType: string | undefined;
  readonly readParams: ReadParameters;
  /** The parameters of its own, for `debug=all`. */
  readonly paramNames: readonly string[];
  /** How a version calendar's `affects` may call it: operation, edge, and the endpoint's number in the interface (`G2`). */
  readonly names: readonly string[];
  /** Who may know that the node exists. */
  readonly visibility: Access["policy"];
}

export class Registry {
  readonly features: readonly Feature[];
  readonly changes: ChangeLog;
  readonly webhookFields: FieldCatalogue;
  readonly endpoints: Endpoint[] = [];
  /** Every policy that anything may name. */
  readonly policies: ReadonlySet<Policy>;
  /** Every scope that anything asks for. */
  readonly scopes: ReadonlySet<string>;
  /** By name: every error that may leave the graph. */
  readonly errors: ReadonlyMap<string, ErrorDefinition>;
  readonly #types = new Map<string, NodeType>();
  /** By type (empty for a literal), edge (empty for the node itself) and method. */
  readonly #byAddress = new Map<string, Map<string, Map<string, Endpoint>>>();
  readonly #fields = new Set<string>();
  readonly #literals = new Set<string>();
  readonly #prefixes = new Map<string, Set<string>>();
  readonly #edges = new Set<string>();
  readonly #flatEdges = new Set<string>();
  readonly #shapes = new Shapes();
  /** By edge and method. */
  readonly #headers = new Map<string, Map<string, Readonly<Record<string, string>>>>();

  constructor(features: readonly Feature[]) {
    this.features = features;
    const all = [server, ...features];
    refuseDuplicates(all);
    this.policies = new Set(all.flatMap((feature) => feature.policies ?? []));
    this.scopes = new Set([...[...this.policies].flatMap(({ scopes }) => scopes), ...features.flatMap(({ scopes = [] }) => scopes)]);
    this.errors = new Map(all.flatMap((feature) => feature.errors ?? []).map((error) => [error.name, error]));
    for (const feature of features) for (const type of feature.nodeTypes ?? []) this.#addType(this.#withNodeSet(type));
    for (const feature of features) for (const served of feature.operations ?? []) this.#addOperation(this.#withNodeSets(served));
    for (const feature of features) this.#checkExtensions(feature);
    this.#checkReferences();
    this.changes = new ChangeLog(features.flatMap((feature) => feature.changes ?? []));
    this.webhookFields = new FieldCatalogue(features.flatMap((feature) => feature.webhookFields ?? []));
    // What no entry can be read by is found at start, not with the first world file.
    for (const { entry } of features.flatMap((feature) => feature.worldSections ?? [])) entryReader(entry);
  }

  /** In a world, at this time in Unix seconds. */
  servedIn({ profile, calendar }: Pick<World, "profile" | "calendar">, now: number): ServedIn {
    return {
      profile,
      namesOf: (what) => (what === "migrations" ? openMigrations(calendar.migrations, now) : this.webhookFields.namesOf(what as WebhookObject)),
    };
  }

  /** The ports of all features. Throws where a feature, or the server, needs one that none provides. */
  openPorts(): PortRegistry {
    const ports = new PortRegistry();
    for (const feature of this.features) ports.registerAll(feature.ports?.(ports) ?? {});
    for (const { name, needs } of [server, ...this.features]) {
      const missing = needs?.find((port) => !ports.has(port));
      if (missing !== undefined) throw new Error(`${name} needs the port ${missing}, which no feature provides`);
    }
    return ports;
  }

  /** Every name that a calendar's `affects` may have (D-81). */
  get endpointNames(): ReadonlySet<string> {
    return new Set(this.endpoints.flatMap(({ names }) => names));
  }

  /** The operations that hang on a node type. */
  operationsOn(type: string): readonly Endpoint[] {
    return this.endpoints.filter(({ served }) => served?.contract.on === type);
  }

  get types(): readonly NodeType[] {
    return [...this.#types.values()];
  }

  find(type: string, method: string, edge: string | undefined): Endpoint | undefined {
    return this.#byAddress
      .get(type)
      ?.get(edge ?? "")
      ?.get(method);
  }

  findLiteral(method: string, literal: string): Endpoint | undefined {
    return this.find("", method, literal);
  }

  /** Whether a node, read by its id or in a list, has a field of that name. */
  isField = (name: string): boolean => this.#fields.has(name);

  isLiteral = (word: string): boolean => this.#literals.has(word);

  isEdge = (word: string): boolean => this.#edges.has(word);

  isPrefix = (word: string): boolean => this.#prefixes.has(word);

  /** Whether `edge` may be addressed below the literal `prefix`. */
  isUnder(prefix: string, edge: string | undefined): boolean {
    return edge !== undefined && this.#prefixes.get(prefix)?.has(edge) === true;
  }

  /** D-20: edges of page messaging answer flat, even where the id leads nowhere. */
  isFlatEdge = (edge: string | undefined): boolean => edge !== undefined && this.#flatEdges.has(edge);

  /** What every request of that shape carries in its response, whatever it leads to: a header says nothing about ids (D-90). */
  headersOf = (method: string, edge: string | undefined): Readonly<Record<string, string>> | undefined =>
    edge === undefined ? undefined : this.#headers.get(edge)?.get(method);

  /** What is known of the endpoint before anything is looked up; undefined for a bare id, and where node types differ. */
  accessByShape = (method: string, edge: string | undefined): Access | undefined => this.#shapes.accessOf(method, edge);

  /** Where tokens may count, as far as the form of the request says it. */
  placesByShape = (method: string, edge: string | undefined): readonly Place[] => this.#shapes.placesOf(method, edge);

  #withNodeSet(type: NodeType): NodeType {
    const { reading } = type;
    return reading === undefined ? type : { ...type, reading: { ...reading, set: nodeSet(type.type, reading.set, this.features, this.#setOf) } };
  }

  /** What is read back after a write is one node, as by a read of it. */
  #withNodeSets(served: Served): Served {
    const { contract } = served;
    if (contract.kind === "list") return { ...served, contract: withItemSet(contract, this.features) } as Served;
    if (contract.kind !== "write" || contract.readBack === undefined) return served;
    const { type, set } = contract.readBack;
    return { ...served, contract: { ...contract, readBack: { type, set: nodeSet(type, set, this.features, this.#setOf) } } } as Served;
  }

  /** Throws an ordinary `Error` for a type that has no read of its own. */
  readonly #setOf = (type: string): FieldSet => {
    const set = this.#types.get(type)?.reading?.set;
    if (set === undefined) throw new Error(`a field refers to nodes of the type ${type}, which have no read of their own`);
    return set;
  };

  #addType(type: NodeType): void {
    this.#requirePolicy(type.policy, `node type ${type.type}`);
    this.#types.set(type.type, type);
    const { reading } = type;
    if (reading === undefined) return;
    this.#requirePolicy(reading.policy, `reads of ${type.type}`);
    this.#requireErrors(reading.errors, `reads of ${type.type}`);
    this.#checkFields(reading.set, reading.policy, type.type);
    for (const name in reading.set.fields) this.#fields.add(name);
    this.#claim(type.type, "GET", "", {
      access: reading,
      served: undefined,
      reading,
      nodeType: type.type,
      readParams: () => ({}),
      names: namesOf(reading, undefined),
      paramNames: [],
      visibility: type.policy,
    });
  }

  #addOperation(served: Served): void {
    const { contract } = served;
    this.#requirePolicy(contract.policy, contract.operation);
    this.#requireErrors(contract.errors, contract.operation);
    if (contract.visibility !== undefined) this.#requirePolicy(contract.visibility, `the visibility of ${contract.operation}`);
    if (contract.kind === "list") {
      this.#checkItems(contract);
      for (const name in contract.items.fields) this.#fields.add(name);
    }
    if (contract.kind === "write" && contract.readBack !== undefined) this.#checkFields(contract.readBack.set, contract.policy, contract.operation);
    const type = contract.on === null ? undefined : this.#types.get(contract.on);
    if (contract.on !== null && type === undefined)
      throw new Error(`${contract.operation} hangs on a node type that no feature declares: ${contract.on}`);
    this.#rememberWords(contract);
    this.#claim(contract.on ?? "", contract.method, contract.edge ?? "", {
      access: contract,
      served,
      reading: undefined,
      nodeType: contract.on ?? undefined,
      readParams: parametersReader(contract.params),
      names: namesOf(contract, contract.edge ?? undefined),
      paramNames: [...Object.keys(contract.params.properties), ...Object.keys(contract.aliases ?? {})],
      visibility: contract.visibility ?? type?.policy ?? contract.policy,
    });
  }

  #rememberWords(contract: Operation): void {
    if (contract.edge === null) return;
    if (contract.on === null) this.#literals.add(contract.edge);
    else this.#edges.add(contract.edge);
    if (contract.on !== null && contract.errorForm === "flat") this.#flatEdges.add(contract.edge);
    this.#shapes.add(contract.edge, contract);
    if (contract.headers !== undefined) innerOf(this.#headers, contract.edge).set(contract.method, contract.headers);
    if (contract.alsoUnder !== undefined) {
      const edges = this.#prefixes.get(contract.alsoUnder) ?? new Set();
      this.#prefixes.set(contract.alsoUnder, edges.add(contract.edge));
    }
  }

  #claim(type: string, method: Method, edge: string, endpoint: Endpoint): void {
    const byMethod = innerOf(innerOf(this.#byAddress, type), edge);
    const holder = byMethod.get(method);
    if (holder !== undefined)
      throw new Error(`${endpoint.access.operation} and ${holder.access.operation} claim the same address: ${method} ${type} ${edge}`);
    byMethod.set(method, endpoint);
    this.endpoints.push(endpoint);
  }

  #requirePolicy(policy: Policy | undefined, holder: string): void {
    if (policy === undefined) throw new Error(`${holder} has no policy`);
    if (!this.policies.has(policy)) throw new Error(`${holder} has the policy ${policy.name}, which no feature lists`);
  }

  /** Their policies are checked with the type's own fields. */
  #checkExtensions({ name, fieldExtensions = [] }: Feature): void {
    const lost = fieldExtensions.find(({ on }) => this.#types.get(on)?.reading === undefined);
    if (lost !== undefined) throw new Error(`${name} gives the field ${lost.name} to reads of ${lost.on}, which no feature declares`);
  }

  /** Throws for a reference to a type without a read of its own. */
  #checkReferences(): void {
    for (const { reading } of this.#types.values())
      for (const { reference } of Object.values(reading?.set.fields ?? {})) if (reference !== undefined) this.#setOf(reference.type);
  }

  #requireErrors(errors: readonly DeclaredError[], holder: string): void {
    for (const error of errors) {
      if (typeof error !== "string" && this.errors.get(error.name) !== error)
        throw new Error(`${holder} lists the error ${error.name}, which no feature defines`);
    }
  }

  /** D-16: a field with a policy of its own is asked of the node that the item is. */
  #checkItems({ items, policy, operation, nodeOf }: ListOperation): void {
    this.#checkFields(items, policy, operation);
    const [beyond] = nodeOf === undefined ? fieldsBeyond(policy, items) : [];
    if (beyond !== undefined)
      throw new Error(`${operation} has the field ${beyond.path} with a policy of its own and does not say which node an item is`);
  }

  #checkFields(set: FieldSet, policy: Policy, holder: string): void {
    for (const [name, field] of Object.entries(set.fields) as [string, Field][]) {
      this.#requirePolicy(field.policy, `field ${name} of ${holder}`);
      if (field.nested !== undefined) this.#checkFields(field.nested.set(), field.policy, `${name} of ${holder}`);
      if (field.reference !== undefined && field.reference.set === undefined)
        throw new Error(`${holder} refers to a node by ${name}, which only fields of a node may`);
    }
    // D-37: they are in every response, so no caller who gets one may be kept from them.
    for (const name of set.required ?? ["id"]) {
      const field = set.fields[name];
      if (field !== undefined && field.policy !== policy) throw new Error(`${holder} always answers ${name}, but it has a policy of its own`);
    }
    for (const name of [...set.defaults, ...(set.clientsDefaults ?? []), ...(set.required ?? [])]) {
      if (!Object.hasOwn(set.fields, name)) throw new Error(`${holder} answers a field by default that it does not have: ${name}`);
    }
  }
}

/** What belongs to no feature, in the form of one. */
const server: Feature = {
  name: "the server",
  migrations: [],
  policies: [nobody, ownApp],
  errors: (Object.keys(catalogue) as ErrorName[]).map(definitionOf),
  needs: portsOfServer,
};

/** The inner map of a key, made when it is first asked for. */
function innerOf<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = outer.get(key);
  if (inner === undefined) {
    inner = new Map();
    outer.set(key, inner);
  }
  return inner;
}

/** The names that a feature takes, by what they name. Addresses are claimed in the registry, webhook fields in their catalogue. */
const namesTaken: Readonly<Record<string, (feature: Feature) => readonly string[]>> = {
  "node type": ({ nodeTypes = [] }) => nodeTypes.map(({ type }) => type),
  operation: ({ nodeTypes = [], operations = [] }) => [
    ...nodeTypes.flatMap(({ reading }) => (reading === undefined ? [] : [reading.operation])),
    ...operations.map(({ contract }) => contract.operation),
  ],
  policy: ({ policies = [] }) => policies.map(({ name }) => name),
  error: ({ errors = [] }) => errors.map(({ name }) => name),
  setting: ({ settings = [] }) => settings.map(({ name }) => name),
  "world section": ({ worldSections = [] }) => worldSections.map(({ key }) => key),
  job: ({ jobs = [] }) => jobs.map(({ kind }) => kind),
};

function refuseDuplicates(features: readonly Feature[]): void {
  const seen = new Set<string>();
  for (const { name } of features) {
    if (seen.has(name)) throw new Error(`two features have the name ${name}`);
    seen.add(name);
  }
  for (const [what, namesOf] of Object.entries(namesTaken)) {
    const holders = new Map<string, string>();
    for (const feature of features) {
      for (const name of namesOf(feature)) {
        const holder = holders.get(name);
        if (holder === feature.name) throw new Error(`${holder} defines the ${what} ${name} twice`);
        if (holder !== undefined) throw new Error(`${holder} and ${feature.name} both define the ${what} ${name}`);
        holders.set(name, feature.name);
      }
    }
  }
}

/** How a version calendar's `affects` may call an endpoint. `G2-3` is a clause of the endpoint `G2`. */
function namesOf(access: Access & { readonly operation: string }, edge: string | undefined): string[] {
  const numbers = access.clauses.map((clause) => /^([A-I]\d)-/.exec(clause)?.[1]).filter((number) => number !== undefined);
  return [access.operation, ...(edge === undefined ? [] : [edge]), ...new Set(numbers)];
}

/** The field set of a node type's read, for what references to such nodes select. */
type SetOfType = (type: string) => FieldSet;

/** The set with the fields that other features give to nodes of that type. Throws where a field is there already. */
function extendedSet(type: string, set: FieldSet, features: readonly Feature[]): FieldSet {
  const extensions = features.flatMap((feature) => feature.fieldExtensions ?? []).filter(({ on }) => on === type);
  return extensions.length === 0 ? set : withFields(type, set, Object.fromEntries(extensions.map(({ name, field }) => [name, field])));
}

/** The list with all that can be selected of its items. They have no edges (D-38). */
const withItemSet = (list: ListOperation, features: readonly Feature[]): ListOperation =>
  list.itemType === undefined ? list : { ...list, items: extendedSet(list.itemType, list.items, features) };

/** The set with all that can be selected of one node: other features' fields, edges, and what is inside its references. */
function nodeSet(type: string, set: FieldSet, features: readonly Feature[], setOf: SetOfType): FieldSet {
  const extended = extendedSet(type, set, features);
  const edges = features.flatMap((feature) => feature.operations ?? []).flatMap(({ contract }) => (contract.kind === "list" ? [contract] : []));
  const own = edges.filter((edge) => edge.on === type && edge.edge !== null).map((edge) => [edge.edge, edgeField(withItemSet(edge, features))]);
  const whole = withFields(type, extended, Object.fromEntries(own));
  const fields = Object.entries(whole.fields).map(([name, field]) => [name, resolved(field, setOf)]);
  return { ...whole, fields: Object.fromEntries(fields) };
}

/** Its policy is checked by the read of the edge. */
const edgeField = (edge: ListOperation): Field => ({ schema: Type.Object({}), policy: edge.policy, edge });

const resolved = (field: Field, setOf: SetOfType): Field => {
  const { reference } = field;
  return reference === undefined ? field : { ...field, reference: { ...reference, set: () => setOf(reference.type) } };
};

function withFields(type: string, set: FieldSet, more: Readonly<Record<string, Field>>): FieldSet {
  const twice = Object.keys(more).find((name) => Object.hasOwn(set.fields, name));
  if (twice !== undefined) throw new Error(`two features declare the field ${twice} of ${type}`);
  return { ...set, fields: { ...set.fields, ...more } };
}

/** What the form of a request alone says of its endpoint, by edge and method, whatever is stored (D-90). */
interface Shape {
  readonly accesses: readonly Access[];
  /** Undefined where node types differ. */
  readonly common: Access | undefined;
  /** D-12: where the tokens of any of them may stand. */
  readonly places: readonly Place[];
}

/** Of all methods that an edge has: what it says of one that it does not have. */
const ANY = "";

class Shapes {
  readonly #byEdge = new Map<string, Map<string, Shape>>();

  add(edge: string, contract: Operation): void {
    const byMethod = this.#byEdge.get(edge) ?? new Map<string, Shape>();
    this.#byEdge.set(edge, byMethod);
    for (const method of [contract.method, ANY]) {
      const accesses = [...(byMethod.get(method)?.accesses ?? []), contract];
      const counting = new Set<Place>(accesses.flatMap(({ scheme }) => schemes[scheme].places));
      // In one order for all, so that of two dead tokens the same one is named with and without an edge.
      const places = clientsScheme.places.filter((place) => counting.has(place));
      const isCommon = accesses.every(({ scheme, tokenless }) => scheme === contract.scheme && tokenless === contract.tokenless);
      byMethod.set(method, { accesses, places, common: isCommon ? contract : undefined });
    }
  }

  /** Undefined for a bare id, and where node types differ. */
  accessOf(method: string, edge: string | undefined): Access | undefined {
    return edge === undefined ? undefined : this.#byEdge.get(edge)?.get(method)?.common;
  }

  /** D-93: of a bare id, and of an edge that no node has, any place may count. */
  placesOf(method: string, edge: string | undefined): readonly Place[] {
    const byMethod = edge === undefined ? undefined : this.#byEdge.get(edge);
    return (byMethod?.get(method) ?? byMethod?.get(ANY))?.places ?? clientsScheme.places;
  }
}
