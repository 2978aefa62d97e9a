import { flagOf, type Option, optionsWith, variableOf } from "#config/options";
import { settings } from "#features";
import { code, page, table } from "./markdown.ts";

export function configurationPage(): string {
  return page("Configuration", "`src/config/options.ts` and the features' settings", [
    "Options of `bin/plaza start`. A flag wins over the environment, that over `plaza.config.yaml` in the folder it is started in (keys as the " +
      "flags without `--`), that over the default. A wrong value is one clear line and exit code 2. Secrets have no flag, because everybody on a " +
      "machine can read its command lines.",
    table(["flag", "variable", "default", "meaning"], optionsWith(settings).map(row)),
  ]);
}

function row(option: Option): string[] {
  const { name, value, isNegatable, isSecret, summary } = option;
  const flag = [flagOf(name), value].filter((part) => part !== undefined).join(" ");
  const flags = isSecret === true ? "" : code(flag) + (isNegatable === true ? `, ${code(`--no-${name}`)}` : "");
  return [flags, code(variableOf(name)), defaultText(option.default), summary];
}

function defaultText(value: Option["default"]): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "object") return Array.isArray(value) || Object.keys(value).length === 0 ? "" : code(JSON.stringify(value));
  return code(String(value));
}
