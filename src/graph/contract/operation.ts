/** The types of contracts. A contract is data that a feature writes once. Checks of requests, documents and tests are made from the contract. */
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
/** D-20: the form of an error: flat for page messaging, wrapped in the key `error` for all other operations. */
export type ErrorForm = "flat" | "wrapped";
export type Place = "query" | "body";

/** One field of a node or of a list's items. */
export interface Field<R = Row> {
  readonly schema: TSchema;
  /**
   * D-16: who may read the field. If this policy is not the operation's, each request checks it on the node (`pipeline/fields/field-policies.ts`).
   */
  readonly policy: Policy;
  /**
   * Returns the field's value for a row. By default the value is the column with the field's name. If the value is undefined, the response has no
   * such field.
   */
  of?(row: R, request: ReadRequest): unknown;
  /** Reads a value that is not in the row, if the field is selected: one call for all rows together, with a value for each row in their order. */
  load?(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly unknown[]>;
  readonly nested?: Nested<R>;
  /**
   * Set if the field names another node. The field's value is that node's `id`; with a selection inside, the value is the caller's read of that node
   * (D-38).
   */
  readonly reference?: Reference<R>;
  /** Set if the field is an edge of the node; the registry adds such fields. The value is the caller's read of the edge (D-38). */
  readonly edge?: ListOperation;
  /** If this is set, only this profile has the field. */
  readonly onlyIn?: "clients";
}

/**
 * A field whose value is an object with fields, or a list of such objects. If a field of the object has another policy than the object, that policy
 * is checked on the node that has the object.
 */
export interface Nested<R = Row> {
  /** The node type, if the object is a node with only some of its fields. Documents use this type as the object's name. */
  readonly type?: string;
  readonly set: () => FieldSet;
  /** The value is `{data: […]}`, like the value of an edge. */
  readonly isList?: true;
  /**
   * Reads the objects of all rows. For each row, in their order, the result is the row of its object, or the rows of its list. Undefined if the row
   * has no object.
   */
  load(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly (Row | readonly Row[] | undefined)[]>;
}

interface Reference<R = Row> {
  /** The type of the node that the field names. The named type must have a read of its own. */
  readonly type: string;
  /** The id of the node. Null if the row refers to no node. */
  idOf(row: R): string | null;
  /** The fields of the node that can be selected. The registry sets this function. */
  readonly set?: () => FieldSet;
}

/** The fields of a node type, of the items of a list, or of an object, from which a caller selects. */
export interface FieldSet<R = Row> {
  readonly fields: Readonly<Record<string, Field<R>>>;
  /** The fields that are returned if the request has no parameter `fields`. */
  readonly defaults: readonly string[];
  readonly clientsDefaults?: readonly string[];
  /** The fields that are returned whatever `fields` selects (D-37), by default only `id`. */
  readonly required?: readonly string[];
  /**
   * H7, D-21: in both profiles, a field that only other nodes have is known but not available (422), and any other unknown field is refused (400).
   */
  readonly isExhaustive?: true;
}

/** A header of requests, for documents. The handler itself reads and checks the header. */
interface RequestHeader {
  readonly description: string;
  readonly schema: TSchema;
  readonly isRequired?: true;
}

/** The parts of a contract that operations and reads of a node have in common: surfaces, versions, rights and errors. */
export interface Access {
  /** The clauses of the interface that the operation serves. */
  readonly clauses: readonly string[];
  /** The decisions about the operation: how open questions are answered, or why the operation is served if it serves no clause. */
  readonly decisions: readonly string[];
  readonly surfaces: readonly SurfaceName[];
  /** Additional surfaces on which the profile `clients` serves the operation (D-55). */
  readonly clientsSurfaces?: readonly SurfaceName[];
  readonly versions: VersionRule;
  readonly scheme: SchemeName;
  readonly policy: Policy;
  /** The kinds of tokens that a surface accepts, if it accepts fewer kinds than the policy (D-133). */
  readonly kindsOn?: Readonly<Partial<Record<SurfaceName, readonly TokenKind[]>>>;
  readonly errorForm: ErrorForm;
  /** Headers of a request that the operation's handler reads, by name. */
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  /** Headers of every response, also of errors (e.g. that an operation is deprecated). */
  readonly headers?: Readonly<Record<string, string>>;
  /** D-13 [clients]: whether the app allows requests without a token. A request without a token then counts as a request with the app's own token. */
  readonly tokenless?: (app: AppFacts) => boolean;
  /** The errors of this operation, besides the errors of every request (`commonErrors` of `graph/contract/response-schemas.ts`). */
  readonly errors: readonly DeclaredError[];
}

/** A kind of node of the interface, e.g. `page`, with its rules of visibility and its read. */
export interface NodeType<R extends Row = Row> {
  readonly type: string;
  /** The callers who may know that the node exists, for every operation on the node (D-16). */
  readonly policy: Policy;
  /** The read of the node. Without a read of the node, `GET /{id}` is not part of the interface for this node type. */
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
  /** The node type on which the operation is. Null if the address has no id (`/debug_token`). */
  readonly on: string | null;
  /** The edge, or the literal of the address if `on` is null. Null means the node itself. */
  readonly edge: string | null;
  /** The callers who may know that the node exists, if this operation allows more callers than the node type. */
  readonly visibility?: Policy;
  /** A literal segment that may come before the id (`/pages/{page_id}/…`, D-03). */
  readonly alsoUnder?: string;
  readonly params: TObject;
  /**
   * D-40: parameters that must be in one place, the query or the body. The profile `strict` reads such a parameter only in its place, `clients` in
   * either place, and both refuse two different values. For all other parameters the body has precedence (D-34).
   */
  readonly places?: Readonly<Record<string, Place>>;
  /** Other names of parameters, which only the profile `clients` accepts (D-40). If both names are in one place, the interface's own name counts. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** D-50: in the profile `strict` the operation refuses undeclared parameters. Other operations ignore undeclared parameters (D-34). */
  readonly isClosed?: true;
  /** The greatest number of bytes of a multipart/form-data body with a file. This maximum may be larger than the limit of other bodies. */
  readonly multipartBytesMax?: number;
  readonly summary: string;
}

export interface ListOperation<P extends TObject = TObject, R extends Row = Row> extends OperationBase {
  readonly kind: "list";
  readonly method: "GET";
  readonly params: P;
  readonly items: FieldSet<R>;
  /** The node type of the items. Other features may add fields to this type, and documents use it as the name of the items. */
  readonly itemType?: string;
  /** Returns the node of an item. Needed if a field of the items has another policy than the operation (D-16). */
  nodeOf?(row: R): NodeRef;
  /** D-35: the paging of the list has only cursors, without the links `next` and `previous`. */
  readonly cursorsOnly?: true;
  /** The number of columns of the list's sort key, by default 1. */
  readonly keyColumns?: number;
  /** The schema of top-level keys beside `data` and `paging`, e.g. `summary`. */
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
  /** D-33: after the write, `fields` selects from this node: the node whose `id` the response has, or the addressed node. */
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
  /** D-82: whether a named migration is on for this request. `as` is the current state of the calling app, if the handler has read it. */
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
      /** Called if the contract refuses the parameters. The request then has the parameters as they were sent. */
      readonly refused?: (request: OperationRequest<Parameters>, error: unknown) => void;
      readonly notes?: undefined;
    };

/** Returns additional messages of `debug=all` for a request that succeeded (D-34). */
type NotesOn<P = unknown> = (request: OperationRequest<P>) => readonly string[];

export function serveList<P extends TObject, R extends Row>(
  contract: ListOperation<P, R>,
  handle: (request: ListRequest<Static<P>>, reader: Reader) => Promise<ListResult<R>>,
): Served {
  return { contract, handle } as unknown as Served;
}

/** Lists nodes that belong to the node of the address. Such a list has no parameters of its own. */
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
 * A write in one transaction. `prepare` sends requests to other servers before the transaction. `handle` gets the result of `prepare`, and must check
 * in the transaction whatever `prepare` has read.
 */
export function serveWrite<P extends TObject, A extends TSchema, Prepared = undefined>(
  contract: WriteOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, tx: Transaction, prepared: Prepared) => Promise<Static<A>>,
  prepare?: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Prepared>,
  notes?: NotesOn<Static<P>>,
): Served {
  return { contract, handle, ...(prepare === undefined ? {} : { prepare }), ...(notes === undefined ? {} : { notes }) } as unknown as Served;
}

/** A write whose requests share transactions. The feature opens these transactions, and responds to each request after the commit. */
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

/** D-315: the parameters that every operation accepts, even an operation that refuses all other parameters (D-50, D-57). */
export const parametersOfAll: ReadonlySet<string> = new Set([
  ...["access_token", "oauth_token", "appsecret_proof", "method", "metadata", "debug", "migrations_override"],
  ...ofLibraries,
]);

/** Parameters that `debug=all` does not report as ignored: general parameters, and those that select fields or pages. */
export const generalParameters: ReadonlySet<string> = new Set([...parametersOfAll, "fields", "limit", "before", "after", "ids"]);

/** A schema of an object that has only general parameters. */
export const noOthers = { properties: Object.fromEntries([...parametersOfAll].map((name) => [name, {}])), additionalProperties: false } as const;
