/** The policy of E1. */
import { definePolicy, type PolicyInput } from "#auth/policy";
import { canSeeAccount, roleOnPageOfAccount, socialAccountOf } from "#features/social-accounts/api";
import { permissionMissing, taskMissing } from "#kernel/errors";

/** AUTH-14, D-13: the page tasks that match the permissions, any one of them. */
const TASKS = ["MANAGE", "CREATE_CONTENT", "MODERATE"];
/** AUTH-13: either one, when the role came through the business management tool. */
export const BUSINESS_SCOPES = ["ads_management", "ads_read"];

/** E1-6, D-53: an account that is not professional is for E1 one that does not exist. */
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

/** AUTH-9 to AUTH-14. */
export const taggedMediaPolicy = definePolicy({
  name: "taggedMedia",
  summary:
    "a user token with a task MANAGE, CREATE_CONTENT or MODERATE on the account's page; ads_management or ads_read besides, if the role is via business",
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
