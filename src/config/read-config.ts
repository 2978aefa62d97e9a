/** Flags win over the environment, that over `plaza.config.yaml`, that over the defaults. */
import { type Config, ConfigProblem } from "./config.ts";
import { isStrongControlKey, ValueProblem } from "./option-readers.ts";
import { flagOf, type Option, options, variableOf } from "./options.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface ConfigFile {
  readonly path: string;
  readonly values: Values;
}

/**
 * `flags` by option name, as the command line gave them; absent where it said nothing. Throws `ConfigProblem`.
 */
export function readConfig(flags: Values, environment: Values, file: ConfigFile | undefined): Config {
  const fromFile = file === undefined ? {} : fileValues(file);
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
  return checkTogether(config as unknown as Config);
}

function readFrom(option: Option, value: unknown, where: string): unknown {
  try {
    return option.read(value);
  } catch (error) {
    if (error instanceof ValueProblem) throw new ConfigProblem(where, error.message);
    throw error;
  }
}

/** Keys may be written as the flags are (`control-port`) or as the variables are (`control_port`). */
function fileValues({ path, values }: ConfigFile): Values {
  const known = new Set<string>(options.map(({ name }) => name));
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const name = key.replaceAll("-", "_");
    if (!known.has(name)) throw new ConfigProblem(`${key} in ${path}`, "there is no such option");
    if (value !== null) found[name] = value;
  }
  return found;
}

function checkTogether(config: Config): Config {
  const isPostgres = config.data.startsWith("postgres");
  if (config.workers > 1 && !isPostgres) {
    throw new ConfigProblem("--workers", `${config.workers} processes cannot share "${config.data}": more than 1 needs --data postgres://…`);
  }
  if (config.workers > 1 && config.http === "node") {
    throw new ConfigProblem("--http", "node:http cannot share a port between processes: more than 1 of --workers needs --http own");
  }
  if (!config.sandbox && config.control_key === undefined) {
    throw new ConfigProblem("--no-sandbox", "a control key must be given in PLAZA_CONTROL_KEY");
  }
  if (!config.sandbox && config.control_key !== undefined && !isStrongControlKey(config.control_key)) {
    throw new ConfigProblem(variableOf("control_key"), "must have 16 characters or more without the sandbox");
  }
  if (isPostgres && !config.sandbox && config.secret_key === undefined) {
    throw new ConfigProblem("--data", "postgres:// without the sandbox needs PLAZA_SECRET_KEY, 32 bytes in hex or base64");
  }
  const hosts = Object.values(config.surface_hosts);
  if (new Set(hosts).size < hosts.length) throw new ConfigProblem("--surface-hosts", "each host name serves one surface");
  if (config.import && config.world === undefined) throw new ConfigProblem("--import", "needs --world FILE");
  return config;
}
