/**
 * A webhook field as data: its object, its place in an entry, whether it follows overrides, its payload, and an example. The feature
 * that owns its noun defines it in `x.webhooks.ts` and gives it to `emit`, which takes no other payload.
 */
import { type Static, type TSchema, Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { NodeId } from "#kernel/ids";

/** D-60. */
export const webhookObjects = ["social", "chatapp_business_account", "page", "catalog"] as const;
export type WebhookObject = (typeof webhookObjects)[number];

/** The event that an example shows. */
export interface ExampleEvent {
  readonly entity: NodeId;
  readonly phone: NodeId | undefined;
  /** The social-scoped id of a social account that has one. */
  readonly scopedId: NodeId | undefined;
  /** World time. */
  readonly nowMs: number;
}

/** The defaults are what most fields are: carried in `changes`, without overrides. */
interface FieldDefinition<S extends TSchema> {
  readonly object: WebhookObject;
  readonly field: string;
  /** `changes`: `{field, value}` (HOOK-16, D-62); `messaging`: the payload itself (HOOK-5, HOOK-11). */
  readonly carriedIn?: "changes" | "messaging";
  /** ROUTE-1 to ROUTE-3, or always the app's own callback (ROUTE-17). */
  readonly honoursOverrides?: boolean;
  /** Without what belongs to the envelope. */
  readonly payload: S;
  /** For trying a receiver out; recognisable as made up. */
  example(event: ExampleEvent): Static<S>;
  readonly clauses?: readonly string[];
  readonly summary: string;
}

export type WebhookField<S extends TSchema = TSchema> = Required<FieldDefinition<S>>;

export const defineWebhookField = <S extends TSchema>(words: FieldDefinition<S>): WebhookField<S> => ({
  carriedIn: "changes",
  honoursOverrides: false,
  clauses: [],
  ...words,
});

/** A node's id in a payload. */
export const payloadId = Type.String({ pattern: "^[1-9][0-9]*$" });

/** The id of everything that an example names beside its entity. */
export const EXAMPLE_ID = "1000000000000001";

export interface PayloadProblem {
  /** The place in the payload, e.g. `message.text`; empty for all of it. */
  readonly path: string;
  /** Does not contain values of the payload, which may be personal. */
  readonly problem: string;
}

const validators = new WeakMap<WebhookField, Validator>();

/** How the payload breaks its field's contract; undefined: it keeps it. */
export function findPayloadProblem(field: WebhookField, payload: unknown): PayloadProblem | undefined {
  let validator = validators.get(field);
  if (validator === undefined) {
    // Compiled with the first event: most fields never have one.
    validator = Compile(field.payload);
    validators.set(field, validator);
  }
  return validator.Check(payload) ? undefined : problemOf(validator, payload);
}

function problemOf(validator: Validator, payload: unknown): PayloadProblem {
  let deepest: readonly string[] = [];
  let problem = "does not keep its contract";
  for (const { keyword, instancePath, message, params } of validator.Errors(payload)) {
    const steps = instancePath.split("/");
    // The object that holds an unknown key reports it. In a union, the alternative that fits best was meant.
    if (keyword === "boolean" || steps.length <= deepest.length) continue;
    deepest = steps;
    const allowed = "allowedValues" in params ? `: ${params.allowedValues.join(", ")}` : "";
    problem = message + allowed;
  }
  return { path: deepest.slice(1).join("."), problem };
}
