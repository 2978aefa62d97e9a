/**
 * The story of a request as the request log stores it. A request's story is one text, because the garbage collector would copy objects that live for
 * a thousand requests again and again. Recording a story must cost less than 2 % of a read (D-272). The first line of the text has the tokens; the
 * reader of a story derives policy, node and version from the operation and the path. The second line has all other facts as JSON, and is empty if
 * there are none. The third line has the parameters. Lines at the end are left out if they are empty.
 */
import type { Policy } from "#auth/policy";
import { formatVersion } from "#kernel/versions";
import type { Registry } from "../../contract/registry.ts";
import { fixedVersions } from "../../versions/resolve.ts";
import type { RequestEntry } from "../../worlds/request-log.ts";
import { parseAddress } from "../address.ts";

/** The story of a request, which explains the response: steps, tokens, version, policy, parameters, and webhooks. */
export interface RequestStory {
  /**
   * The steps of the pipeline that the request took, in order. The story of a refused request ends with the step that refused it. Under load only
   * some requests have durations of their steps, because reading the clock costs more than the rest of a story.
   */
  readonly steps: readonly { readonly name: StoryStep; readonly duration_ms?: number }[];
  readonly credentials: readonly StoryCredential[];
  readonly node?: { readonly id: string; readonly type: string; readonly owner?: string };
  readonly version: {
    /** The version in the request's path. Absent if the path does not name a version. */
    readonly asked?: string;
    readonly served?: string;
    readonly upgraded_from?: string;
  };
  /** The policy of the operation, with its requirements. */
  readonly policy?: ShownPolicy;
  /** Set if the node exists, but the caller may not know that it exists. */
  readonly is_concealed?: true;
  /** The parameters as JSON, after they were parsed and without the values of secrets. The JSON text of the parameters is cut to 1,024 characters. */
  readonly parameters?: string;
  /** The name of the request's error in the error catalogue. */
  readonly error?: string;
  /** The error's message. */
  readonly message?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** The fault that affected the request (D-150), as JSON. */
  readonly fault?: string;
  /** The ids of the webhooks that the write of the request stored. */
  readonly deliveries: readonly string[];
  /** The events of the write that no app was subscribed to. */
  readonly unsent?: readonly UnsentEvent[];
  /** The requests of a batch or of `ids=`, in the order in which they ran. */
  readonly parts?: readonly StoryPart[];
  /** The number of requests that the story does not list because it has no space for them. */
  readonly parts_left_out?: number;
}

/** A request of a batch or of `ids=`. */
export interface StoryPart extends Pick<RequestEntry, "operation" | "method" | "status" | "story"> {
  /** The first 100 characters of the request's path. */
  readonly path: string;
}

type ShownPolicy = Pick<Policy, "name" | "summary" | "kinds" | "scopes">;

/**
 * A step of the pipeline, as a story names it. The step `understand` covers the work from the address to the endpoint. The step `check` covers the
 * checks from the visibility of the node to the parameters, and requests to other servers before a write. The step `respond` makes the fields of the
 * response, converted to the version that serves the request.
 */
export const STORY_STEPS = ["understand", "check", "handle", "respond"] as const;
type StoryStep = (typeof STORY_STEPS)[number];

interface StoryCredential {
  readonly place: string;
  readonly type?: string;
  /** The id of the token. The token's id is absent if the token is not stored. */
  readonly token?: string;
  readonly app?: string;
  /** The page, person or account to which the token belongs. */
  readonly of?: string;
  /** The reason why the token is refused. */
  readonly refusal?: string;
}

/** An event for which no webhook was stored. */
interface UnsentEvent {
  readonly object: string;
  readonly field: string;
  readonly entity: string;
}

/** The facts of a request that cannot be derived from its tokens, its operation and its path. */
export type StoryRest = Partial<Omit<RequestStory, "steps" | "credentials" | "policy">> & {
  /** The number of steps that the request took. Absent if the request took all four steps. */
  readonly step_count?: number;
  /** The durations of the steps in microseconds. */
  readonly durations?: readonly number[];
  /** The tokens of the request that the server refused. */
  readonly dead?: readonly StoryCredential[];
};

type Writable<T> = { readonly [K in keyof T]?: T[K] | undefined };
/** The facts from which the text of a story is made. The text leaves out facts that are undefined. */
export type WritableRest = Writable<Omit<StoryRest, "version" | "parameters">> & { readonly version: Writable<RequestStory["version"]> };

/** The greatest number of characters of the second line of a story, which usually has a few hundred. The parameters have a limit of their own. */
const STORY_CHARACTERS_MAX = 16_384;

/**
 * Makes the text of a request's story. `tokens` has for each token `places:type:token:app:of`, separated by semicolons; the sources of a token
 * (`places`) are separated by commas. `parameters` is JSON without line breaks.
 */
export function storyText(tokens: string, rest?: Partial<WritableRest>, parameters?: string): string {
  if (parameters !== undefined) return `${tokens}\n${rest === undefined ? "" : restText(rest)}\n${parameters}`;
  if (rest !== undefined) return `${tokens}\n${restText(rest)}`;
  return tokens === "" ? NO_TOKENS : tokens;
}

function restText(rest: Partial<WritableRest>): string {
  const text = JSON.stringify(rest);
  return text.length <= STORY_CHARACTERS_MAX ? text : JSON.stringify({ ...rest, deliveries: undefined, data: undefined, fault: undefined });
}

/** The text for a story without tokens, which is not empty because the log uses an empty text for a request without a story. */
const NO_TOKENS = ";";

type Logged = Pick<RequestEntry, "story" | "operation" | "path" | "surface">;

/** Reads the story of a logged request. Undefined if the log entry has no story. */
export function readStory({ story: text = "", operation, path, surface }: Logged, registry: Registry): RequestStory | undefined {
  if (text === "") return undefined;
  const { dead = [], step_count = STORY_STEPS.length, durations, ...rest } = restOf(text);
  const [tokens = ""] = text.split("\n", 1);
  const endpoint = registry.endpoint(operation);
  const { id, version } = parseAddress(path, !isVersionFixed(surface), registry);
  const policy = endpoint?.access.policy;
  const asked = version === undefined ? {} : { asked: formatVersion(version), served: formatVersion(version) };
  return {
    steps: STORY_STEPS.slice(0, step_count).map((name, at) => ({
      name,
      ...(durations === undefined ? {} : { duration_ms: (durations[at] ?? 0) / 1000 }),
    })),
    credentials: [...tokens.split(";").flatMap(credentialsIn), ...dead],
    ...(endpoint?.nodeType === undefined || id === undefined || rest.error !== undefined ? {} : { node: { id, type: endpoint.nodeType } }),
    ...(policy === undefined ? {} : { policy: shownPolicy(policy) }),
    version: asked,
    deliveries: [],
    ...rest,
  };
}

const isVersionFixed = (surface: string): boolean => fixedVersions[surface as keyof typeof fixedVersions] !== undefined;

const shownPolicy = ({ name, summary, kinds, scopes }: Policy): ShownPolicy => ({ name, summary, kinds, scopes });

/** Reads only the ids of the webhooks from a story. */
export const deliveriesIn = (text = ""): readonly string[] => restOf(text).deliveries ?? [];

/** Reads the second and third line of a story: the facts that cannot be derived from the tokens. */
export function restOf(text = ""): StoryRest {
  const [, rest = "", parameters] = text.split("\n", 3);
  return { ...(rest === "" ? {} : (JSON.parse(rest) as StoryRest)), ...(parameters === undefined ? {} : { parameters }) };
}

function credentialsIn(group: string): StoryCredential[] {
  if (group === "") return [];
  const [places = "", type = "", token = "", app = "", of = ""] = group.split(":");
  // If a token is not stored, the text has the id of the token's app.
  return places.split(",").map((place) => ({ place, type, ...(token === app ? {} : { token }), app, of }));
}
