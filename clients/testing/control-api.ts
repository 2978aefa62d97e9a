/** The types of the control API: nodes by the keys of a world file, and operations. */
import type { components, operations } from "./generated/control-api.ts";

type Schemas = components["schemas"];
type EntryOf<Name> = Name extends `${infer Key}_entry` ? Key : never;

/** Entries of a world file, by their key. */
export type Entries = { [Key in EntryOf<keyof Schemas>]: Schemas[`${Key}_entry` & keyof Schemas] };
/** Nodes as the control API returns them, by the key of a world file. */
export type Nodes = { [Key in keyof Entries]: Schemas[Key & keyof Schemas] };
/** Every key may be left out. */
export type WorldFile = Schemas["world_file"];
export type TokenEntry = NonNullable<WorldFile["tokens"]>[number];

type Json<Content> = Content extends { content: { "application/json": infer Value } } ? Value : never;
type Query<Operation> = Operation extends { parameters: { query?: infer Value } } ? NonNullable<Value> : never;
type Response<Operation> = Operation extends { responses: infer All } ? Json<All[keyof All & (200 | 201)]> : never;

/** Body, query and response of each operation of the control API. */
export type Operations = {
  [Name in keyof operations]: {
    query: Query<operations[Name]>;
    body: operations[Name] extends { requestBody: infer Body } ? Json<Body> : never;
    response: Response<operations[Name]>;
  };
};
