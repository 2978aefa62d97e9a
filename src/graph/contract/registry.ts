/**
 * Collects the definitions of all features once at start. The main result of the registry is a map that finds the operation by node type, method and
 * edge. The registry refuses duplicates; a node type, operation or field without a policy (D-16); errors and policies that no feature lists; and
 * ports that no feature provides.
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
import type { World } from "../worlds/world.ts";
import type { Feature } from "./feature.ts";
import type { Access, Field, FieldSet, ListOperation, Method, NodeType, Operation, Served } from "./operation.ts";
import { portsOfServer } from "./ports.ts";

/** An operation or the read of a node, with everything that the pipeline needs to know after it has found the endpoint by method and path. */
export interface Endpoint {
  readonly access: Access & { readonly operation: string };
  readonly served: Served | undefined;
  /** The read of a node by its declared fields, which needs no handler. Undefined if the endpoint is an operation. */
  readonly reading: NonNullable<NodeType["reading"]> | undefined;
  /** The node type of the addressed node. The node type is undefined if the path has no id. */
  readonly nodeType: string | undefined;
  readonly readParams: ReadParameters;
  /** The names of the operation's own parameters, for `debug=all`. */
  readonly paramNames: readonly string[];
  /**
   * The names by which the `affects` of a version calendar may refer to the endpoint: its operation, its edge, and its number in the interface
   * (`G2`).
   */
  readonly names: readonly string[];
  /** The callers who may know that the node exists. */
  readonly visibility: Access["policy"];
}

export class Registry {
  readonly features: readonly Feature[];
  readonly changes: ChangeLog;
  readonly webhookFields: FieldCatalogue;
  readonly endpoints: Endpoint[] = [];
  /** All policies that features define. */
  readonly policies: ReadonlySet<Policy>;
  /** The policies whose SQL statements also run for a missing node (D-336). */
  readonly readingPolicies: readonly Policy[];
  /** All scopes that a policy or a feature needs. */
  readonly scopes: ReadonlySet<string>;
  /** Every error that a response of the graph may have, by its name. */
  readonly errors: ReadonlyMap<string, ErrorDefinition>;
  readonly #types = new Map<string, NodeType>();
  /**
   * The endpoints by node type, edge and method. In the map of endpoints, the node type is empty for a path without an id, and the edge is empty for
   * the node itself.
   */
  readonly #byAddress = new Map<string, Map<string, Map<string, Endpoint>>>();
  readonly #byOperation = new Map<string, Endpoint>();
  readonly #fields = new Set<string>();
  readonly #literals = new Set<string>();
  readonly #prefixes = new Map<string, Set<string>>();
  readonly #edges = new Set<string>();
  readonly #flatEdges = new Set<string>();
  readonly #shapes = new Shapes();
  /** Headers of every response, by edge and method. */
  readonly #headers = new Map<string, Map<string, Readonly<Record<string, string>>>>();

  constructor(features: readonly Feature[]) {
    this.features = features;
    const all = [server, ...features];
    refuseDuplicates(all);
    this.policies = new Set(all.flatMap((feature) => feature.policies ?? []));
    this.readingPolicies = [...this.policies].filter(({ readsNode }) => readsNode === true);
    this.scopes = new Set([...[...this.policies].flatMap(({ scopes }) => scopes), ...features.flatMap(({ scopes = [] }) => scopes)]);
    this.errors = new Map(all.flatMap((feature) => feature.errors ?? []).map((error) => [error.name, error]));
    for (const feature of features) for (const type of feature.nodeTypes ?? []) this.#addType(this.#withNodeSet(type));
    for (const feature of features) for (const served of feature.operations ?? []) this.#addOperation(this.#withNodeSets(served));
    for (const feature of features) this.#checkExtensions(feature);
    this.#checkReferences();
    this.changes = new ChangeLog(features.flatMap((feature) => feature.changes ?? []));
    this.webhookFields = new FieldCatalogue(features.flatMap((feature) => feature.webhookFields ?? []));
  }

  /** The profile of a world, with the names that schemas use in this world at the time `now`, in Unix seconds. */
  servedIn({ profile, calendar }: Pick<World, "profile" | "calendar">, now: number): ServedIn {
    return {
      profile,
      namesOf: (what) => (what === "migrations" ? openMigrations(calendar.migrations, now) : this.webhookFields.namesOf(what as WebhookObject)),
    };
  }

  /** Creates the ports of all features. Throws if a feature or the server needs a port that no feature provides. */
  openPorts(): PortRegistry {
    const ports = new PortRegistry();
    for (const feature of this.features) ports.registerAll(feature.ports?.(ports) ?? {});
    for (const { name, needs } of [server, ...this.features]) {
      const missing = needs?.find((port) => !ports.has(port));
      if (missing !== undefined) throw new Error(`${name} needs the port ${missing}, which no feature provides`);
    }
    return ports;
  }

  /** Every name that the `affects` of a version calendar may have (D-81). */
  get endpointNames(): ReadonlySet<string> {
    return new Set(this.endpoints.flatMap(({ names }) => names));
  }

  /** The endpoint of the operation with this name. */
  endpoint = (operation: string): Endpoint | undefined => this.#byOperation.get(operation);

  /** The endpoints of a node type. */
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

  /** Whether any node, read by its id or in a list, has a field with this name. */
  isField = (name: string): boolean => this.#fields.has(name);

  isLiteral = (word: string): boolean => this.#literals.has(word);

  isEdge = (word: string): boolean => this.#edges.has(word);

  isPrefix = (word: string): boolean => this.#prefixes.has(word);

  /** Whether the path of `edge` may begin with the fixed segment `prefix`. */
  isUnder(prefix: string, edge: string | undefined): boolean {
    return edge !== undefined && this.#prefixes.get(prefix)?.has(edge) === true;
  }

  /** D-20: whether the path's edge belongs to page messaging. Edges of page messaging have flat errors, even if the node does not exist. */
  isFlatEdge = (edge: string | undefined): boolean => edge !== undefined && this.#flatEdges.has(edge);

  /**
   * The headers of every response to a request with this method and edge. These headers are sent even if the node does not exist, because they depend
   * only on the edge and reveal nothing about ids (D-90).
   */
  headersOf = (method: string, edge: string | undefined): Readonly<Record<string, string>> | undefined =>
    edge === undefined ? undefined : this.#headers.get(edge)?.get(method);

  /**
   * The contract of an endpoint with this method and edge, if the method and the edge alone decide which tokens count. Undefined if the request has
   * an id but no edge, or if the contracts of node types with this edge differ.
   */
  accessByShape = (method: string, edge: string | undefined): Access | undefined => this.#shapes.accessOf(method, edge);

  /** The sources (query, body, header) from which tokens may count for a request with this method and edge. */
  placesByShape = (method: string, edge: string | undefined): readonly Place[] => this.#shapes.placesOf(method, edge);

  #withNodeSet(type: NodeType): NodeType {
    const { reading } = type;
    return reading === undefined ? type : { ...type, reading: { ...reading, set: nodeSet(type.type, reading.set, this.features, this.#setOf) } };
  }

  /** Adds to a contract the fields that a caller can select after a write. After a write, a caller can select the fields of a read of the node. */
  #withNodeSets(served: Served): Served {
    const { contract } = served;
    if (contract.kind === "list") return { ...served, contract: withItemSet(contract, this.features) } as Served;
    if (contract.kind !== "write" || contract.readBack === undefined) return served;
    const { type, set } = contract.readBack;
    return { ...served, contract: { ...contract, readBack: { type, set: nodeSet(type, set, this.features, this.#setOf) } } } as Served;
  }

  /** The field set of a node type's read. Throws an ordinary `Error` if the type has no read of its own. */
  readonly #setOf = (type: string): FieldSet => {
    const set = this.#types.get(type)?.reading?.set;
    if (set === undefined) throw new Error(`a field refers to nodes of the type ${type}, but this type cannot be read`);
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
      throw new Error(`${contract.operation} is on the node type ${contract.on}, which no feature declares`);
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
    this.#byOperation.set(endpoint.access.operation, endpoint);
  }

  #requirePolicy(policy: Policy | undefined, holder: string): void {
    if (policy === undefined) throw new Error(`${holder} has no policy`);
    if (!this.policies.has(policy)) throw new Error(`${holder} has the policy ${policy.name}, which no feature lists`);
  }

  /**
   * Checks that every field that a feature adds belongs to a node type with a read. The policies of the added fields are checked together with the
   * node type's own fields.
   */
  #checkExtensions({ name, fieldExtensions = [] }: Feature): void {
    const lost = fieldExtensions.find(({ on }) => this.#types.get(on)?.reading === undefined);
    if (lost !== undefined) throw new Error(`${name} gives the field ${lost.name} to reads of ${lost.on}, which no feature declares`);
  }

  /** Throws if a field refers to a type that has no read of its own. */
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

  /**
   * D-16: checks the policies of the fields of a list's items. If a field of an item has a policy of its own, the policy is checked on the item's
   * node, so the list must have the function `nodeOf`.
   */
  #checkItems({ items, policy, operation, nodeOf }: ListOperation): void {
    this.#checkFields(items, policy, operation);
    const [beyond] = nodeOf === undefined ? fieldsBeyond(policy, items) : [];
    if (beyond !== undefined) throw new Error(`${operation} has the field ${beyond.path} with a policy of its own, but no nodeOf`);
  }

  #checkFields(set: FieldSet, policy: Policy, holder: string): void {
    for (const [name, field] of Object.entries(set.fields) as [string, Field][]) {
      this.#requirePolicy(field.policy, `field ${name} of ${holder}`);
      if (field.nested !== undefined) this.#checkFields(field.nested.set(), field.policy, `${name} of ${holder}`);
      if (field.reference !== undefined && field.reference.set === undefined)
        throw new Error(`the field ${name} of ${holder} refers to a node, but only fields of nodes may do so`);
    }
    // D-37: fields that are in every response must be readable for every caller who may run the operation.
    for (const name of set.required ?? ["id"]) {
      const field = set.fields[name];
      if (field !== undefined && field.policy !== policy)
        throw new Error(`${holder} always returns the field ${name}, but this field has a policy of its own`);
    }
    for (const name of [...set.defaults, ...(set.clientsDefaults ?? []), ...(set.required ?? [])]) {
      if (!Object.hasOwn(set.fields, name)) throw new Error(`${holder} returns the field ${name} by default, but does not declare this field`);
    }
  }
}

/** The definitions that the server itself needs, in the form of a feature. */
const server: Feature = {
  name: "the server",
  migrations: [],
  policies: [nobody, ownApp],
  errors: (Object.keys(catalogue) as ErrorName[]).map(definitionOf),
  needs: portsOfServer,
};

/** Returns the inner map for a key, and creates it if it does not exist yet. */
function innerOf<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = outer.get(key);
  if (inner === undefined) {
    inner = new Map();
    outer.set(key, inner);
  }
  return inner;
}

/**
 * The names that a feature defines, grouped by kind. The registry checks duplicate paths in another function, and the catalogue checks
 * duplicate webhook fields.
 */
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

/** The names by which the `affects` of a version calendar may refer to an endpoint. `G2-3` is a clause of the endpoint `G2`. */
function namesOf(access: Access & { readonly operation: string }, edge: string | undefined): string[] {
  const numbers = access.clauses.map((clause) => /^([A-I]\d)-/.exec(clause)?.[1]).filter((number) => number !== undefined);
  return [access.operation, ...(edge === undefined ? [] : [edge]), ...new Set(numbers)];
}

/**
 * Returns the field set that a read of a node of this type has. Inside a reference to a node, callers select from the field set of that node type's
 * read.
 */
type SetOfType = (type: string) => FieldSet;

/** Returns the field set with the fields that other features add to that node type. Throws if two features add the same field. */
function extendedSet(type: string, set: FieldSet, features: readonly Feature[]): FieldSet {
  const extensions = features.flatMap((feature) => feature.fieldExtensions ?? []).filter(({ on }) => on === type);
  return extensions.length === 0 ? set : withFields(type, set, Object.fromEntries(extensions.map(({ name, field }) => [name, field])));
}

/** Returns the list with all fields that callers can select from its items. The items of a list have no edges as fields (D-38). */
const withItemSet = (list: ListOperation, features: readonly Feature[]): ListOperation =>
  list.itemType === undefined ? list : { ...list, items: extendedSet(list.itemType, list.items, features) };

/** Returns the field set with all fields that callers can select from one node: fields of other features, edges, and references with their fields. */
function nodeSet(type: string, set: FieldSet, features: readonly Feature[], setOf: SetOfType): FieldSet {
  const extended = extendedSet(type, set, features);
  const edges = features.flatMap((feature) => feature.operations ?? []).flatMap(({ contract }) => (contract.kind === "list" ? [contract] : []));
  const own = edges.filter((edge) => edge.on === type && edge.edge !== null).map((edge) => [edge.edge, edgeField(withItemSet(edge, features))]);
  const whole = withFields(type, extended, Object.fromEntries(own));
  const fields = Object.entries(whole.fields).map(([name, field]) => [name, resolved(field, setOf)]);
  return { ...whole, fields: Object.fromEntries(fields) };
}

/** Makes the field that reads an edge inside a node. The policy of the edge is checked when the edge is read. */
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

/** The facts about an endpoint that depend only on the method and the edge of a request, and not on stored data (D-90). */
interface Shape {
  readonly accesses: readonly Access[];
  /**
   * The contract, if all node types with this edge accept tokens in the same way. Undefined if the node types with this edge accept tokens in
   * different ways.
   */
  readonly common: Access | undefined;
  /** D-12: the sources of tokens (query, body, header), for all node types with this edge together. */
  readonly places: readonly Place[];
}

/** The map's key for a method that the edge does not have. The facts under this key are those of all methods of the edge together. */
const ANY = "";

class Shapes {
  readonly #byEdge = new Map<string, Map<string, Shape>>();

  add(edge: string, contract: Operation): void {
    const byMethod = this.#byEdge.get(edge) ?? new Map<string, Shape>();
    this.#byEdge.set(edge, byMethod);
    for (const method of [contract.method, ANY]) {
      const accesses = [...(byMethod.get(method)?.accesses ?? []), contract];
      const counting = new Set<Place>(accesses.flatMap(({ scheme }) => schemes[scheme].places));
      // The sources of tokens are always in the same order. The fixed order lets a request with two invalid tokens get an error about the same token
      // with and without an edge.
      const places = [...clientsScheme.places, ...schemes.client.places].filter((place) => counting.has(place));
      const isCommon = accesses.every(({ scheme, tokenless }) => scheme === contract.scheme && tokenless === contract.tokenless);
      byMethod.set(method, { accesses, places, common: isCommon ? contract : undefined });
    }
  }

  /**
   * The contract of an endpoint, if the method and the edge alone decide which tokens count. Undefined if the request has an id but no edge, or if
   * the contracts of node types with this edge differ.
   */
  accessOf(method: string, edge: string | undefined): Access | undefined {
    return edge === undefined ? undefined : this.#byEdge.get(edge)?.get(method)?.common;
  }

  /**
   * D-93: the sources (query, body, header) from which tokens may count. If the request has only an id, or an edge that no node type has, tokens
   * count from every source.
   */
  placesOf(method: string, edge: string | undefined): readonly Place[] {
    const byMethod = edge === undefined ? undefined : this.#byEdge.get(edge);
    return (byMethod?.get(method) ?? byMethod?.get(ANY))?.places ?? clientsScheme.places;
  }
}
