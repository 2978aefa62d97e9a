/**
 * Every webhook field as data: what it belongs to, how it stands in an entry, whether it follows overrides, what it carries.
 * Subscriptions, routing, the payload check and the documents are made from this table.
 */
import type { TSchema } from "typebox";
import { Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { comment, labelChange, liveVideoChange, notShown, selfMessageEcho, selfPostback } from "./field-payloads.ts";

/** D-60. */
export const webhookObjects = ["social", "chatapp_business_account", "page"] as const;
export type WebhookObject = (typeof webhookObjects)[number];

export interface WebhookField {
  readonly object: WebhookObject;
  readonly field: string;
  /** `changes`: `{field, value}` (HOOK-16, D-62); `messaging`: the payload itself (HOOK-5, HOOK-11). */
  readonly carriedIn: "changes" | "messaging";
  /** ROUTE-1 to ROUTE-3, or always the app's own callback (ROUTE-17). */
  readonly honoursOverrides: boolean;
  readonly payload: TSchema;
  readonly clauses: readonly string[];
  readonly summary: string;
}

type Words = Pick<WebhookField, "field" | "summary"> & { readonly clause: string };

const honouring = ({ field, summary, clause }: Words): WebhookField => ({
  object: "chatapp_business_account",
  field,
  carriedIn: "changes",
  honoursOverrides: true,
  payload: notShown,
  clauses: [clause],
  summary,
});

const neverHonouring = (words: Words): WebhookField => ({ ...honouring(words), honoursOverrides: false });

export const webhookFields: readonly WebhookField[] = [
  honouring({ field: "messages", clause: "ROUTE-4", summary: "a message from a person, or the state of one that was sent" }),
  honouring({ field: "message_echoes", clause: "ROUTE-5", summary: "a message that was sent from elsewhere" }),
  honouring({ field: "calls", clause: "ROUTE-6", summary: "a call" }),
  honouring({ field: "consumer_profile", clause: "ROUTE-7", summary: "a person's profile" }),
  honouring({ field: "messaging_handovers", clause: "ROUTE-8", summary: "a thread is handed over to another app" }),
  honouring({ field: "group_lifecycle_update", clause: "ROUTE-9", summary: "a group is made or ended" }),
  honouring({ field: "group_participants_update", clause: "ROUTE-10", summary: "somebody joins or leaves a group" }),
  honouring({ field: "group_settings_update", clause: "ROUTE-11", summary: "the settings of a group" }),
  honouring({ field: "group_status_update", clause: "ROUTE-12", summary: "the status of a group" }),
  honouring({ field: "smb_message_echoes", clause: "ROUTE-13", summary: "a message sent with the app for small businesses" }),
  honouring({ field: "smb_app_state_sync", clause: "ROUTE-14", summary: "the state of the app for small businesses" }),
  honouring({ field: "history", clause: "ROUTE-15", summary: "messages of the past" }),
  honouring({ field: "account_settings_update", clause: "ROUTE-16", summary: "the settings of the account" }),

  neverHonouring({ field: "message_template_status_update", clause: "ROUTE-18", summary: "the status of a message template" }),
  neverHonouring({ field: "message_template_quality_update", clause: "ROUTE-19", summary: "the quality of a message template" }),
  neverHonouring({ field: "message_template_components_update", clause: "ROUTE-20", summary: "the components of a message template" }),
  neverHonouring({ field: "template_category_update", clause: "ROUTE-21", summary: "the category of a message template" }),
  neverHonouring({ field: "account_update", clause: "ROUTE-22", summary: "the account itself" }),
  neverHonouring({ field: "account_review_update", clause: "ROUTE-23", summary: "the review of the account" }),
  neverHonouring({ field: "account_alerts", clause: "ROUTE-24", summary: "an alert about the account" }),

  {
    object: "social",
    field: "messages",
    carriedIn: "messaging",
    honoursOverrides: false,
    payload: Type.Union([selfMessageEcho, selfPostback]),
    clauses: ["HOOK-4", "HOOK-6", "HOOK-10", "HOOK-12"],
    summary: "an account's message to itself, or a press on one's button",
  },
  {
    object: "social",
    field: "comments",
    carriedIn: "changes",
    honoursOverrides: false,
    payload: comment,
    clauses: ["HOOK-14", "HOOK-16", "HOOK-17", "HOOK-18"],
    summary: "a comment on a post of the account",
  },
  {
    object: "social",
    field: "live_comments",
    carriedIn: "changes",
    honoursOverrides: false,
    payload: comment,
    clauses: ["SELF-16"],
    summary: "a comment on a live video of the account",
  },

  {
    object: "page",
    field: "custom_labels",
    carriedIn: "changes",
    honoursOverrides: false,
    payload: labelChange,
    clauses: [],
    summary: "a label is created or deleted, attached to a person or detached",
  },
  {
    object: "page",
    field: "live_videos",
    carriedIn: "changes",
    honoursOverrides: false,
    payload: liveVideoChange,
    clauses: [],
    summary: "the status of a live video changes",
  },
];

const byName: ReadonlyMap<string, ReadonlyMap<string, WebhookField>> = new Map(
  webhookObjects.map((object) => [object, new Map(webhookFields.filter((entry) => entry.object === object).map((entry) => [entry.field, entry]))]),
);

export const findWebhookField = (object: string, field: string): WebhookField | undefined => byName.get(object)?.get(field);

/** An event that nobody could send: a mistake of the program, not of a caller. */
export class PayloadBroken extends Error {
  constructor(object: string, field: string, problem: string) {
    super(`a webhook ${field} of ${object} breaks its contract: ${problem}`);
    this.name = "PayloadBroken";
  }
}

const validators = new WeakMap<WebhookField, Validator>();

/** Throws `PayloadBroken`. */
export function checkedField(object: string, field: string, payload: unknown): WebhookField {
  const entry = findWebhookField(object, field);
  if (entry === undefined) throw new PayloadBroken(object, field, "there is no such field");
  let validator = validators.get(entry);
  if (validator === undefined) {
    // Compiled with the first event: most fields never have one.
    validator = Compile(entry.payload);
    validators.set(entry, validator);
  }
  if (!validator.Check(payload)) throw new PayloadBroken(object, field, JSON.stringify([...validator.Errors(payload)].slice(0, 3)));
  return entry;
}
