/** An example of each field, for trying a receiver out: by the field's contract, and recognisable as made up. */
import type { WebhookObject } from "./field-catalogue.ts";

export interface ExampleOf {
  readonly object: WebhookObject;
  readonly field: string;
  readonly entity: string;
  readonly phone: string | undefined;
  /** World time. */
  readonly nowMs: number;
}

const EXAMPLE_ID = "1000000000000001";

export function examplePayload({ object, field, entity, phone, nowMs }: ExampleOf): object {
  switch (object) {
    case "social":
      if (field === "messages") {
        const message = { mid: "m_example", text: "An example", is_echo: true, is_self: true };
        return { sender: { id: entity }, recipient: { id: entity }, timestamp: nowMs, message };
      }
      return {
        from: { id: entity, username: "example", self_social_scoped_id: entity },
        id: EXAMPLE_ID,
        text: "An example",
        media: { id: EXAMPLE_ID, media_product_type: "FEED" },
      };
    case "page":
      return field === "live_videos" ? { id: EXAMPLE_ID, status: "LIVE" } : { action: "created", label: { id: EXAMPLE_ID, name: "Example" } };
    case "chatapp_business_account":
      return {
        messaging_product: "chatapp",
        ...(phone === undefined ? {} : { metadata: { phone_number_id: phone } }),
        example: { field, text: "An example" },
      };
  }
}
