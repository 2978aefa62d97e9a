/** Policies of live video: C1, C2, and the rest of D-51. */

import { taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import "./live-videos.ts";
import { type PageRole, pageTasksOf } from "./page-tasks.ts";
import type { Policy, Question } from "./policy.ts";

/** AUTH-7, D-13: what creating a live video needs, and so everything else about it (C1-5, C2-2). */
const words = { kinds: ["page", "user"], scopes: ["pages_manage_posts", "pages_read_engagement"] } as const satisfies Partial<Policy>;
const TASK = "CREATE_CONTENT";

const roleOn = async (page: NodeId, { token, reader, readers, facts }: Question): Promise<PageRole | undefined> =>
  token.user === undefined ? undefined : pageTasksOf(page, token.user, reader, readers, facts);

const isOfPage = async (page: NodeId, question: Question): Promise<boolean> =>
  question.token.type === "page" ? question.token.page === page : (await roleOn(page, question)) !== undefined;

/** The task on one of the pages; a page token speaks for its page. */
async function refusesWithoutTask(pages: readonly NodeId[], question: Question) {
  if (question.token.type === "page") return undefined;
  for (const page of pages) if ((await roleOn(page, question))?.tasks.includes(TASK)) return undefined;
  return taskMissing(`the page task ${TASK}`);
}

/** The original page and those that share the video; of a node that is no video, its page alone. */
async function pagesShowing({ node, reader, readers }: Question): Promise<readonly NodeId[]> {
  return node.id === node.owner ? [node.owner] : [node.owner, ...(await readers.of("live_video").crosspostedPages(reader, node.owner, node.id))];
}

export const livePolicies = {
  /** C1, and whatever stands on the page where the video began: comments and reactions too (LIVE-26). */
  liveVideo: {
    ...words,
    summary: `a token of the page, or of a person with task ${TASK} on it`,
    sees: (question) => isOfPage(question.node.owner, question),
    refuses: (question) => refusesWithoutTask([question.node.owner], question),
  },

  /** C2, LIVE-25: a page that shares the video reads it as well. */
  liveVideoReading: {
    ...words,
    summary: `a token of the page or of one that shares the video, or of a person with task ${TASK} on one of them`,
    async sees(question) {
      if (await isOfPage(question.node.owner, question)) return true;
      for (const page of await pagesShowing(question)) if (await isOfPage(page, question)) return true;
      return false;
    },
    refuses: async (question) => refusesWithoutTask(await pagesShowing(question), question),
  },

  /** D-114: the live map is public among those who may use live video at all. */
  liveMap: { ...words, summary: "a page or user token", sees: () => true },
} satisfies Record<string, Policy>;
