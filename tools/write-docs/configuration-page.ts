import { flagOf, type Option, variableOf } from "#config/option";
import { optionsWith } from "#config/options";
import { settings } from "#features";
import { code, page, table } from "./markdown.ts";

export function configurationPage(): string {
  return page("Configuration", "`src/config/options.ts` and the features' settings", [
    "Options of `bin/plaza start`. A flag has precedence over the environment variable, the variable over `plaza.config.yaml` in the folder in which " +
      "you start Plaza, and the file over the default. The keys of the file are the flags without `--`. An invalid value ends the start with one line on " +
      "stderr and exit code 2. Secrets have no flag, because everybody on a machine can read its command lines; each of them, and `PLAZA_DATA`, can be in a file, which a variable with `_FILE` at its end names (`PLAZA_CONTROL_KEY_FILE`). Editors check the file by " +
      "`config.schema.json`, which the package has beside this page and `bin/plaza schema config` prints.",
    table(["flag", "variable", "default", "meaning"], optionsWith(settings).map(row)),
  ]);
}

function row(option: Option): string[] {
  const { name, value, isNegatable, isSecret, summary } = option;
  const flag = [flagOf(name), value].filter((part) => part !== undefined).join(" ");
  const flags = isSecret === true ? "" : code(flag) + (isNegatable === true ? `, ${code(`--no-${name}`)}` : "");
  return [flags, code(variableOf(name)), defaultText(option.default), summary];
}

function defaultText(value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  if (typeof value === "object") return Array.isArray(value) || Object.keys(value).length === 0 ? "" : code(JSON.stringify(value));
  return code(String(value));
}
