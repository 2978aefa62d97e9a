/**
 * The types of contracts. A contract is data that a feature writes once. The checks of requests, the OpenAPI documents and some tests are generated
 * from contracts.
 */
import type { Static, TObject, TSchema } from "typebox";
import type { AppFacts } from "#auth/app-facts";
import type { Policy } from "#auth/policy";
import type { SchemeName } from "#auth/schemes";
import type { NodeRef, TokenKind } from "#auth/token";
import type { DeclaredError } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Version } from "#kernel/versions";
import type { Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Row } from "#storage/sql";
import type { Caller, GraphRequest, Parameters, SurfaceName } from "../pipeline/request.ts";
import type { MigratedApp } from "../versions/migration-windows.ts";
import type { VersionRule } from "../versions/resolve.ts";
import type { World } from "../worlds/world.ts";

export type Method = "GET" | "POST" | "DELETE";
/** D-20: the form of an error. Errors of page messaging are flat objects; errors of all other operations are wrapped in the key `error`. */
export type ErrorForm = "flat" | "wrapped";
export type Place = "query" | "body";

/** One field of a node or of a list's items. */
export interface Field<R = Row> {
  readonly schema: TSchema;
  /**
   * D-16: the callers who may read the field. If the field's policy differs from the operation's, each request checks it on the node
   * (`pipeline/fields/field-policies.ts`).
   */
  readonly policy: Policy;
  /**
   * Returns the field's value for a row. By default the field's value is the column of the row with the field's name. If the field's value is
   * undefined, the response does not have the field.
   */
  of?(row: R, request: ReadRequest): unknown;
  /**
   * Reads the values of a selected field that are not in the rows. The function that reads the values is called once for all rows, and returns one
   * value for each row in their order.
   */
  load?(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly unknown[]>;
  readonly nested?: Nested<R>;
  /**
   * Set if the field refers to another node. The value of a field that refers to a node is the `id` of that node. If the caller selects
   * fields inside a reference, the value is a read of the referenced node with the caller's rights (D-38).
   */
  readonly reference?: Reference<R>;
  /**
   * Set if the field is an edge of the node. The registry adds the fields for edges. The value of a field for an edge is a read of the edge with the
   * caller's rights (D-38).
   */
  readonly edge?: ListOperation;
  /** The only profile whose responses have the field. Absent if the responses of all profiles have the field. */
  readonly onlyIn?: "clients";
}

/**
 * A field whose value is an object with fields, or a list of such objects. If a field inside the object has a different policy, that policy is
 * checked on the node to which the object belongs.
 */
export interface Nested<R = Row> {
  /**
   * The node type, if the field's object is a node of which only some fields are shown. OpenAPI documents use this node type as the object's name.
   */
  readonly type?: string;
  readonly set: () => FieldSet;
  /** Set if the field's value is `{data: […]}`, like the value of an edge. */
  readonly isList?: true;
  /**
   * Reads the field's objects for all rows at once. The list of results has one item for each row, in their order: the row of its object, the rows of
   * its list, or undefined if the row has no object.
   */
  load(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly (Row | readonly Row[] | undefined)[]>;
}

interface Reference<R = Row> {
  /** The type of the node to which the field refers. Nodes of the referenced type must be readable by their id. */
  readonly type: string;
  /** The id of the node to which the field of a row refers. Null if the row does not refer to another node. */
  idOf(row: R): string | null;
  /** The fields of the referenced node that a caller can select. The registry sets the function that returns the node's fields. */
  readonly set?: () => FieldSet;
}

/** The fields of a node type, of the items of a list, or of an object, from which a caller selects. */
export interface FieldSet<R = Row> {
  readonly fields: Readonly<Record<string, Field<R>>>;
  /** The fields in the response to a request without the parameter `fields`. */
  readonly defaults: readonly string[];
  readonly clientsDefaults?: readonly string[];
  /** The fields that every response has, even if `fields` does not select them (D-37). By default only `id` is in every response. */
  readonly required?: readonly string[];
  /**
   * H7, D-21: the rule for unknown fields in `fields`, which is the same in both profiles. If other nodes have a field with this name, the error says
   * that the field is not available (422). A field that no node has is refused (400).
   */
  readonly isExhaustive?: true;
}

/** A header of requests, as OpenAPI documents describe it. The operation's handler itself reads and checks the header. */
interface RequestHeader {
  readonly description: string;
  readonly schema: TSchema;
  readonly isRequired?: true;
}

/** The properties that contracts of operations and reads of a node have in common: surfaces, versions, rights and errors. */
export interface Access {
  /** The clauses of the interface that the operation implements. */
  readonly clauses: readonly string[];
  /**
   * The decisions that concern the operation. These decisions say how open questions are answered, or why the operation exists if it implements no
   * clause.
   */
  readonly decisions: readonly string[];
  readonly surfaces: readonly SurfaceName[];
  /** Further surfaces on which only the profile `clients` serves the operation (D-55). */
  readonly clientsSurfaces?: readonly SurfaceName[];
  readonly versions: VersionRule;
  readonly scheme: SchemeName;
  readonly policy: Policy;
  /** The types of tokens that a surface accepts, if it accepts fewer types than the policy (D-133). */
  readonly kindsOn?: Readonly<Partial<Record<SurfaceName, readonly TokenKind[]>>>;
  readonly errorForm: ErrorForm;
  /** The request headers that the operation's handler reads, by name. */
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  /** Headers of every response of the operation, including errors. For example, a response header may say that the operation is deprecated. */
  readonly headers?: Readonly<Record<string, string>>;
  /** D-13 [clients]: whether the app allows requests without a token. A request without a token then counts as a request with the app's own token. */
  readonly tokenless?: (app: AppFacts) => boolean;
  /** The errors of this operation, in addition to the errors that every request may have (`commonErrors` of `graph/contract/response-schemas.ts`). */
  readonly errors: readonly DeclaredError[];
}

/** A type of node, e.g. `page`, with its policy and its read. */
export interface NodeType<R extends Row = Row> {
  readonly type: string;
  /** The callers who may know that the node exists. This policy applies to every operation on the node (D-16). */
  readonly policy: Policy;
  /** The read of the node by its id. If the read is absent, `GET /{id}` is not part of the interface for this node type. */
  readonly reading?: Access & {
    readonly operation: string;
    readonly set: FieldSet<R>;
    find(request: ReadRequest, reader: Reader, node: NodeRef): Promise<R | undefined>;
  };
}

interface OperationBase extends Access {
  /** The operation's name, a verb and a noun, e.g. `createPersona`. */
  readonly operation: string;
  readonly method: Method;
  /** The node type to which the operation belongs. Null if the operation's path has no id (`/debug_token`). */
  readonly on: string | null;
  /** The edge of the operation, or the whole path if the path does not have an id. Null if the operation is on the node itself. */
  readonly edge: string | null;
  /** The callers who may know that the node exists, if this operation allows more of them than the node type does. */
  readonly visibility?: Policy;
  /** A fixed path segment that may come before the id (`/pages/{page_id}/…`, D-03). */
  readonly alsoUnder?: string;
  readonly params: TObject;
  /**
   * D-40: parameters that belong either in the query or in the body. The profile `strict` reads the listed parameters only from the query, or only
   * from the body, as the list says. The profile `clients` reads the listed parameters from both query and body. Both profiles refuse a request if
   * its query and its body have different values for a listed parameter. For parameters that may be in the query and in the body, the body has
   * precedence (D-34).
   */
  readonly places?: Readonly<Record<string, Place>>;
  /**
   * Other names of parameters, which only the profile `clients` accepts (D-40). If a request has a parameter under both names, the interface's own
   * name counts.
   */
  readonly aliases?: Readonly<Record<string, string>>;
  /** D-50: in the profile `strict` the operation refuses undeclared parameters. Other operations ignore undeclared parameters (D-34). */
  readonly isClosed?: true;
  /** The greatest number of bytes of a multipart/form-data body with a file. The limit for request bodies without a file may be smaller. */
  readonly multipartBytesMax?: number;
  readonly summary: string;
}

export interface ListOperation<P extends TObject = TObject, R extends Row = Row> extends OperationBase {
  readonly kind: "list";
  readonly method: "GET";
  readonly params: P;
  readonly items: FieldSet<R>;
  /**
   * The node type of the list's items. Other features may add fields to the node type of the items. OpenAPI documents use this node type as the name
   * of the list's items.
   */
  readonly itemType?: string;
  /**
   * Returns the node to which an item of the list belongs. The function that returns an item's node is needed if a field of the items has another
   * policy than the operation (D-16).
   */
  nodeOf?(row: R): NodeRef;
  /** D-35: set if the paging of the list has only cursors, without the links `next` and `previous`. */
  readonly cursorsOnly?: true;
  /** The number of columns in the list's sort key, by default 1. */
  readonly keyColumns?: number;
  /** The schema of the list's top-level keys beside `data` and `paging`, e.g. `summary`. */
  readonly extras?: TSchema;
}

interface ReadOperation<P extends TObject = TObject, A extends TSchema = TSchema> extends OperationBase {
  readonly kind: "read";
  readonly method: "GET";
  readonly params: P;
  readonly returns: A;
}

interface WriteOperation<P extends TObject = TObject, A extends TSchema = TSchema> extends OperationBase {
  readonly kind: "write";
  readonly method: "POST" | "DELETE";
  readonly params: P;
  readonly returns: A;
  /**
   * D-33: set if `fields` selects from a node after the write. The node from which `fields` selects is the one whose `id` is in the response, or else
   * the addressed node.
   */
  readonly readBack?: { readonly type: string; readonly set: FieldSet };
}

export type Operation = ListOperation | ReadOperation | WriteOperation;

/** The request as the handler of an operation gets it. */
export interface OperationRequest<P = unknown> {
  readonly node: NodeRef;
  readonly params: P;
  readonly caller: Caller;
  readonly version: Version;
  readonly world: World;
  /** D-82: whether the named migration is on for this request. `as` has the app's current data, if the handler has already read the app. */
  isMigrated(name: string, as?: MigratedApp): boolean;
  readonly graphRequest: GraphRequest;
}

export type ReadRequest = Omit<OperationRequest, "params">;

export interface ListRequest<P = unknown> extends OperationRequest<P> {
  readonly page: PageRequest;
}

export type ListResult<R extends Row> = ListPage<R> & { readonly extras?: Readonly<Record<string, unknown>> };

/** An operation with its handler, as the registry stores it. */
export type Served =
  | { readonly contract: ListOperation; readonly handle: (request: ListRequest, reader: Reader) => Promise<ListResult<Row>> }
  | { readonly contract: ReadOperation; readonly handle: (request: OperationRequest, reader: Reader) => Promise<unknown> }
  | {
      readonly contract: WriteOperation;
      readonly handle: (request: OperationRequest, tx: Transaction, prepared: unknown) => Promise<unknown>;
      readonly prepare?: (request: OperationRequest, reader: Reader) => Promise<unknown>;
      readonly notes?: NotesOn;
      readonly submit?: undefined;
    }
  | {
      readonly contract: WriteOperation;
      readonly submit: (request: OperationRequest) => Promise<unknown>;
      /**
       * Called if the request's parameters do not match the contract. If the parameters do not match, the request has them as the client sent them.
       */
      readonly refused?: (request: OperationRequest<Parameters>, error: unknown) => void;
      readonly notes?: undefined;
    };

/** Returns further messages of `debug=all` for a request that succeeded (D-34). */
type NotesOn<P = unknown> = (request: OperationRequest<P>) => readonly string[];

export function serveList<P extends TObject, R extends Row>(
  contract: ListOperation<P, R>,
  handle: (request: ListRequest<Static<P>>, reader: Reader) => Promise<ListResult<R>>,
): Served {
  return { contract, handle } as unknown as Served;
}

/** Lists nodes that belong to the addressed node. A list of nodes that belong to another node has no parameters of its own. */
export const serveListOf = <P extends TObject, R extends Row>(
  contract: ListOperation<P, R>,
  list: (reader: Reader, owner: NodeId, page: PageRequest) => Promise<ListPage<R>>,
): Served => serveList(contract, (request, reader) => list(reader, request.node.id, request.page));

export function serveRead<P extends TObject, A extends TSchema>(
  contract: ReadOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Static<A>>,
): Served {
  return { contract, handle } as unknown as Served;
}

/**
 * A write in one transaction. `prepare` sends requests to other servers before the transaction. In a write, `handle` gets the result of `prepare`.
 * Inside the transaction, `handle` must check again everything that `prepare` has read.
 */
export function serveWrite<P extends TObject, A extends TSchema, Prepared = undefined>(
  contract: WriteOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, tx: Transaction, prepared: Prepared) => Promise<Static<A>>,
  prepare?: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Prepared>,
  notes?: NotesOn<Static<P>>,
): Served {
  return { contract, handle, ...(prepare === undefined ? {} : { prepare }), ...(notes === undefined ? {} : { notes }) } as unknown as Served;
}

/**
 * A write that uses one transaction for several requests. The feature opens the shared transaction, and responds to each request after the commit.
 */
export const serveIntake = <P extends TObject, A extends TSchema>(
  contract: WriteOperation<P, A>,
  submit: (request: OperationRequest<Static<P>>) => Promise<Static<A>>,
  refused?: (request: OperationRequest<Parameters>, error: unknown) => void,
): Served => ({ contract, submit, refused }) as unknown as Served;

export const listOperation = <P extends TObject, R extends Row>(contract: Omit<ListOperation<P, R>, "kind" | "method">): ListOperation<P, R> => ({
  kind: "list",
  method: "GET",
  ...contract,
});

export const readOperation = <P extends TObject, A extends TSchema>(contract: Omit<ReadOperation<P, A>, "kind" | "method">): ReadOperation<P, A> => ({
  kind: "read",
  method: "GET",
  ...contract,
});

export const writeOperation = <P extends TObject, A extends TSchema>(contract: Omit<WriteOperation<P, A>, "kind">): WriteOperation<P, A> => ({
  kind: "write",
  ...contract,
});

/**
 * D-315: parameters that client libraries add to every request, and that Plaza ignores. Sources: RestFB (`DefaultFacebookClient`) and the mobile
 * libraries (`GraphRequest`) add `format`; the mobile libraries also add `sdk` and `include_headers`; the library for web pages and the explorer add
 * `method`, `pretty`, `sdk`, `suppress_http_code` and `transport`; both groups add `locale`.
 */
const ofLibraries = ["format", "include_headers", "locale", "pretty", "sdk", "suppress_http_code", "transport"];

/**
 * D-315: the parameters that every operation accepts. Even an operation that refuses undeclared parameters accepts these general parameters (D-50,
 * D-57).
 */
export const parametersOfAll: ReadonlySet<string> = new Set([
  ...["access_token", "oauth_token", "appsecret_proof", "method", "metadata", "debug", "migrations_override"],
  ...ofLibraries,
]);

/** The parameters that `debug=all` never reports as ignored: general parameters, and parameters that select fields or pages. */
export const generalParameters: ReadonlySet<string> = new Set([...parametersOfAll, "fields", "limit", "before", "after", "ids"]);

/** The schema of an object that may have only general parameters. */
export const noOthers = { properties: Object.fromEntries([...parametersOfAll].map((name) => [name, {}])), additionalProperties: false } as const;
