import type { Command } from "commander";
import { program, readRoutes } from "#cli/program";
import { printedJson } from "#cli/terminal/printed-json";
import { propertiesOf, type Schema, schemaText } from "#control/llms/schema-text";
import { code, page, table } from "./markdown.ts";

const routes = await readRoutes();

export function commandsPage(): string {
  return page("Commands", "`src/cli`", [
    "The commands of `plaza`. In a clone it is `bin/plaza`, in your project `npx --no-install plaza`. `plaza help COMMAND` prints the same text. The options of " +
      "`plaza start` are in [Configuration](configuration.md). Commands find the server in the data folder, or by `--data`, `--config`, `--control-url` and " +
      "`--control-key`, which each of them has. Results are on stdout, everything else on stderr.",
    "The exit code is 0 if the command succeeded, 1 if something failed, was refused or did not happen, and 2 for wrong use, after which nothing has " +
      "changed. `plaza exec` returns the exit code of its command.",
    "`--json` prints stable JSON: the response of the [control API](control-api.md), or for a list one object a line. Commands that send one request print " +
      "JSON also if their output does not go to a terminal; on a terminal they print text.",
    ...commandsBelow(program({ routes }), ""),
  ]);
}

/** The options that the page describes only once, because every command has them. */
const OF_ALL = ["--data", "--control-url", "--control-key", "--config", "--world-name", "--help"];

function commandsBelow(command: Command, path: string): string[] {
  const help = command.createHelp();
  return help
    .visibleCommands(command)
    .filter((one) => one.name() !== "help")
    .flatMap((one) => {
      const name = `${path} ${one.name()}`;
      return one.commands.length > 0 ? commandsBelow(one, name) : [section(one, name)];
    });
}

function section(command: Command, name: string): string {
  const help = command.createHelp();
  const options = name === " start" ? [] : help.visibleOptions(command).filter(({ long }) => !OF_ALL.includes(long ?? ""));
  const args = help.visibleArguments(command);
  const rows = [...args.map((one) => [code(help.argumentTerm(one)), one.description]), ...options.map((one) => [code(one.flags), one.description])];
  const usage = args.map((one) => {
    const term = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? ` <${term}>` : ` [${term}]`;
  });
  return [
    `## plaza${name}${usage.join("")}`,
    `It ${command.description()}.`,
    ...(rows.length === 0 ? [] : [table(["option", "meaning"], rows)]),
    ...jsonOf(name.trim()),
  ].join("\n\n");
}

/** Describes the JSON of a command whose JSON is not the response of a route. */
function jsonOf(name: string): string[] {
  const schema = Object.entries(printedJson).find(([command]) => command === name)?.[1] as Schema | undefined;
  if (schema === undefined) return [];
  return [`\`--json\` prints ${schema.description ?? "an object"}:`, table(["key", "value", "meaning"], rowsOf(schema, ""))];
}

/** Returns a table row for each key, including the keys of inner objects. */
const rowsOf = (schema: Schema, above: string): string[][] =>
  propertiesOf(schema).flatMap(({ name, schema: inner, isRequired }) => {
    const path = above + name;
    const below = inner.type === "array" ? rowsOf(inner.items ?? {}, `${path}[].`) : rowsOf(inner, `${path}.`);
    return [[code(path), `${schemaText(inner)}${isRequired ? "" : ", optional"}`, inner.description ?? ""], ...below];
  });
