import type { World } from "#graph/worlds/world";
import type { WebhookObject } from "#webhooks/catalogue/field";

/**
 * D-164: the fields of pages for which platforms of this kind send events. Plaza does not send events of these page fields, because no clause
 * describes such events. Client libraries subscribe to these page fields together with fields that Plaza serves. The list of page fields is the
 * enumeration `SubscribedFields` of the class `Page` in the Python library of such a platform.
 */
export const unservedPageFields: ReadonlySet<string> = new Set(
  `affiliation attire awards bio birthday call_permission_reply calls category checkins company_overview conversations culinary_team
   current_location description email feature_access_list feed founded general_info general_manager group_feed hometown hours inbox_labels
   invalid_topic_placeholder invoice_access_bank_slip_events invoice_access_invoice_change invoice_access_invoice_draft_change
   invoice_access_onboarding_status_active leadgen leadgen_fat local_delivery location marketing_message_delivery_failed mcom_invoice_change
   members mention merchant_review message_context message_deliveries message_echoes message_edits message_mention message_reactions
   message_reads message_template_status_update messages messaging_account_linking messaging_appointments messaging_checkout_updates
   messaging_customer_information messaging_direct_sends messaging_feedback messaging_game_plays messaging_handovers
   messaging_in_thread_lead_form_submit messaging_integrity messaging_optins messaging_optouts messaging_payments messaging_policy_enforcement
   messaging_postbacks messaging_pre_checkouts messaging_referrals mission name page_about_story page_change_proposal page_upcoming_change
   parking payment_options payment_request_update personal_info personal_interests phone picture price_range product_review products
   public_transit publisher_subscriptions ratings registration response_feedback send_cart standby user_action video_text_question_responses
   videos website`.split(/\s+/),
);

export const isSubscribable = ({ webhooks, profile }: World, object: WebhookObject, field: string): boolean =>
  webhooks.fields.find(object, field) !== undefined || (profile === "clients" && object === "page" && unservedPageFields.has(field));
