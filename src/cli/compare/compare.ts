/** `plaza compare`: the same requests to two servers, and what differs, by operation. */
import { buildRegistry } from "#main";
import { replayCases } from "./both.ts";
import { type Difference, differencesOf, type Translation } from "./differences.ts";
import { readHar } from "./har.ts";
import { operationForm } from "./operations.ts";
import { type Replayed, replay, type Server } from "./replay.ts";
import { ownRules, readRules } from "./rules.ts";

type Given = Readonly<Record<string, unknown>>;

const [SAME, DIFFERENT, WRONG_USE] = [0, 1, 2];
/** Of the differences of one operation that are printed. */
const SHOWN_MAX = 20;

class Misuse extends Error {}

/** Resolves with the exit code: 0 if nothing differs, 1 if something does or nothing was compared, 2 if an option is wrong. */
export async function compare(first: string, second: string, given: Given): Promise<number> {
  const registry = buildRegistry();
  const translation: Translation = { ids: new Map(), addresses: [] };
  try {
    const rules = [...ownRules, ...(given.rules === undefined ? [] : orMisuse(() => readRules(String(given.rules))))];
    const differences: Difference[] = [];
    let count = 0;
    for await (const replayed of source(addressOf(first), addressOf(second), given, translation)) {
      count++;
      const form = operationForm(registry, replayed.method, replayed.target);
      differences.push(...differencesOf({ ...replayed, form }, rules, translation));
    }
    process.stdout.write(given.json === true ? `${JSON.stringify({ requests: count, differences }, null, 2)}\n` : textOf(count, differences));
    return differences.length > 0 || count === 0 ? DIFFERENT : SAME;
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    process.stderr.write(`plaza: ${error.message}\n`);
    return WRONG_USE;
  }
}

function orMisuse<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Misuse(error instanceof Error ? error.message : String(error));
  }
}

function addressOf(text: string): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Misuse(`"${text}" is not an http address`);
  return new URL(text);
}

function source(first: URL, second: URL, given: Given, translation: Translation): AsyncGenerator<Replayed> {
  const { recording, conformance = false, profile = "strict" } = given;
  if ((recording === undefined) === (conformance === false)) throw new Misuse("name either --recording or --conformance");
  if (recording !== undefined) {
    const secrets = secretsOf(given.secret);
    const own = secretsOf(given.second_secret);
    const server = (base: URL, named: ReadonlyMap<string, string>): Server => ({ base, secretOf: (name) => named.get(name) ?? named.get("") });
    return replay(
      orMisuse(() => readHar(String(recording), given.recorded_url === undefined ? undefined : addressOf(String(given.recorded_url)).href)),
      server(first, secrets),
      server(second, new Map([...secrets, ...own])),
      translation,
    );
  }
  const serverOf = (url: URL, control: unknown, key: unknown) => ({
    baseUrl: url.href,
    ...(control === undefined ? {} : { controlUrl: addressOf(String(control)).href }),
    ...(key === undefined ? {} : { controlKey: String(key) }),
  });
  return replayCases(
    serverOf(first, given.control_url, given.control_key),
    serverOf(second, given.second_control_url, given.second_control_key),
    { profile: String(profile), areas: given.area as readonly string[] | undefined },
    translation,
  );
}

/** `secret-1=value`, or a value alone for all that are not named, as the empty name. */
function secretsOf(given: unknown): Map<string, string> {
  const texts = (given ?? []) as readonly string[];
  return new Map(
    texts.map((text) => {
      const [, name = "", value = text] = /^(secret-\d+)=(.*)$/s.exec(text) ?? [];
      return [name, value];
    }),
  );
}

function textOf(count: number, differences: readonly Difference[]): string {
  const operations = [...Map.groupBy(differences, ({ operation }) => operation)].map(([operation, own]) => {
    const lines = own
      .slice(0, SHOWN_MAX)
      .map(({ request, path, first, second }) => `  ${request}\n    ${path}\n      first:  ${first}\n      second: ${second}`);
    const more = own.length > SHOWN_MAX ? [`  and ${own.length - SHOWN_MAX} more`] : [];
    return `${operation}: ${own.length}\n${[...lines, ...more].join("\n")}\n`;
  });
  return `${operations.join("")}${count} requests, ${differences.length} differences\n`;
}
