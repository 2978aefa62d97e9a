/** Draws steps about nodes that are only read: apps with their migrations, people, businesses, pages and accounts. */
import fc, { type Arbitrary } from "fast-check";
import type { NodeType } from "../reference/world.ts";
import { body, callers, fields, node, oneOf, request } from "./drawing.ts";
import type { NodeName, Step, Value } from "./steps.ts";

const MIGRATION = "label_names_case_insensitive";
const app: Arbitrary<NodeName> = oneOf<NodeName>([6, fc.constant({ id: "1001" })], [3, node("app")], [1, fc.constant({ id: "me" })]);
const ofApp = callers("any", ["shop-app", "ada-user", "ada-system-user", "1001|s3cret", "other-app", "ben-user-without-messaging"]);

const switches: Arbitrary<Value> = oneOf<Value>(
  [8, fc.boolean().map((on) => ({ [MIGRATION]: on }))],
  [1, fc.constantFrom<Value>({}, { another: true }, { [MIGRATION]: "yes" }, { [MIGRATION]: "true" }, "{", undefined, true)],
);

type PlainSurface = "base" | "microblog" | "social_login";

const plain = (operation: string, type: NodeType, surface: PlainSurface, good: readonly string[]): Arbitrary<Step> => {
  // D-163: on other platforms, pages and people have a username, so clients may ask for it.
  const isAccount = type === "social_account" || type === "microblog_user";
  return request({
    ...{ operation, method: "GET", surface, edge: "", tokens: callers("any", good) },
    ...(surface === "microblog" ? { version: null } : {}),
    node: isAccount ? node(type) : oneOf<NodeName>([4, node(type)], [1, fc.constant({ id: "me" })]),
    query: fc.record({ fields: isAccount ? fields("id", "name", "username") : fields("id", "name") }),
  });
};

export const nodeSteps: Arbitrary<Step> = oneOf<Step>(
  [
    3,
    request({
      ...{ operation: "updateApp", method: "POST", node: app, edge: "", tokens: ofApp },
      query: fc.record({ fields: fields("id", "migrations") }),
      body: body({ migrations: switches }),
    }),
  ],
  [
    3,
    request({
      ...{ operation: "readApp", method: "GET", node: app, edge: "", tokens: ofApp },
      query: fc.record({ fields: fields("id", "name", "migrations") }),
    }),
  ],
  [2, plain("readUser", "user", "base", ["ada-user", "ada-system-user", "ben-user-without-messaging"])],
  [1, plain("readBusiness", "business", "base", ["ada-user", "cleo-user-without-role"])],
  [2, plain("readPage", "page", "base", ["cafe-page", "ada-user", "bar-page"])],
  [2, plain("readSocialAccount", "social_account", "base", ["cafe-page", "ada-user", "cafe-social"])],
  [1, plain("readSocialAccount", "social_account", "social_login", ["cafe-social", "fan-social"])],
  [1, plain("readMicroblogUser", "microblog_user", "microblog", ["talk", "outsider"])],
);
