/**
 * What a contract is made of. A contract is data, written once in a feature; validation, documents and tests are made from it.
 */
import type { Static, TObject, TSchema } from "typebox";
import type { AppFacts } from "#auth/app-facts";
import type { Policy } from "#auth/policy";
import type { SchemeName } from "#auth/schemes";
import type { NodeRef, TokenKind } from "#auth/token";
import type { DeclaredError } from "#kernel/errors";
import type { Version } from "#kernel/versions";
import type { Reader, Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { Row } from "#storage/sql";
import type { Caller, GraphRequest, Parameters, SurfaceName } from "../pipeline/request.ts";
import type { MigratedApp } from "../versions/migration-windows.ts";
import type { VersionRule } from "../versions/resolve.ts";
import type { World } from "../worlds/world.ts";

export type Method = "GET" | "POST" | "DELETE";
export type ErrorForm = "flat" | "wrapped";
export type Place = "query" | "body";

/** One field of a node or of a list's items. */
export interface Field<R = Row> {
  readonly schema: TSchema;
  /** D-16: who may read it. Where this is not the operation's policy each request checks it on the node (`pipeline/fields/field-policies.ts`). */
  readonly policy: Policy;
  /** The value in a row; the row's column of the field's own name when left out. Undefined leaves the field out. */
  of?(row: R, request: ReadRequest): unknown;
  /** For a value that needs another look at the database, only when it is selected: of all rows at once, in their order. */
  load?(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly unknown[]>;
  readonly nested?: Nested<R>;
  /**
   * For a field that names another node: its value is that node's `id`, and what is selected inside it is what a read of that node
   * returns to the caller (D-38).
   */
  readonly reference?: Reference<R>;
  /** An edge of the node, which the registry adds: the value is what a read of the edge returns to the caller (D-38). */
  readonly edge?: ListOperation;
  /** Present in this profile alone. */
  readonly onlyIn?: "clients";
}

/**
 * A field that is itself an object with fields, or a list of such. Fields of it with another policy than the object's are asked of
 * the node that holds the object.
 */
export interface Nested<R = Row> {
  /** The node type, where the object is a node of which only these fields are shown. Documents name it by that. */
  readonly type?: string;
  readonly set: () => FieldSet;
  /** The value is `{data: […]}`, as of an edge. */
  readonly isList?: true;
  /** For each of the rows, in their order: the row of its object, or those of its list. Undefined where it has none. */
  load(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly (Row | readonly Row[] | undefined)[]>;
}

interface Reference<R = Row> {
  /** Of the node that is named. It has a read of its own. */
  readonly type: string;
  /** Null: the row names none. */
  idOf(row: R): string | null;
  /** What can be selected; the registry says it. */
  readonly set?: () => FieldSet;
}

export interface FieldSet<R = Row> {
  readonly fields: Readonly<Record<string, Field<R>>>;
  /** Returned when `fields` is not given. */
  readonly defaults: readonly string[];
  readonly clientsDefaults?: readonly string[];
  /** Returned whatever `fields` asks for (D-37); where left out, `id` alone. */
  readonly required?: readonly string[];
  /** H7, D-21: a field that only other nodes have is known but not available (422), and any other is refused (400), in both profiles. */
  readonly isExhaustive?: true;
}

/** A header of requests, for documents: the handler reads and checks it. */
interface RequestHeader {
  readonly description: string;
  readonly schema: TSchema;
  readonly isRequired?: true;
}

/** Where something is served, to whom, and how it is refused: the same for operations and for reads of a node. */
export interface Access {
  /** The clauses that it serves. */
  readonly clauses: readonly string[];
  /** The decisions of its own that say what the document leaves open, or why it is served at all where it serves no clause. */
  readonly decisions: readonly string[];
  readonly surfaces: readonly SurfaceName[];
  /** Where the `clients` profile serves it too (D-55). */
  readonly clientsSurfaces?: readonly SurfaceName[];
  readonly versions: VersionRule;
  readonly scheme: SchemeName;
  readonly policy: Policy;
  /** Where a surface takes fewer kinds of tokens than the policy (D-133). */
  readonly kindsOn?: Readonly<Partial<Record<SurfaceName, readonly TokenKind[]>>>;
  readonly errorForm: ErrorForm;
  /** Headers of a request that its handler reads, by name. */
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  /** On every response of it, errors too (e.g. a deprecation). */
  readonly headers?: Readonly<Record<string, string>>;
  /** D-13 [clients]: where the app allows it, a request on it without any token counts as the app's own. */
  readonly tokenless?: (app: AppFacts) => boolean;
  /** Which errors may leave it, beside those that every request may meet (`commonErrors` of `graph/contract/response-schemas.ts`). */
  readonly errors: readonly DeclaredError[];
}

export interface NodeType<R extends Row = Row> {
  readonly type: string;
  /** Who may know that the node exists, for every operation on it (D-16). */
  readonly policy: Policy;
  /** Absent: `GET /{id}` is not part of the interface for this type. */
  readonly reading?: Access & {
    readonly operation: string;
    readonly set: FieldSet<R>;
    find(request: ReadRequest, reader: Reader, node: NodeRef): Promise<R | undefined>;
  };
}

interface OperationBase extends Access {
  /** Verb and noun, e.g. `createPersona`. */
  readonly operation: string;
  readonly method: Method;
  /** The node type it hangs on; null for an address without an id (`/debug_token`). */
  readonly on: string | null;
  /** The edge, or the literal for `on: null`; null for the node itself. */
  readonly edge: string | null;
  /** Who may know that the node exists, where that is wider for this operation than for its node type. */
  readonly visibility?: Policy;
  /** A literal segment that may stand before the id (`/pages/{page_id}/…`, D-03). */
  readonly alsoUnder?: string;
  readonly params: TObject;
  /**
   * D-40: parameters with a place of their own. `strict` reads them only there, `clients` in either place, and both refuse two
   * different values. Of others the body's value wins (D-34).
   */
  readonly places?: Readonly<Record<string, Place>>;
  /** Other names of parameters, which `clients` alone takes (D-40). Of two in one place the interface's name counts. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** D-50: `strict` refuses parameters that are not declared. Elsewhere they are ignored (D-34). */
  readonly isClosed?: true;
  /** For a body of multipart/form-data that may be larger than others: it holds a file. */
  readonly multipartBytesMax?: number;
  readonly summary: string;
}

export interface ListOperation<P extends TObject = TObject, R extends Row = Row> extends OperationBase {
  readonly kind: "list";
  readonly method: "GET";
  readonly params: P;
  readonly items: FieldSet<R>;
  /** The node type of the items: other features may give fields to it, and documents name it by that. */
  readonly itemType?: string;
  /** Which node an item is: needed where a field of the items has a policy other than the operation's (D-16). */
  nodeOf?(row: R): NodeRef;
  /** D-35: cursors alone, neither next nor previous. */
  readonly cursorsOnly?: true;
  /** How many columns its sort key has: 1 unless said otherwise. */
  readonly keyColumns?: number;
  /** Adds top-level keys beside `data` and `paging`, e.g. `summary`. */
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
  /** D-33: what `fields` on the request selects from, once it is written: the node whose `id` the response has, or the addressed node. */
  readonly readBack?: { readonly type: string; readonly set: FieldSet };
}

export type Operation = ListOperation | ReadOperation | WriteOperation;

/** What every handler is given, beside its database. */
export interface OperationRequest<P = unknown> {
  readonly node: NodeRef;
  readonly params: P;
  readonly caller: Caller;
  readonly version: Version;
  readonly world: World;
  /** D-82: whether a named migration is on for this request; `as`: for the calling app as it is by now. */
  isMigrated(name: string, as?: MigratedApp): boolean;
  readonly graphRequest: GraphRequest;
}

export type ReadRequest = Omit<OperationRequest, "params">;

export interface ListRequest<P = unknown> extends OperationRequest<P> {
  readonly page: PageRequest;
}

export type ListResult<R extends Row> = ListPage<R> & { readonly extras?: Readonly<Record<string, unknown>> };

/** An operation with its handler, as the registry takes it. */
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
      /** Told of a request whose parameters the contract refuses: they are as they were sent. */
      readonly refused?: (request: OperationRequest<Parameters>, error: unknown) => void;
      readonly notes?: undefined;
    };

/** What `debug=all` says of a request that succeeded, beside what it says of every request (D-34). */
type NotesOn<P = unknown> = (request: OperationRequest<P>) => readonly string[];

export function serveList<P extends TObject, R extends Row>(
  contract: ListOperation<P, R>,
  handle: (request: ListRequest<Static<P>>, reader: Reader) => Promise<ListResult<R>>,
): Served {
  return { contract, handle } as unknown as Served;
}

export function serveRead<P extends TObject, A extends TSchema>(
  contract: ReadOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Static<A>>,
): Served {
  return { contract, handle } as unknown as Served;
}

/**
 * `prepare` asks a network what must be known first (never inside a transaction); `handle` gets what `prepare` returned
 * and checks again, in the transaction, whatever it saw.
 */
export function serveWrite<P extends TObject, A extends TSchema, Prepared = undefined>(
  contract: WriteOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, tx: Transaction, prepared: Prepared) => Promise<Static<A>>,
  prepare?: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Prepared>,
  notes?: NotesOn<Static<P>>,
): Served {
  return { contract, handle, ...(prepare === undefined ? {} : { prepare }), ...(notes === undefined ? {} : { notes }) } as unknown as Served;
}

/** A write of which several requests share a transaction: the feature opens it, and responds to each request once it is durable. */
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
 * D-315: what client libraries add to every request, and Plaza ignores. Sources: `format`, of RestFB (`DefaultFacebookClient`) and of the
 * mobile libraries, which add `sdk` and `include_headers` (`GraphRequest`); `method`, `pretty`, `sdk`, `suppress_http_code` and `transport`,
 * of the library for web pages and of the explorer; `locale`, of both.
 */
const ofLibraries = ["format", "include_headers", "locale", "pretty", "sdk", "suppress_http_code", "transport"];

/** D-315: what every operation takes, also one that refuses all other parameters (D-50, D-57). */
export const parametersOfAll: ReadonlySet<string> = new Set([
  ...["access_token", "oauth_token", "appsecret_proof", "method", "metadata", "debug", "migrations_override"],
  ...ofLibraries,
]);

/** Beside those, what selects, where an operation has something to select from. */
export const generalParameters: ReadonlySet<string> = new Set([...parametersOfAll, "fields", "limit", "before", "after", "ids"]);

/** In words of JSON Schema: an object with none but those of every operation. */
export const noOthers = { properties: Object.fromEntries([...parametersOfAll].map((name) => [name, {}])), additionalProperties: false } as const;
