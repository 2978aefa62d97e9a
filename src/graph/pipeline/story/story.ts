/** Records the story of a request, which explains its response (D-272). */
import { principalOf, type Token } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import { jsonExcerpt } from "#kernel/json/json-excerpt";
import { redactJson } from "#kernel/redaction/redaction";
import { formatVersion } from "#kernel/versions";
import type { Followed } from "#webhooks/webhooks";
import type { AppliedFault, RequestFaultInput } from "../../worlds/fault-injection.ts";
import type { Parsed } from "../parse.ts";
import type { ServedPart } from "../request.ts";
import type { Reached } from "../stages.ts";
import { partsOfStory } from "./story-parts.ts";
import { STORY_STEPS, storyText, type WritableRest } from "./story-text.ts";

/** The data of a finished request from which its story is made. */
export interface Way {
  readonly reached: Reached;
  /** The number of steps that have begun. */
  readonly step: number;
  /**
   * The machine's times at which the steps of the request began, and the time at which the last step ended. The times are undefined if the durations
   * were not measured.
   */
  readonly times?: readonly number[] | undefined;
  readonly parsed?: Parsed | undefined;
  /** The webhooks that a write stored. */
  readonly followed?: Followed | undefined;
  /** The requests of a batch or of `ids=`. */
  readonly parts?: readonly ServedPart[] | undefined;
  /** The fault that affected the request (D-150). */
  readonly fault?: AppliedFault<RequestFaultInput> | undefined;
}

/** Makes the story of a request that has its response already. `error`: the error, if the request was refused. */
export function storyOf(way: Way, error?: GraphError): string {
  const { reached, parsed, followed, times, fault, parts } = way;
  const tokens = tokensText(reached);
  const isPlain = error === undefined && times === undefined && fault === undefined && parts === undefined && isFoundByPath(reached);
  return storyText(tokens, isPlain && !hasWritten(followed) ? undefined : restOf(way, error), parametersOf(parsed));
}

/**
 * Makes the story of one request of a batch or of `ids=`, without parameters and times. Parameters and times are in the story of the whole request.
 */
export const storyOfPart = (way: Way, error?: GraphError): string =>
  storyOf({ ...way, parsed: undefined, times: undefined, parts: undefined }, error);

/** Makes the story of a request that was refused before it reached the pipeline. */
export const refusalStory = ({ errorName: error, message }: GraphError): string => storyText("", { step_count: 0, error, message });

const hasWritten = (followed: Followed | undefined): boolean =>
  followed !== undefined && (followed.deliveries.length > 0 || followed.unsent.length > 0);

/** Whether the node and the version can be derived from the path and the operation, and all tokens are valid. */
function isFoundByPath({ address, node, served, dead }: Reached): boolean {
  const isVersionAsked = served === undefined || (served.version === address?.version && served.upgradedFrom === undefined);
  return isVersionAsked && node?.id === address?.id && (dead === undefined || dead.length === 0);
}

function restOf({ reached, step, times, followed, fault, parts }: Way, error: GraphError | undefined): WritableRest {
  const { address, node, served, concealed, dead } = reached;
  const made = error === undefined ? followed : undefined;
  const rest = {
    step_count: step === STORY_STEPS.length ? undefined : step,
    durations: times === undefined ? undefined : durationsOf(times),
    node: node === undefined ? undefined : { id: node.id, type: node.type, owner: node.owner },
    version: {
      asked: address?.version === undefined ? undefined : formatVersion(address.version),
      served: served === undefined ? undefined : formatVersion(served.version),
      upgraded_from: served?.upgradedFrom === undefined ? undefined : formatVersion(served.upgradedFrom),
    },
    is_concealed: concealed === undefined ? undefined : (true as const),
    deliveries: made?.deliveries,
    unsent: made?.unsent,
    error: error?.errorName,
    message: error?.message,
    data: error?.details.data,
    // The text of the fault is left out of the story, because the logged response has it already.
    fault: fault === undefined ? undefined : JSON.stringify({ ...fault, body: undefined }),
    dead: dead === undefined || dead.length === 0 ? undefined : dead.map(({ place, error: { message } }) => ({ place, refusal: message })),
  };
  return parts === undefined ? rest : { ...rest, ...partsOfStory(parts) };
}

const durationsOf = (times: readonly number[]): number[] => times.slice(1).map((time, at) => Math.round((time - (times[at] as number)) * 1000));

/**
 * The greatest number of characters of the parameters' JSON. The request log has four times as many characters of the query and of the body, from
 * which the parameters were read.
 */
const PARAMETERS_CHARACTERS_MAX = 1_024;

function parametersOf(parsed: Parsed | undefined): string | undefined {
  if (parsed === undefined || !("params" in parsed.request)) return undefined;
  const { params } = parsed.request;
  for (const _ in params as object) return redactJson(jsonExcerpt(params, PARAMETERS_CHARACTERS_MAX)).slice(0, PARAMETERS_CHARACTERS_MAX);
  return undefined;
}

function tokensText({ credentials }: Reached): string {
  const first = credentials?.[0];
  if (credentials === undefined || first === undefined) return "";
  let text = "";
  let { place: places, token } = first;
  for (let at = 1; at < credentials.length; at++) {
    const { place, token: other } = credentials[at] as typeof first;
    if (other === token) places = `${places},${place}` as typeof places;
    else {
      text = `${text}${places}${textOf(token)};`;
      places = place;
      token = other;
    }
  }
  return `${text}${places}${textOf(token)}`;
}

/** Makes the texts of a story's tokens. Most requests use a token from the token cache, so its text is made only once. */
const texts = new WeakMap<Token, string>();

function textOf(token: Token): string {
  let text = texts.get(token);
  if (text === undefined) {
    text = `:${token.type}:${token.id}:${token.app}:${principalOf(token)}`;
    texts.set(token, text);
  }
  return text;
}
