/** The requests of a batch or of `ids=` in the story of the whole request (D-376). */
import { redact } from "#kernel/redaction/redaction";
import type { ServedPart } from "../request.ts";
import { restOf, type StoryRest } from "./story-text.ts";

/**
 * D-376: the greatest number of characters that the requests of a batch take in its story. A story has at most 16,384 characters, and the limit
 * leaves space in it for the tokens, versions and webhooks of the batch.
 */
const PARTS_CHARACTERS_MAX = 12_288;
/** The greatest number of requests of a batch that a story lists. All 50 requests fit, because their paths are cut to 100 characters. */
const PARTS_MAX = 50;
const PATH_CHARACTERS_MAX = 100;
/** The greatest number of webhooks in the story of a batch: creating a label causes one webhook, so a batch that creates 50 labels causes 50. */
const DELIVERIES_MAX = 50;

/**
 * Lists all requests of a batch, until the space in the batch's story is used up. Requests that need an explanation get their stories from the space
 * that the list of requests leaves.
 */
export function partsOfStory(parts: readonly ServedPart[]): Pick<StoryRest, "parts" | "parts_left_out" | "deliveries"> {
  let left = PARTS_CHARACTERS_MAX;
  const takes = (characters: number): boolean => {
    if (characters > left) return false;
    left -= characters;
    return true;
  };
  const kept = parts
    .slice(0, PARTS_MAX)
    .map(({ operation, method, path, status }) => ({
      operation,
      method,
      path: redact(path.slice(0, PATH_CHARACTERS_MAX)).slice(0, PATH_CHARACTERS_MAX),
      status,
    }))
    .filter((part) => takes(JSON.stringify(part).length));
  const rests = parts.map(({ story }) => restOf(story));
  const stories = kept.map((part, at) => {
    const { story } = parts[at] as ServedPart;
    return needsStory(rests[at]) && takes(JSON.stringify(story).length) ? { ...part, story } : part;
  });
  const deliveries = rests.flatMap((rest) => rest.deliveries ?? []);
  return {
    parts: stories,
    ...(parts.length === kept.length ? {} : { parts_left_out: parts.length - kept.length }),
    ...(deliveries.length === 0 ? {} : { deliveries: deliveries.slice(0, DELIVERIES_MAX) }),
  };
}

/**
 * Whether the story of a request of the batch is needed: the request was refused, caused webhooks, or caused events that no app was subscribed to.
 */
const needsStory = ({ error, unsent = [], deliveries = [] }: StoryRest = {}): boolean =>
  error !== undefined || unsent.length > 0 || deliveries.length > 0;
