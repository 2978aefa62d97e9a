/** Written by `npm run docs` from the definitions of the webhook fields; changes by hand are lost. */

/** a label is created or deleted, attached to a person or detached */ 
export type PageCustomLabels = { readonly action: "created" | "deleted" | "attached" | "detached"; readonly label: { readonly id: string; readonly name: string; }; readonly user?: { readonly id: string; }; };
/** the status of a live video changes, or it is taken down, restored or deleted */ 
export type PageLiveVideos = { readonly id: string; readonly status: string; readonly event?: "taken_down" | "restore_notice" | "restore_lapsed" | "restored" | "deleted"; readonly takedown_reason?: string; readonly restorable_until?: string; readonly end_reason?: string; };
/** a file of a product feed was read to its end and is what the feed shows, or it failed and the feed is unchanged */ 
export type CatalogProductFeed = { readonly catalog_id: string; readonly product_feed_id: string; readonly status: "Finished" | "Failed"; };
/** a message from a person, or a new status of a sent message */ 
export type ChatappBusinessAccountMessages = Readonly<Record<string, unknown>>;
/** a message that another client sent */ 
export type ChatappBusinessAccountMessageEchoes = Readonly<Record<string, unknown>>;
/** a phone call */ 
export type ChatappBusinessAccountCalls = Readonly<Record<string, unknown>>;
/** a person's profile */ 
export type ChatappBusinessAccountConsumerProfile = Readonly<Record<string, unknown>>;
/** a thread is handed over to another app */ 
export type ChatappBusinessAccountMessagingHandovers = Readonly<Record<string, unknown>>;
/** a group is created or ended */ 
export type ChatappBusinessAccountGroupLifecycleUpdate = Readonly<Record<string, unknown>>;
/** a person joins or leaves a group */ 
export type ChatappBusinessAccountGroupParticipantsUpdate = Readonly<Record<string, unknown>>;
/** the settings of a group */ 
export type ChatappBusinessAccountGroupSettingsUpdate = Readonly<Record<string, unknown>>;
/** the status of a group */ 
export type ChatappBusinessAccountGroupStatusUpdate = Readonly<Record<string, unknown>>;
/** a message sent with the app for small businesses */ 
export type ChatappBusinessAccountSmbMessageEchoes = Readonly<Record<string, unknown>>;
/** the state of the app for small businesses */ 
export type ChatappBusinessAccountSmbAppStateSync = Readonly<Record<string, unknown>>;
/** past messages */ 
export type ChatappBusinessAccountHistory = Readonly<Record<string, unknown>>;
/** the settings of the account */ 
export type ChatappBusinessAccountAccountSettingsUpdate = Readonly<Record<string, unknown>>;
/** the status of a message template */ 
export type ChatappBusinessAccountMessageTemplateStatusUpdate = Readonly<Record<string, unknown>>;
/** the quality of a message template */ 
export type ChatappBusinessAccountMessageTemplateQualityUpdate = Readonly<Record<string, unknown>>;
/** the components of a message template */ 
export type ChatappBusinessAccountMessageTemplateComponentsUpdate = Readonly<Record<string, unknown>>;
/** the category of a message template */ 
export type ChatappBusinessAccountTemplateCategoryUpdate = Readonly<Record<string, unknown>>;
/** the account itself */ 
export type ChatappBusinessAccountAccountUpdate = Readonly<Record<string, unknown>>;
/** the review of the account */ 
export type ChatappBusinessAccountAccountReviewUpdate = Readonly<Record<string, unknown>>;
/** an alert about the account */ 
export type ChatappBusinessAccountAccountAlerts = Readonly<Record<string, unknown>>;
/** an account's message to itself, or a press on a button of such a message */ 
export type SocialMessages = { readonly sender: { readonly id: string; }; readonly recipient: { readonly id: string; }; readonly timestamp: number; readonly message: { readonly mid: string; readonly text: string; readonly is_echo: true; readonly is_self: true; }; } | { readonly sender: { readonly id: string; }; readonly recipient: { readonly id: string; }; readonly timestamp: number; readonly is_self: true; readonly postback: { readonly title: string; readonly payload: string; readonly mid: string; }; };
/** a comment on a post of the account */ 
export type SocialComments = { readonly from: { readonly id: string; readonly username: string; readonly self_social_scoped_id?: string; }; readonly id: string; readonly text: string; readonly media: { readonly id: string; readonly media_product_type: string; }; };
/** a comment on a live video of the account */ 
export type SocialLiveComments = { readonly from: { readonly id: string; readonly username: string; readonly self_social_scoped_id?: string; }; readonly id: string; readonly text: string; readonly media: { readonly id: string; readonly media_product_type: string; }; };
/** A field of an object, and what an update of it says. */
export type FieldUpdate =
  | { object: "page"; field: "custom_labels"; value: PageCustomLabels }
  | { object: "page"; field: "live_videos"; value: PageLiveVideos }
  | { object: "catalog"; field: "product_feed"; value: CatalogProductFeed }
  | { object: "chatapp_business_account"; field: "messages"; value: ChatappBusinessAccountMessages }
  | { object: "chatapp_business_account"; field: "message_echoes"; value: ChatappBusinessAccountMessageEchoes }
  | { object: "chatapp_business_account"; field: "calls"; value: ChatappBusinessAccountCalls }
  | { object: "chatapp_business_account"; field: "consumer_profile"; value: ChatappBusinessAccountConsumerProfile }
  | { object: "chatapp_business_account"; field: "messaging_handovers"; value: ChatappBusinessAccountMessagingHandovers }
  | { object: "chatapp_business_account"; field: "group_lifecycle_update"; value: ChatappBusinessAccountGroupLifecycleUpdate }
  | { object: "chatapp_business_account"; field: "group_participants_update"; value: ChatappBusinessAccountGroupParticipantsUpdate }
  | { object: "chatapp_business_account"; field: "group_settings_update"; value: ChatappBusinessAccountGroupSettingsUpdate }
  | { object: "chatapp_business_account"; field: "group_status_update"; value: ChatappBusinessAccountGroupStatusUpdate }
  | { object: "chatapp_business_account"; field: "smb_message_echoes"; value: ChatappBusinessAccountSmbMessageEchoes }
  | { object: "chatapp_business_account"; field: "smb_app_state_sync"; value: ChatappBusinessAccountSmbAppStateSync }
  | { object: "chatapp_business_account"; field: "history"; value: ChatappBusinessAccountHistory }
  | { object: "chatapp_business_account"; field: "account_settings_update"; value: ChatappBusinessAccountAccountSettingsUpdate }
  | { object: "chatapp_business_account"; field: "message_template_status_update"; value: ChatappBusinessAccountMessageTemplateStatusUpdate }
  | { object: "chatapp_business_account"; field: "message_template_quality_update"; value: ChatappBusinessAccountMessageTemplateQualityUpdate }
  | { object: "chatapp_business_account"; field: "message_template_components_update"; value: ChatappBusinessAccountMessageTemplateComponentsUpdate }
  | { object: "chatapp_business_account"; field: "template_category_update"; value: ChatappBusinessAccountTemplateCategoryUpdate }
  | { object: "chatapp_business_account"; field: "account_update"; value: ChatappBusinessAccountAccountUpdate }
  | { object: "chatapp_business_account"; field: "account_review_update"; value: ChatappBusinessAccountAccountReviewUpdate }
  | { object: "chatapp_business_account"; field: "account_alerts"; value: ChatappBusinessAccountAccountAlerts }
  | { object: "social"; field: "messages"; value: SocialMessages }
  | { object: "social"; field: "comments"; value: SocialComments }
  | { object: "social"; field: "live_comments"; value: SocialLiveComments };
/** The field of what an entry carries under `messaging`, where it has no name, by object. */
export const messagingFields: Readonly<Record<string, string>> = {"social":"messages"};
