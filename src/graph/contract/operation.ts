/** The types of contracts. A contract is data, written once in a feature. Validation, documents and tests are made from it. */
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
  /** D-16: who may read it. If this is not the operation's policy, each request checks it on the node (`pipeline/fields/field-policies.ts`). */
  readonly policy: Policy;
  /** The value in a row, by default the column of the field's name. If it is undefined, the field is left out. */
  of?(row: R, request: ReadRequest): unknown;
  /** Reads a value that is not in the row, if it is selected: for all rows together, in their order. */
  load?(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly unknown[]>;
  readonly nested?: Nested<R>;
  /** For a field that names another node. Its value is that node's `id`, and with a selection inside, the caller's read of that node (D-38). */
  readonly reference?: Reference<R>;
  /** An edge of the node, which the registry adds. The value is the caller's read of the edge (D-38). */
  readonly edge?: ListOperation;
  /** Only this profile has the field. */
  readonly onlyIn?: "clients";
}

/**
 * A field whose value is an object with fields, or a list of such objects. If a field of it has another policy than the object, that policy is
 * checked on the node that has the object.
 */
export interface Nested<R = Row> {
  /** The node type, if the object is a node with only some of its fields. Documents use it as the name. */
  readonly type?: string;
  readonly set: () => FieldSet;
  /** The value is `{data: […]}`, like that of an edge. */
  readonly isList?: true;
  /** For each row, in their order: the row of its object, or the rows of its list. Undefined if the row has none. */
  load(request: ReadRequest, reader: Reader, rows: readonly R[]): Promise<readonly (Row | readonly Row[] | undefined)[]>;
}

interface Reference<R = Row> {
  /** The type of the named node, which has a read of its own. */
  readonly type: string;
  /** Null if the row names no node. */
  idOf(row: R): string | null;
  /** The fields that can be selected. The registry sets it. */
  readonly set?: () => FieldSet;
}

export interface FieldSet<R = Row> {
  readonly fields: Readonly<Record<string, Field<R>>>;
  /** Returned without the parameter `fields`. */
  readonly defaults: readonly string[];
  readonly clientsDefaults?: readonly string[];
  /** Returned whatever `fields` names (D-37), by default `id` alone. */
  readonly required?: readonly string[];
  /** H7, D-21: a field that only other nodes have is known but not available (422), and any other is refused (400), in both profiles. */
  readonly isExhaustive?: true;
}

/** A header of requests, for documents. The handler reads and checks it. */
interface RequestHeader {
  readonly description: string;
  readonly schema: TSchema;
  readonly isRequired?: true;
}

/** The parts of a contract that operations and reads of a node have in common: surfaces, versions, rights and errors. */
export interface Access {
  /** The clauses that it serves. */
  readonly clauses: readonly string[];
  /** The decisions about it: how open questions are answered, or why it is served if it serves no clause. */
  readonly decisions: readonly string[];
  readonly surfaces: readonly SurfaceName[];
  /** Further surfaces of the profile `clients` (D-55). */
  readonly clientsSurfaces?: readonly SurfaceName[];
  readonly versions: VersionRule;
  readonly scheme: SchemeName;
  readonly policy: Policy;
  /** The kinds of tokens on a surface that takes fewer than the policy (D-133). */
  readonly kindsOn?: Readonly<Partial<Record<SurfaceName, readonly TokenKind[]>>>;
  readonly errorForm: ErrorForm;
  /** Headers of a request that its handler reads, by name. */
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  /** On every response, also on errors (e.g. a deprecation). */
  readonly headers?: Readonly<Record<string, string>>;
  /** D-13 [clients]: if the app allows it, a request without a token counts as the app's own. */
  readonly tokenless?: (app: AppFacts) => boolean;
  /** Its errors, besides those of every request (`commonErrors` of `graph/contract/response-schemas.ts`). */
  readonly errors: readonly DeclaredError[];
}

export interface NodeType<R extends Row = Row> {
  readonly type: string;
  /** The callers who may know that the node exists, for every operation on it (D-16). */
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
  /** The node type. Null if its address has no id (`/debug_token`). */
  readonly on: string | null;
  /** The edge, or the literal for `on: null`. Null means the node itself. */
  readonly edge: string | null;
  /** The callers who may know that the node exists, if this operation allows more of them than the node type. */
  readonly visibility?: Policy;
  /** A literal segment that may be before the id (`/pages/{page_id}/…`, D-03). */
  readonly alsoUnder?: string;
  readonly params: TObject;
  /**
   * D-40: parameters with a place of their own. `strict` reads them only there, `clients` in either place, and both refuse two different values.
   * For all other parameters the body has precedence (D-34).
   */
  readonly places?: Readonly<Record<string, Place>>;
  /** Other names of parameters, which `clients` alone takes (D-40). If both names are in one place, the interface's name counts. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** D-50: `strict` refuses undeclared parameters. Other operations ignore them (D-34). */
  readonly isClosed?: true;
  /** The maximum of a multipart/form-data body with a file, which may be larger than others. */
  readonly multipartBytesMax?: number;
  readonly summary: string;
}

export interface ListOperation<P extends TObject = TObject, R extends Row = Row> extends OperationBase {
  readonly kind: "list";
  readonly method: "GET";
  readonly params: P;
  readonly items: FieldSet<R>;
  /** The node type of the items. Other features may add fields to it, and documents use it as the name. */
  readonly itemType?: string;
  /** The node of an item. Needed if a field of the items has another policy than the operation (D-16). */
  nodeOf?(row: R): NodeRef;
  /** D-35: only cursors, without next and previous. */
  readonly cursorsOnly?: true;
  /** How many columns its sort key has, by default 1. */
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
  /** D-33: `fields` selects from this node after the write: the node whose `id` the response has, or the addressed node. */
  readonly readBack?: { readonly type: string; readonly set: FieldSet };
}

export type Operation = ListOperation | ReadOperation | WriteOperation;

/** The request as a handler gets it. */
export interface OperationRequest<P = unknown> {
  readonly node: NodeRef;
  readonly params: P;
  readonly caller: Caller;
  readonly version: Version;
  readonly world: World;
  /** D-82: whether a named migration is on for this request. `as`: the calling app's current state. */
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
      /** Called if the contract refuses the parameters, which are as they were sent. */
      readonly refused?: (request: OperationRequest<Parameters>, error: unknown) => void;
      readonly notes?: undefined;
    };

/** Further messages of `debug=all` for a request that succeeded (D-34). */
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

/** `prepare` sends requests to other servers before the transaction. `handle` gets its result, and checks again in the transaction what it read. */
export function serveWrite<P extends TObject, A extends TSchema, Prepared = undefined>(
  contract: WriteOperation<P, A>,
  handle: (request: OperationRequest<Static<P>>, tx: Transaction, prepared: Prepared) => Promise<Static<A>>,
  prepare?: (request: OperationRequest<Static<P>>, reader: Reader) => Promise<Prepared>,
  notes?: NotesOn<Static<P>>,
): Served {
  return { contract, handle, ...(prepare === undefined ? {} : { prepare }), ...(notes === undefined ? {} : { notes }) } as unknown as Served;
}

/** A write whose requests share transactions. The feature opens them, and responds to each request after the commit. */
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

/** Parameters that `debug=all` does not report as ignored: general ones, and those that select. */
export const generalParameters: ReadonlySet<string> = new Set([...parametersOfAll, "fields", "limit", "before", "after", "ids"]);

/** In words of JSON Schema: an object with general parameters only. */
export const noOthers = { properties: Object.fromEntries([...parametersOfAll].map((name) => [name, {}])), additionalProperties: false } as const;
