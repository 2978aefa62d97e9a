/**
 * A webhook field as data: its object, its key in an entry, whether overrides apply to it, its payload, and an example. The feature whose data an
 * event is about defines the field in `x.webhooks.ts` and passes it to `emit`, which accepts only this field's payload.
 */
import { type Static, type TSchema, Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { NodeId } from "#kernel/ids";

/** The objects of webhooks (D-60). */
export const webhookObjects = ["social", "chatapp_business_account", "page", "catalog"] as const;
export type WebhookObject = (typeof webhookObjects)[number];

/** The invented event from which `example` makes its payload. */
export interface ExampleEvent {
  readonly entity: NodeId;
  readonly phone: NodeId | undefined;
  /** The social-scoped id of a social account; undefined if the account has no such id. */
  readonly scopedId: NodeId | undefined;
  /** World time of the event. */
  readonly nowMs: number;
}

/** The definition of a webhook field. By default, an entry contains the field's updates in `changes`, and overrides do not apply to these updates. */
interface FieldDefinition<S extends TSchema> {
  readonly object: WebhookObject;
  readonly field: string;
  /** The list `changes` of an entry contains `{field, value}` (HOOK-16, D-62); the list `messaging` contains payloads (HOOK-5, HOOK-11). */
  readonly carriedIn?: "changes" | "messaging";
  /**
   * Whether overrides apply to the field's events (ROUTE-1 to ROUTE-3). Events to which no overrides apply always go to the app's own callback
   * (ROUTE-17).
   */
  readonly honoursOverrides?: boolean;
  /** The schema of the payload, without the keys of the envelope around it. */
  readonly payload: S;
  /** Makes an example payload, with which a developer can test a receiver. The values in the example are recognisably invented. */
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

/** The schema for a node's id in a payload. */
export const payloadId = Type.String({ pattern: "^[1-9][0-9]*$" });

/** The id that stands in an example for every node except the event's entity. */
export const EXAMPLE_ID = "1000000000000001";

export interface PayloadProblem {
  /** The path of the wrong value in the payload, e.g. `message.text`; empty if the payload as a whole is wrong. */
  readonly path: string;
  /** The description of the problem, without values of the payload, because they may be personal data. */
  readonly problem: string;
}

const validators = new WeakMap<WebhookField, Validator>();

/** Checks a payload against the schema of its field. Returns the first problem, or undefined if the payload is valid. */
export function findPayloadProblem(field: WebhookField, payload: unknown): PayloadProblem | undefined {
  let validator = validators.get(field);
  if (validator === undefined) {
    // The schema is compiled at the first event of the field, because most fields never have an event.
    validator = Compile(field.payload);
    validators.set(field, validator);
  }
  return validator.Check(payload) ? undefined : problemOf(validator, payload);
}

function problemOf(validator: Validator, payload: unknown): PayloadProblem {
  let deepest: readonly string[] = [];
  let problem = "does not match the schema";
  for (const { keyword, instancePath, message, params } of validator.Errors(payload)) {
    const steps = instancePath.split("/");
    // The schema error `boolean` about an unknown key is skipped, because the object that contains the key reports the key as well. For a union, the
    // deepest error is reported, because this error belongs to the alternative that fits best.
    if (keyword === "boolean" || steps.length <= deepest.length) continue;
    deepest = steps;
    const allowed = "allowedValues" in params ? `: ${params.allowedValues.join(", ")}` : "";
    problem = message + allowed;
  }
  return { path: deepest.slice(1).join("."), problem };
}
