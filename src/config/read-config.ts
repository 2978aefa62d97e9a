/** Reads the options. A flag has precedence over the environment, the environment over `plaza.config.yaml`, and the file over the default. */
import type { Setting } from "#graph/contract/feature";
import { suggestion } from "#kernel/suggestion";
import { type Config, ConfigProblem } from "./config.ts";
import { flagOf, type Option, variableOf } from "./option.ts";
import { isStrongControlKey, ValueProblem } from "./option-readers.ts";
import { optionsWith, own } from "./options.ts";
import { FILE_VARIABLES } from "./secret-files.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  readonly values: Values;
}

/**
 * Reads all options. `flags` are the flags of the command line by option name; `settings` are the settings of the features. Throws `ConfigProblem`.
 */
export function readConfig(flags: Values, environment: Values, file: ConfigFile | undefined, settings: readonly Setting[]): Config {
  const options = optionsWith(settings);
  const fromFile = file === undefined ? {} : fileValues(file, options);
  const config: Record<string, unknown> = {};
  for (const option of options) {
    const { name } = option;
    const given = flags[name];
    const variable = environment[variableOf(name)];
    if (given !== undefined) config[name] = readFrom(option, given, flagOf(name));
    else if (variable !== undefined && variable !== "") config[name] = readFrom(option, variable, variableOf(name));
    else if (Object.hasOwn(fromFile, name)) config[name] = readFrom(option, fromFile[name], `${name} in ${file?.path}`);
    else config[name] = option.default;
  }
  const ofFeatures = Object.fromEntries(settings.map(({ name }) => [name, config[name]]));
  for (const { name } of settings) delete config[name];
  return checkTogether({ ...config, settings: ofFeatures } as unknown as Config);
}

/** The names of the variables with which commands, and tests under `plaza exec`, find a server. The variables are not options of a server. */
const OF_CLIENTS = ["control_url", "base_url", "app_base_url", "microblog_base_url", "ads_base_url", "social_login_host", "proxy_url", "ca_file"].map(
  variableOf,
);

/**
 * Warnings about variables that Plaza does not read, e.g. `PLAZA_PROT`. Unknown variables are not errors, because other programs may use variables
 * whose names begin with `PLAZA_`.
 */
export function variableWarnings(environment: Values, settings: readonly Setting[]): string[] {
  const known = [...optionsWith(settings).map(({ name }) => variableOf(name)), ...FILE_VARIABLES, ...OF_CLIENTS];
  const unknown = Object.keys(environment).filter((name) => name.startsWith("PLAZA_") && !known.includes(name));
  return unknown.slice(0, WARNINGS_MAX).map((name) => `Plaza does not read the variable ${name}${suggestion(name, known)}`);
}

/**
 * Warnings for commands that call a server and do not load the settings of features. Only variables whose names are similar to one of the command's
 * variables are reported.
 */
export const commandWarnings = (environment: Values): string[] =>
  variableWarnings(environment, []).filter((text) => OF_COMMANDS.some((name) => text.endsWith(`did you mean ${name}?`)));

const OF_COMMANDS = ["control_url", "control_key", "data"].map(variableOf);

/** The greatest number of warnings that are shown. A person would not read more warnings than this. */
const WARNINGS_MAX = 20;

/** Reads the value of an option with a reader. `where` is the option as the operator wrote it. Throws `ConfigProblem` if the value is wrong. */
export function readFrom<T>({ read }: { read(value: unknown): T }, value: unknown, where: string): T {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof ValueProblem) throw new ConfigProblem(where, error.message);
    throw error;
  }
}

/** The options that may be in a config file. */
export const optionsOfFile = (options: readonly Option[]): Option[] => options.filter(({ isLeftOutOfFile }) => isLeftOutOfFile !== true);

/** Returns the values of a config file by option name. A key may be written like a flag (`control-port`) or like a variable (`control_port`). */
function fileValues({ path, values }: ConfigFile, options: readonly Option[]): Values {
  const known = new Set(optionsOfFile(options).map(({ name }) => name));
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const name = key.replaceAll("-", "_");
    if (!known.has(name)) throw new ConfigProblem(`${key} in ${path}`, `there is no such option${suggestion(name, [...known])}`);
    if (value !== null) found[name] = value;
  }
  return found;
}

/**
 * The least number of characters of the key for HMAC-SHA256. Each character of the key has at least four random bits, so 32 characters have 128 bits.
 */
const SIGN_IN_KEY_CHARACTERS_MIN = 32;

/** D-420: the first of several databases has the first world, so its URL becomes the value of `--data`. */
function withFirstDatabase(config: Config): Config {
  const [first] = config.databases;
  if (first === undefined) return config;
  if (config.data !== own.data.default) throw new ConfigProblem("--databases", "cannot be combined with --data: the first database replaces it");
  return { ...config, data: first.url };
}

function checkTogether(given: Config): Config {
  const config = withFirstDatabase(given);
  const isPostgres = config.data.startsWith("postgres");
  if (config.workers > 1 && !isPostgres) {
    throw new ConfigProblem("--workers", `${config.workers} processes cannot share "${config.data}": more than 1 requires --data postgres://…`);
  }
  if (!config.sandbox && config.control_key === undefined) {
    throw new ConfigProblem("--no-sandbox", "requires a control key in PLAZA_CONTROL_KEY");
  }
  if (!config.sandbox && config.control_key !== undefined && !isStrongControlKey(config.control_key)) {
    throw new ConfigProblem(variableOf("control_key"), "must have 16 characters or more with --no-sandbox");
  }
  if (isPostgres && !config.sandbox && config.secret_key === undefined) {
    throw new ConfigProblem("--data", "postgres:// with --no-sandbox requires PLAZA_SECRET_KEY, 32 bytes in hex or base64");
  }
  if (config.tls_cert !== undefined && config.tls_key === undefined) throw new ConfigProblem("--tls-cert", "requires --tls-key FILE");
  if (config.tls_key !== undefined && config.tls_cert === undefined) throw new ConfigProblem("--tls-key", "requires --tls-cert FILE");
  if (config.hsts_seconds > 0 && config.tls_cert === undefined) throw new ConfigProblem("--hsts-seconds", "requires --tls-cert FILE");
  if (config.redirect_port !== undefined && config.tls_cert === undefined) throw new ConfigProblem("--redirect-port", "requires --tls-cert FILE");
  if (config.trace_ratio !== 1 && config.otlp_endpoint === undefined) throw new ConfigProblem("--trace-ratio", "requires --otlp-endpoint URL");
  if (config.sign_in_url !== undefined && (config.sign_in_key?.length ?? 0) < SIGN_IN_KEY_CHARACTERS_MIN)
    throw new ConfigProblem("--sign-in-url", `requires a key of ${SIGN_IN_KEY_CHARACTERS_MIN} characters or more in PLAZA_SIGN_IN_KEY`);
  if (config.sign_in_key !== undefined && config.sign_in_url === undefined)
    throw new ConfigProblem(variableOf("sign_in_key"), "requires --sign-in-url URL");
  const hosts = Object.values(config.surface_hosts);
  if (new Set(hosts).size < hosts.length) throw new ConfigProblem("--surface-hosts", "two surfaces cannot have the same host name");
  if (config.import && config.world === undefined) throw new ConfigProblem("--import", "requires --world FILE");
  if (config.watch && config.world === undefined) throw new ConfigProblem("--watch", "requires --world FILE");
  if (config.export_secrets && config.export === undefined) throw new ConfigProblem("--export-secrets", "requires --export FILE");
  if (config.stub.length > 0 && !config.sandbox) throw new ConfigProblem("--stub", "is for the sandbox, because its answers are not real");
  if (config.callback !== undefined && !config.sandbox)
    throw new ConfigProblem("--callback", "is for the sandbox: without it, an app sets its callback with POST /{app_id}/subscriptions");
  return config;
}
