/** The policies of live videos (C1, C2, D-51). */
import { type PageRole, pageTasksOf } from "#auth/page-policies";
import { definePolicy, type Policy, type PolicyInput } from "#auth/policy";
import { taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";

/**
 * AUTH-7, D-13: the tokens and scopes that creating a live video requires. All other operations on live videos require the same tokens and scopes
 * (C1-5, C2-2).
 */
const words = { kinds: ["page", "user"], scopes: ["pages_manage_posts", "pages_read_engagement"] } as const satisfies Partial<Policy>;
const TASK = "CREATE_CONTENT";

const roleOn = async (page: NodeId, { token, reader, ports, facts }: PolicyInput): Promise<PageRole | undefined> =>
  token.user === undefined ? undefined : pageTasksOf(page, token.user, reader, ports, facts);

const isOfPage = async (page: NodeId, input: PolicyInput): Promise<boolean> =>
  input.token.type === "page" ? input.token.page === page : (await roleOn(page, input)) !== undefined;

/**
 * Returns an error unless the token's user has the task `CREATE_CONTENT` on one of the pages. A page token does not need a task, because the token
 * acts for its page.
 */
async function denyWithoutTask(pages: readonly NodeId[], input: PolicyInput) {
  if (input.token.type === "page") return undefined;
  for (const page of pages) if ((await roleOn(page, input))?.tasks.includes(TASK)) return undefined;
  return taskMissing(`the page task ${TASK}`);
}

/**
 * Returns the pages that may read a video: its original page and, unless the video was taken down, the pages that share it. If the given node is a
 * page instead of a video, returns the page itself.
 */
async function pagesShowing({ node, reader, ports }: PolicyInput): Promise<readonly NodeId[]> {
  return node.id === node.owner ? [node.owner] : [node.owner, ...(await ports.get("live_video").readingPages(reader, node.owner, node.id))];
}

/**
 * The policy of all operations on live videos except reading (C1). Operations on comments and reactions have this policy, too, because comments and
 * reactions exist only on the original page (LIVE-26).
 */
export const liveVideo = definePolicy({
  ...words,
  name: "liveVideo",
  summary: `a token of the page, or of a person with task ${TASK} on it`,
  // A request for a missing video must run the same SQL statements as a request for a video that the caller may not see (D-336).
  readsNode: true,
  canSee: (input) => isOfPage(input.node.owner, input),
  deny: (input) => denyWithoutTask([input.node.owner], input),
});

/** C2, LIVE-25: the policy of reading live videos. A page that shares a video can read it, too, unless the video was taken down (D-110). */
export const liveVideoReading = definePolicy({
  ...words,
  name: "liveVideoReading",
  summary: `a token of the page or of a page that shares the video, or of a person with task ${TASK} on one of these pages`,
  readsNode: true,
  async canSee(input) {
    const { token, reader, ports } = input;
    if (await isOfPage(input.node.owner, input)) return true;
    const pages = await pagesShowing(input);
    if (token.type === "page") return token.page !== undefined && pages.includes(token.page);
    return token.user !== undefined && (await ports.get("page_role").hasRoleOnAny(reader, pages, token.user));
  },
  deny: async (input) => denyWithoutTask(await pagesShowing(input), input),
});

/** D-114: the policy of the live map, which every caller with access to live videos can read. */
export const liveMap = definePolicy({ ...words, name: "liveMap", summary: "a page or user token", canSee: () => true });
