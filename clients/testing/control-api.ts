/** The types of the control API: its nodes, by the keys that they have in a world file, and its operations. */
import type { components, operations } from "./generated/control-api.ts";

type Schemas = components["schemas"];
type EntryOf<Name> = Name extends `${infer Key}_entry` ? Key : never;

/** The entries of each kind in a world file, by their key. */
export type Entries = { [Key in EntryOf<keyof Schemas>]: Schemas[`${Key}_entry` & keyof Schemas] };
/** The nodes of each kind as the control API returns them, by their key in a world file. */
export type Nodes = { [Key in keyof Entries]: Schemas[Key & keyof Schemas] };
/** A world file, in which every key may be left out. */
export type WorldFile = Schemas["world_file"];
export type TokenEntry = NonNullable<WorldFile["tokens"]>[number];

type Json<Content> = Content extends { content: { "application/json": infer Value } } ? Value : never;
type Query<Operation> = Operation extends { parameters: { query?: infer Value } } ? NonNullable<Value> : never;
type Response<Operation> = Operation extends { responses: infer All } ? Json<All[keyof All & (200 | 201)]> : never;

/** The body, the query and the response of each operation of the control API, by the operation's name. */
export type Operations = {
  [Name in keyof operations]: {
    query: Query<operations[Name]>;
    body: operations[Name] extends { requestBody: infer Body } ? Json<Body> : never;
    response: Response<operations[Name]>;
  };
};
