import { type TSchema, Type } from "typebox";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { canSeeAccount, roleOnPageOfAccount, socialAccountOf } from "#features/social-accounts/api";
import { type Field, type FieldSet, listOperation } from "#graph/contract/operation";
import { utcText } from "#kernel/clock";
import { permissionMissing, taskMissing } from "#kernel/errors";
import type { MediaRow } from "./tagged-media.store.ts";

/** AUTH-14, D-13: the page tasks of which a user needs at least one to list tagged media. */
const TASKS = ["MANAGE", "CREATE_CONTENT", "MODERATE"];
/** AUTH-13: the scopes of which a token needs one if the user's role was given through the business management tool. */
export const BUSINESS_SCOPES = ["ads_management", "ads_read"];

/**
 * E1-6, D-53: returns whether the caller may see the account and the account is professional. If the caller cannot see the account, or if the account
 * is not professional, the response is the same as for a missing account.
 */
async function canSeeProfessional(input: PolicyInput): Promise<boolean> {
  const account = await socialAccountOf(input.node.owner, input.reader, input.ports, input.facts);
  return account?.professional === true && (await canSeeAccount(input));
}

export const professionalAccount = definePolicy({
  name: "professionalAccount",
  summary: "a token of the professional account or of its page, or of a person with a role on that page",
  kinds: ["social_user", "page", "user", "system_user"],
  scopes: [],
  canSee: canSeeProfessional,
});

/** AUTH-9 to AUTH-14: the policy of listing tagged media. */
export const taggedMediaPolicy = definePolicy({
  name: "taggedMedia",
  summary:
    "a user token of a person with the task MANAGE, CREATE_CONTENT or MODERATE on the account's page; the token also needs ads_management or ads_read if the person has the role through a business",
  kinds: ["user"],
  scopes: ["social_basic", "social_manage_comments", "pages_read_engagement"],
  canSee: canSeeProfessional,
  async deny(input) {
    const role = await roleOnPageOfAccount(input);
    if (role === undefined || !TASKS.some((task) => role.tasks.includes(task))) return taskMissing(`one of the page tasks ${TASKS.join(", ")}`);
    const hasBusinessScope = BUSINESS_SCOPES.some((scope) => input.token.scopes.includes(scope));
    return role.via_business && !hasBusinessScope ? permissionMissing([BUSINESS_SCOPES.join(" or ")]) : undefined;
  },
});

const plain = (schema: TSchema): Field<MediaRow> => ({ schema, policy: taggedMediaPolicy });
const text = plain(Type.String());
const count = plain(Type.Integer());

/** Loads the usernames for a field that shows the username of an account. The parameter `column` names the column that has the account's id. */
const usernameOf =
  (column: "id" | "owner"): NonNullable<Field["load"]> =>
  async ({ world }, reader, rows) => {
    const accounts = rows.map((row) => String(row[column]));
    const usernames = await world.ports.get("social_account").findUsernames(reader, accounts);
    return accounts.map((id) => usernames.get(id));
  };

/**
 * The fields of the account that a media object belongs to. The account of a media object may belong to a stranger, so the response has only the
 * account's id and username.
 */
const ownerSet: FieldSet = {
  fields: {
    id: text,
    username: { ...text, load: usernameOf("id") },
  },
  defaults: ["id"],
};

/** D-53, D-38: the fields of all media objects. An album cannot contain albums, so the children of an album do not have the field `children`. */
const mediaFields = {
  id: text,
  caption: text,
  comments_count: count,
  like_count: count,
  media_product_type: text,
  media_type: text,
  media_url: text,
  owner: {
    ...plain(Type.Object({ id: Type.String() })),
    nested: { set: () => ownerSet, load: async (_request, _reader, rows) => rows.map(({ owner }) => ({ id: owner })) },
  },
  permalink: text,
  shortcode: text,
  thumbnail_url: text,
  timestamp: { ...text, of: (row) => utcText(row.timestamp) },
  username: { ...text, load: usernameOf("owner") },
} as const satisfies Record<string, Field<MediaRow>>;

const childSet: FieldSet<MediaRow> = { fields: mediaFields, defaults: ["id"] };

const mediaItem: FieldSet<MediaRow> = {
  fields: {
    ...mediaFields,
    children: {
      ...plain(Type.Object({ data: Type.Array(Type.Object({ id: Type.String() })) })),
      nested: {
        set: () => childSet as FieldSet,
        isList: true,
        async load({ world }, reader, rows) {
          const children = await world.ports.get("media").publicChildren(reader, rows);
          return children.map((media) => (media.length === 0 ? undefined : media));
        },
      },
    },
  },
  defaults: ["id"],
};

export const listTags = listOperation({
  operation: "listTags",
  summary: "Lists the public media in which others tagged a professional account, newest first.",
  clauses: ["E1-1", "E1-2", "E1-4", "E1-5", "E1-6", "E1-7", "E1-8", "E1-10", "E1-11", "E1-12", "E1-13", "E1-14", "E1-15", "LIST-14", "LIST-15"],
  decisions: ["D-35", "D-53"],
  on: "social_account",
  edge: "tags",
  surfaces: ["base"],
  versions: "platform",
  scheme: "query",
  policy: taggedMediaPolicy,
  visibility: professionalAccount,
  errorForm: "wrapped",
  params: Type.Object({}),
  items: mediaItem,
  cursorsOnly: true,
  keyColumns: 2,
  errors: [],
});
