/** The requests of a batch or of `ids=` in the story of the whole request (D-376). */
import { redact } from "#kernel/redaction/redaction";
import type { ServedPart } from "../request.ts";
import { restOf, type StoryRest } from "./story-text.ts";

/** D-376: a story of 16,384 characters has space for this and for its own tokens, versions and webhooks. */
const PARTS_CHARACTERS_MAX = 12_288;
/** The greatest number of requests of a batch that a story lists. With this length of their paths all of them have space. */
const PARTS_MAX = 50;
const PATH_CHARACTERS_MAX = 100;
/** The greatest number of webhooks of a whole request: a label has one, and 50 labels have 50. */
const DELIVERIES_MAX = 50;

/** All parts, as far as there is space; parts that need an explanation have their stories, as far as there is space then. */
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

/** Whether a part was refused, or has webhooks or events without one, which its story explains. */
const needsStory = ({ error, unsent = [], deliveries = [] }: StoryRest = {}): boolean =>
  error !== undefined || unsent.length > 0 || deliveries.length > 0;
