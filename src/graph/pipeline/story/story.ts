/**
 * Records the story of a request, which explains its response (D-272): of each request while somebody watches, and of each refused request. All other
 * requests pay one comparison.
 */
import { redactJson } from "#kernel/redaction/redaction";
import { formatVersion } from "#kernel/versions";
import type { Transaction } from "#storage/database";
import type { AppliedFault, RequestFaultInput } from "../../worlds/fault-injection.ts";
import { type RequestStory, type StoryCredential, type StoryStep, TEXT_CHARACTERS_MAX } from "../../worlds/request-log.ts";
import type { World } from "../../worlds/world.ts";
import type { Parsed } from "../parse.ts";
import type { GraphRequest, GraphResponse } from "../request.ts";
import type { Reached } from "../stages.ts";

/** The parts of a request's result besides its response. */
export interface Ending {
  /** The name of the error in the catalogue. Undefined if the request succeeded. */
  readonly error?: string | undefined;
  /** The fault that affected the request (D-150). */
  readonly fault?: AppliedFault<RequestFaultInput> | undefined;
}

export class StoryRecorder {
  readonly #world: World;
  readonly #nowMs: () => number;
  readonly #steps: { name: StoryStep; duration_ms: number }[] = [];
  #step: StoryStep;
  #sinceMs: number;
  #parameters: string | undefined;
  #deliveries: readonly string[] = [];

  constructor(world: World, nowMs: () => number, step: StoryStep = "understand") {
    this.#world = world;
    this.#step = step;
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  /** Begins a step, and ends the step before it. */
  begin(step: StoryStep, parsed?: Parsed): void {
    if (parsed !== undefined) this.#understood(parsed);
    const nowMs = this.#nowMs();
    this.#steps.push({ name: this.#step, duration_ms: nowMs - this.#sinceMs });
    this.#sinceMs = nowMs;
    this.#step = step;
  }

  #understood({ request }: Parsed): void {
    if (!("params" in request)) return;
    // The text is cut before it is redacted, so that a long text costs no more than a short one.
    this.#parameters = redactJson((JSON.stringify(request.params) ?? "").slice(0, TEXT_CHARACTERS_MAX));
  }

  /** Notes the webhooks that a write has stored. If the transaction of a write runs again, the last run counts. */
  recordWrite(tx: Transaction): void {
    this.#deliveries = this.#world.webhooks.followed(tx);
  }

  finish(reached: Reached, response: GraphResponse, { error, fault }: Ending = {}): GraphResponse {
    this.begin("respond");
    const { address, endpoint, concealed, node, served } = reached;
    const policy = (endpoint ?? concealed)?.access.policy;
    const story: RequestStory = {
      steps: this.#steps,
      credentials: credentialsOf(reached),
      ...(node === undefined ? {} : { node: { id: node.id, type: node.type } }),
      version: {
        ...(address?.version === undefined ? {} : { asked: formatVersion(address.version) }),
        ...(served === undefined ? {} : { served: formatVersion(served.version) }),
        ...(served?.upgradedFrom === undefined ? {} : { upgraded_from: formatVersion(served.upgradedFrom) }),
      },
      ...(policy === undefined ? {} : { policy: { name: policy.name, summary: policy.summary, kinds: policy.kinds, scopes: policy.scopes } }),
      ...(concealed === undefined ? {} : { is_concealed: true }),
      ...(this.#parameters === undefined ? {} : { parameters: this.#parameters }),
      ...(error === undefined ? {} : { error }),
      // The text of the fault is in the response already.
      ...(fault === undefined ? {} : { fault: JSON.stringify({ ...fault, body: undefined }) }),
      deliveries: error === undefined ? this.#deliveries : [],
    };
    return { ...response, story };
  }
}

/** Begins the story of a request. Undefined if nobody watches. A part of a batch has no entry in the log, and so no story. */
export function storyOf(world: World, request: GraphRequest, nowMs: () => number): StoryRecorder | undefined {
  const isWatched = (world.requests.isWatched || request.query.debug === "all") && request.batchDepth === 0;
  return isWatched ? new StoryRecorder(world, nowMs) : undefined;
}

/** The story of a refused request that nobody watched. Its only step is the one that refused the request, with the duration 0. */
export function refusalStoryOf(world: World, request: GraphRequest, step: StoryStep): StoryRecorder | undefined {
  return request.batchDepth === 0 ? new StoryRecorder(world, () => 0, step) : undefined;
}

const credentialsOf = ({ credentials = [], dead = [] }: Reached): StoryCredential[] => [
  ...credentials.map(({ place, token }) => ({ place, type: token.type, ...(token.id === token.app ? {} : { token: token.id }), app: token.app })),
  ...dead.map(({ place, error }) => ({ place, refusal: error.message })),
];
