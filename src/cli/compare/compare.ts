/** `plaza compare`: sends the same requests to two servers and prints the differences between the responses, by operation. */
import { ConfigProblem } from "#config/config";
import { type Case, loadCases, serverKey } from "#conformance/cases";
import { type GivenServer, givenTarget, prepareGiven } from "#conformance/given";
import { Receiver } from "#conformance/http/receiver";
import type { WireRequest, WireResponse } from "#conformance/http/wire";
import { freshId } from "#conformance/names";
import { obstacle } from "#conformance/run-cases";
import { runCase } from "#conformance/session";
import { expectAreas } from "#conformance/suite";
import { buildRegistry } from "#main";
import type { Given } from "../control-client.ts";
import { exitCodeOf } from "../process-end.ts";
import { bodyOf, type Difference, differencesOf, learnIds, type Translation } from "./differences.ts";
import { operationForm } from "./operations.ts";
import { missingSecrets, readHar } from "./read-har.ts";
import { type Replayed, replay, type Server } from "./replay.ts";
import { ownRules, readRules } from "./rules.ts";
import { withoutSecrets } from "./secrets.ts";
import { expectServer, givenServer, httpAddress, profileOf } from "./servers.ts";

const [SAME, DIFFERENT] = [0, 1];
/** The greatest number of differences that the report prints for one operation. */
const SHOWN_MAX = 20;

/** Compares two servers. Resolves with the exit code: 0 if nothing differs, 1 if something differs, 2 if an option is wrong. */
export function compare(first: string, second: string, given: Given): Promise<number> {
  return exitCodeOf(async () => {
    const registry = buildRegistry();
    const translation: Translation = { ids: new Map(), addresses: [] };
    const rules = [...ownRules, ...(given.rules === undefined ? [] : await orProblem("--rules", () => readRules(String(given.rules), registry)))];
    /** One list of differences for each request whose responses differ. */
    const different: (readonly Difference[])[] = [];
    const otherStatuses: OtherStatus[] = [];
    let count = 0;
    for await (const replayed of await source(httpAddress("first", first), httpAddress("second", second), given, translation)) {
      count++;
      const form = operationForm(registry, replayed.method, replayed.target);
      const own = differencesOf({ ...replayed, form }, rules, translation);
      if (own.length > 0) different.push(own);
      const { request, recordedStatus: recorded, first: one, second: other } = replayed;
      if (recorded !== undefined && (one.status !== recorded || other.status !== recorded))
        otherStatuses.push({ request, recorded, first: one.status, second: other.status });
    }
    const differences = different.flat();
    const report = { requests: count, differences, ...(given.recording === undefined ? {} : { other_statuses: otherStatuses }) };
    process.stdout.write(given.json === true ? `${JSON.stringify(report, null, 2)}\n` : `${statusesText(otherStatuses)}${textOf(count, different)}`);
    return differences.length > 0 || count === 0 ? DIFFERENT : SAME;
  });
}

/**
 * D-320: describes a request whose response had another status than in the recording. A request with another status may also have had
 * another effect than in the recording.
 */
interface OtherStatus {
  readonly request: string;
  readonly recorded: number;
  readonly first: number;
  readonly second: number;
}

function statusesText(all: readonly OtherStatus[]): string {
  const lines = all.slice(0, SHOWN_MAX).map(({ request, recorded, first, second }) => `  ${request}: ${recorded}, now ${first} and ${second}`);
  const more = all.length > SHOWN_MAX ? [`  and ${all.length - SHOWN_MAX} more`] : [];
  return all.length === 0 ? "" : `other statuses than in the recording: ${all.length}\n${[...lines, ...more].join("\n")}\n`;
}

async function orProblem<T>(option: string, make: () => T): Promise<Awaited<T>> {
  try {
    return await make();
  } catch (error) {
    throw new ConfigProblem(option, error instanceof Error ? error.message : String(error));
  }
}

async function source(first: URL, second: URL, given: Given, translation: Translation): Promise<AsyncGenerator<Replayed>> {
  const { recording, conformance = false } = given;
  if ((recording === undefined) === (conformance === false))
    throw new ConfigProblem("--recording", "give either --recording FILE or --conformance, so that there are requests to send");
  return recording === undefined ? await ofCases(first, second, given, translation) : await ofRecording(first, second, given, translation);
}

async function ofRecording(first: URL, second: URL, given: Given, translation: Translation): Promise<AsyncGenerator<Replayed>> {
  const recordedUrl = given.recorded_url === undefined ? undefined : httpAddress("--recorded-url", given.recorded_url).href;
  const recorded = await orProblem("--recording", () => readHar(String(given.recording), recordedUrl));
  const secrets = secretsOf(given.secret);
  const ofSecond = new Map([...secrets, ...secretsOf(given.second_secret)]);
  for (const [option, values] of [
    ["--secret", secrets],
    ["--second-secret", ofSecond],
  ] as const) {
    const missing = values.has("") ? [] : missingSecrets(recorded, values);
    if (missing.length > 0)
      throw new ConfigProblem(
        option,
        `the recording does not contain the values of its secrets: give ${missing.map(({ secret, name }) => `${secret}=VALUE (${name})`).join(", ")}, or one VALUE for all secrets`,
      );
  }
  await expectServer({ baseUrl: first.href }, "first");
  await expectServer({ baseUrl: second.href }, "second");
  const server = (base: URL, named: ReadonlyMap<string, string>): Server => ({ base, secretOf: (name) => named.get(name) ?? named.get("") });
  return replay(recorded, server(first, secrets), server(second, ofSecond), translation);
}

async function ofCases(first: URL, second: URL, given: Given, translation: Translation): Promise<AsyncGenerator<Replayed>> {
  const profile = profileOf(given.profile ?? "strict");
  const areas = given.area as readonly string[] | undefined;
  await orProblem("--area", () => expectAreas(areas));
  const one = givenServer(first, given.control_url, given.control_key);
  const other = givenServer(second, given.second_control_url, given.second_control_key, "second-");
  await expectServer(one, "first");
  await expectServer(other, "second", "second-");
  return replayCases(one, other, { profile, areas }, translation);
}

/**
 * Reads the options for secrets, such as `secret-1=value`. A value without a name is stored under the empty name, and is used for every secret for
 * which the user gives no other value.
 */
function secretsOf(given: unknown): Map<string, string> {
  const texts = (given ?? []) as readonly string[];
  return new Map(
    texts.map((text) => {
      const [, name = "", value = text] = /^(secret-\d+)=(.*)$/s.exec(text) ?? [];
      return [name, value];
    }),
  );
}

/** Writes the report: the differences are grouped by operation, and within an operation by request. */
function textOf(count: number, different: readonly (readonly Difference[])[]): string {
  const operations = [...Map.groupBy(different, ([first]) => first?.operation)].map(([operation, requests]) => {
    const total = requests.flat().length;
    let left = SHOWN_MAX;
    const lines = requests.flatMap((own) => {
      const shown = own.slice(0, left);
      left -= shown.length;
      const values = shown.map(({ path, first, second }) => `    ${path}\n      first:  ${first}\n      second: ${second}`);
      return shown.length === 0 ? [] : [`  ${own[0]?.request}`, ...values];
    });
    const more = total > SHOWN_MAX ? [`  and ${total - SHOWN_MAX} more`] : [];
    return `${operation}: ${total}\n${[...lines, ...more].join("\n")}\n`;
  });
  return `${operations.join("")}${count} requests, ${different.flat().length} differences\n`;
}

/** The conformance cases that run against both servers; `compare` pairs the requests of the two runs afterwards. */
interface CaseChoice {
  /** The profile of both servers. */
  readonly profile: string;
  /** The areas of the cases; undefined for the cases of all areas. */
  readonly areas: readonly string[] | undefined;
}

/** One of the two servers that are compared, with the receiver of its webhooks. */
interface Side {
  readonly server: GivenServer;
  readonly receiver: Receiver;
  /** The names of the entries of world files that were already loaded into the server. */
  readonly loaded: Set<string>;
}

type Exchanges = [WireRequest, WireResponse][];

const NOTHING: WireResponse = { status: 0, headers: new Map(), text: "the case had already ended" };

const addressOf = ({ server }: Side): string => server.baseUrl.replace(/\/$/, "");

/**
 * Runs the conformance cases, except the cases that need a server of their own. If a conformance case fails, the failure is ignored, because
 * the command reports only differences between the servers.
 */
async function* replayCases(
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
    yield { method, target: below, request, recordedStatus: undefined, first: one?.[1] ?? NOTHING, second: other?.[1] ?? NOTHING };
  }
}

/**
 * Runs a conformance case and returns its requests to the graph and their responses, without the requests to the control API. For both
 * servers, the new ids of a case are counted from the same number, so that both servers get the same requests.
 */
async function exchangesOf(testCase: Case, side: Side, start: bigint): Promise<Exchanges> {
  const exchanges: Exchanges = [];
  let id = start;
  const observe = (request: WireRequest, response: WireResponse) => {
    if (`${request.origin}${request.target}`.startsWith(addressOf(side))) exchanges.push([request, response]);
  };
  await runCase(testCase, { ...givenTarget(side.server), observe, freshId: () => String(++id) }, side.receiver);
  return exchanges;
}
