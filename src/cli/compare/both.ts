/** The conformance cases, run against two servers: their exchanges side by side. */
import { type Case, loadCases, serverKey } from "#conformance/cases";
import { type GivenServer, givenTarget, prepareGiven } from "#conformance/given";
import { Receiver } from "#conformance/http/receiver";
import type { WireRequest, WireResponse } from "#conformance/http/wire";
import { freshId } from "#conformance/names";
import { obstacle } from "#conformance/run-cases";
import { runCase } from "#conformance/session";
import { bodyOf, learnIds, type Translation } from "./differences.ts";
import type { Replayed } from "./replay.ts";
import { withoutSecrets } from "./secrets.ts";

export interface CaseChoice {
  /** That both servers run in. */
  readonly profile: string;
  /** Undefined: all. */
  readonly areas: readonly string[] | undefined;
}

/** A server with the callback that its webhooks go to. */
interface Side {
  readonly server: GivenServer;
  readonly receiver: Receiver;
  /** Entries of worlds that the server was given. */
  readonly loaded: Set<string>;
}

type Exchanges = [WireRequest, WireResponse][];

const NOTHING: WireResponse = { status: 0, headers: new Map(), text: "the case had ended" };

const addressOf = ({ server }: Side): string => server.baseUrl.replace(/\/$/, "");

/** Cases that need a server of their own are left out. What each case expects is not looked at here. */
export async function* replayCases(
  one: GivenServer,
  other: GivenServer,
  { profile, areas }: CaseChoice,
  translation: Translation,
): AsyncGenerator<Replayed> {
  const first: Side = { server: one, receiver: await Receiver.start(), loaded: new Set() };
  const second: Side = { server: other, receiver: await Receiver.start(), loaded: new Set() };
  translation.addresses.push([addressOf(second), addressOf(first)], [second.receiver.address, first.receiver.address]);
  const isChosen = (testCase: Case): boolean =>
    (areas?.includes(testCase.area) ?? true) &&
    !testCase.isAlone &&
    [one, other].every((server) => obstacle(testCase, profile, server) === undefined);
  try {
    for (const group of Map.groupBy(loadCases().filter(isChosen), serverKey).values()) {
      for (const { server, receiver, loaded } of [first, second]) await prepareGiven(givenTarget(server), group[0] as Case, receiver.address, loaded);
      for (const testCase of group) yield* sideBySide(testCase, first, second, translation);
    }
  } finally {
    for (const { receiver } of [first, second]) receiver.stop();
  }
}

async function* sideBySide(testCase: Case, first: Side, second: Side, { ids }: Translation): AsyncGenerator<Replayed> {
  const start = BigInt(freshId());
  const ofFirst = await exchangesOf(testCase, first, start);
  const ofSecond = await exchangesOf(testCase, second, start);
  for (let at = 0; at < Math.max(ofFirst.length, ofSecond.length); at++) {
    const [one, other] = [ofFirst[at], ofSecond[at]];
    const [{ method, origin, target }] = one ?? (other as Exchanges[number]);
    const below = `${origin}${target}`.slice(addressOf(one === undefined ? second : first).length);
    if (one !== undefined && other !== undefined) learnIds(method, bodyOf(other[1].text), bodyOf(one[1].text), ids);
    const request = `${method} ${withoutSecrets({ target: below, headers: [], body: "" }).target}`;
    yield { method, target: below, request, first: one?.[1] ?? NOTHING, second: other?.[1] ?? NOTHING };
  }
}

/** Without those of the control API. Both sides count new ids from the same one, so that they are asked the same. */
async function exchangesOf(testCase: Case, side: Side, start: bigint): Promise<Exchanges> {
  const exchanges: Exchanges = [];
  let id = start;
  const observe = (request: WireRequest, response: WireResponse) => {
    if (`${request.origin}${request.target}`.startsWith(addressOf(side))) exchanges.push([request, response]);
  };
  await runCase(testCase, { ...givenTarget(side.server), observe, freshId: () => String(++id) }, side.receiver);
  return exchanges;
}
