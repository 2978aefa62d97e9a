/** The requests of a batch or of `ids=` in the story of the whole request (D-376). */
import { redact } from "#kernel/redaction/redaction";
import type { ServedPart } from "../request.ts";
import { restOf, type StoryRest, withRest } from "./story-text.ts";

/** D-376: a story of 16,384 characters has space for this and for its own tokens, versions and webhooks. */
const PARTS_CHARACTERS_MAX = 12_288;
/** The most requests of a batch. With this length of their paths all of them have space. */
const PARTS_MAX = 50;
const PATH_CHARACTERS_MAX = 100;
/** The most webhooks of a whole request: a label has one, and 50 labels have 50. */
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
    const story = withoutTexts(parts[at]?.story ?? "", rests[at] ?? {});
    return story === undefined || !takes(JSON.stringify(story).length) ? part : { ...part, story };
  });
  const deliveries = parts.flatMap(({ operation }, at) => (isOfParts(operation) ? [] : (rests[at]?.deliveries ?? [])));
  return {
    parts: stories,
    ...(parts.length === kept.length ? {} : { parts_left_out: parts.length - kept.length }),
    ...(deliveries.length === 0 ? {} : { deliveries: deliveries.slice(0, DELIVERIES_MAX) }),
  };
}

/** The story of a part without its parameters and times, which the batch tells. Undefined if the part needs no explanation. */
function withoutTexts(text: string, rest: StoryRest): string | undefined {
  if (rest.error === undefined && rest.unsent === undefined && (rest.deliveries ?? []).length === 0) return undefined;
  const { parameters: _, durations: __, parts: ___, parts_left_out: ____, ...told } = rest;
  return withRest(text, told);
}

/** `ids=` inside a batch: its reads are parts of the batch already. */
const isOfParts = (operation: string): boolean => operation === "ids";
