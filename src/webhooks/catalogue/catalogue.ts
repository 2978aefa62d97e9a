/** The catalogue of all webhook fields, which subscriptions, routing, delivery, the control API and the documents read. */
import type { WebhookField, WebhookObject } from "./field.ts";

export class FieldCatalogue {
  /** All webhook fields, in the order in which the features define them. */
  readonly all: readonly WebhookField[];
  readonly #byObject = new Map<string, Map<string, WebhookField>>();

  /** Throws if an object has two fields with the same name. */
  constructor(fields: readonly WebhookField[]) {
    this.all = fields;
    for (const field of fields) {
      const names = this.#byObject.get(field.object) ?? new Map<string, WebhookField>();
      if (names.has(field.field)) throw new Error(`two features define the webhook field ${field.field} of ${field.object}`);
      this.#byObject.set(field.object, names.set(field.field, field));
    }
  }

  find(object: string, field: string): WebhookField | undefined {
    return this.#byObject.get(object)?.get(field);
  }

  /**
   * Returns a field that the caller knows to exist, because a schema or a definition guarantees that the field exists. Throws if the field does not
   * exist.
   */
  read(object: WebhookObject, field: string): WebhookField {
    const found = this.find(object, field);
    if (found === undefined) throw new Error(`${object} has no webhook field ${field}`);
    return found;
  }

  /** Returns the names of an object's fields. */
  namesOf(object: WebhookObject): string[] {
    return [...(this.#byObject.get(object)?.keys() ?? [])];
  }

  has(field: WebhookField): boolean {
    return this.find(field.object, field.field) === field;
  }

  /** Whether overrides apply to a field's events. Returns false for a field that no longer exists. */
  isHonouringOverrides({ object, field }: { readonly object: string; readonly field: string }): boolean {
    return this.find(object, field)?.honoursOverrides === true;
  }

  /**
   * Returns the key of an entry under which a field's updates are sent. If the field of a stored event no longer exists, the result is the most
   * common key, `changes`.
   */
  carriedIn({ object, field }: { readonly object: string; readonly field: string }): WebhookField["carriedIn"] {
    return this.find(object, field)?.carriedIn ?? "changes";
  }
}
