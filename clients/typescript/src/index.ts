/** A typed client of the graph interface: operations, lists, batches, webhooks, and user data of app events. */
export { type ClientOptions, createClient, type GraphClient, type Methods, type Outcome, type Result } from "./client.ts";
export { ConnectionError, type ErrorKind, GraphError } from "./errors.ts";
export type * from "./generated/operations.ts";
export type * from "./generated/webhooks.ts";
export type { List, ListPage } from "./pages.ts";
export { type Arguments, type GraphRequest, type OperationName, type RequestOptions, request } from "./request.ts";
export { hashUserData, normalizeUserData, type UserData, type UserDataKey } from "./user-data.ts";
export { challengeOf, type HeadersGiven, type Received, readWebhook, SignatureError, type Update, type Webhook } from "./webhooks.ts";
