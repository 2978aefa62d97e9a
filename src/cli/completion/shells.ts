/**
 * Makes the completion scripts for shells. A completion script first reads the commands before the cursor. The script offers the values of
 * the option before the cursor, or commands, options and arguments.
 */
import type { Argument, Command, Option } from "commander";
import { eventNames } from "#control/client/triggered";
import { buildRegistry } from "#main";

/** Returns the script that `plaza completion <shell>` prints. */
export function completionScript(shell: "bash" | "zsh" | "fish", plaza: Command): string {
  const commands = commandWords(plaza, { event: eventNames(buildRegistry().webhookFields.all) });
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

const isList = (value: OptionWords["value"]): value is readonly string[] => typeof value === "object";

/** Puts a text in single quotes. None of the shells has escapes between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The names of all commands and their subcommands, as patterns of the shell's `case`. */
const paths = (commands: readonly CommandWords[]): string[] => commands.flatMap(({ path }) => (path === "" ? [] : [quoted(path)]));

const flagsWith = (options: readonly OptionWords[], isSought: (value: OptionWords["value"]) => boolean): string[] =>
  options.filter(({ value }) => isSought(value)).map(({ flag }) => flag);

function bash(commands: readonly CommandWords[]): string {
  const branch = ({ path, commands: below, options, argument }: CommandWords): string => {
    const values = [
      ...options.flatMap(({ flag, value }) => (isList(value) ? [`${flag}) words=${quoted(value.join(" "))} ;;`] : [])),
      ...caseOf(
        flagsWith(options, (value) => value === "files"),
        "files=-f ;;",
      ),
      ...caseOf(
        flagsWith(options, (value) => value === "anything"),
        "return ;;",
      ),
    ];
    const words = [...below.map(({ name }) => name), ...options.map(({ flag }) => flag), ...(isList(argument) ? argument : [])];
    return `    ${quoted(path)})
      case $before in
${values.map((line) => `        ${line}`).join("\n")}
        *) words=${quoted(words.join(" "))}${argument === "files" ? " files=-f" : ""} ;;
      esac ;;`;
  };
  return `# Completion of plaza for bash, written by \`plaza completion bash\`.
_plaza() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at= words= files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${paths(commands).join(" | ")}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case $at in
${commands.map(branch).join("\n")}
  esac
  COMPREPLY=($(compgen $files -W "$words" -- "$word"))
}
complete -o filenames -F _plaza plaza
`;
}

const caseOf = (flags: readonly string[], then: string): string[] => (flags.length === 0 ? [] : [`${flags.join(" | ")}) ${then}`]);

function zsh(commands: readonly CommandWords[]): string {
  const described = (...parts: readonly string[]): string => quoted(parts.map((part) => part.replaceAll(":", "\\:")).join(":"));
  const branch = ({ path, commands: below, options, argument }: CommandWords): string => {
    const values = [
      ...options.flatMap(({ flag, value }) => (isList(value) ? [`(${flag}) compadd -- ${value.map(quoted).join(" ")}; return ;;`] : [])),
      ...caseOf(
        flagsWith(options, (value) => value === "files"),
        "_files; return ;;",
      ).map((line) => `(${line}`),
      ...caseOf(
        flagsWith(options, (value) => value === "anything"),
        "return ;;",
      ).map((line) => `(${line}`),
    ];
    const found = [
      ...below.map(({ name, description }) => described(name, description)),
      ...(isList(argument) ? argument.map((word) => described(word)) : []),
      ...options.map(({ flag, description }) => described(flag, description)),
    ];
    return `    (${quoted(path)})
      case $before in
${values.map((line) => `        ${line}`).join("\n")}
      esac
      found=(
${found.map((line) => `        ${line}`).join("\n")}
      )${argument === "files" ? "\n      _files" : ""} ;;`;
  };
  return `#compdef plaza
# Completion of plaza for zsh, written by \`plaza completion zsh\`.
_plaza() {
  local before=$words[CURRENT-1] at= i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      (${paths(commands).join(" | ")}) at="$at $words[i]" ;;
    esac
  done
  case $at in
${commands.map(branch).join("\n")}
  esac
  _describe plaza found
}
if [[ $funcstack[1] = _plaza ]]; then _plaza; else compdef _plaza plaza; fi
`;
}

function fish(commands: readonly CommandWords[]): string {
  const escaped = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ path, commands: below, options, argument }) => {
    const at = `complete -c plaza -n ${escaped(`__plaza_at ${escaped(path)}`)}`;
    const taking = (value: OptionWords["value"]): string =>
      value === undefined ? "" : isList(value) ? ` -x -a ${escaped(value.join(" "))}` : value === "files" ? " -r -F" : " -x";
    return [
      ...below.map(({ name, description }) => `${at} -a ${name} -d ${escaped(description)}`),
      ...options.map(({ flag, description, value }) => `${at} -l ${flag.replace(/^--/, "")}${taking(value)} -d ${escaped(description)}`),
      ...(isList(argument) ? [`${at} -a ${escaped(argument.join(" "))}`] : argument === "files" ? [`${at} -F`] : []),
    ];
  });
  return `# Completion of plaza for fish, written by \`plaza completion fish\`.
function __plaza_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths(commands).join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c plaza -f
${lines.join("\n")}
`;
}

/** The completions of an argument: the names of files, a list of values, or nothing because any value is possible. */
type Completed = "files" | "anything" | readonly string[];

interface OptionWords {
  /** The flag, for example `--data`. */
  readonly flag: string;
  readonly description: string;
  /** The possible values of the option; undefined if the option takes no value. */
  readonly value: Completed | undefined;
}

export interface CommandWords {
  /** The names of the commands that lead to this command, each after a space, e.g. ` token mint`; empty for `plaza` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** The possible values of the arguments; undefined if the command takes no arguments. */
  readonly argument: Completed | undefined;
}

/** The placeholders in the help that stand for a path. */
const FILES = ["FILE", "FOLDER", "WHERE"];

/** Lists `plaza` and every command below it. `words` are the possible values of an argument, by the argument's name. */
export function commandWords(plaza: Command, words: Readonly<Record<string, readonly string[]>>): readonly CommandWords[] {
  const below = (command: Command, path: string): CommandWords[] => {
    const help = command.createHelp();
    const commands = help.visibleCommands(command).map((one) => ({ name: one.name(), description: one.description() }));
    const [argument] = command.registeredArguments;
    return [
      {
        path,
        commands,
        options: help.visibleOptions(command).map(optionWords),
        argument: argument === undefined ? undefined : completedArgument(argument, words),
      },
      ...command.commands.filter((one) => commands.some(({ name }) => name === one.name())).flatMap((one) => below(one, `${path} ${one.name()}`)),
    ];
  };
  return below(plaza, "");
}

function optionWords({ long, short, flags, description, argChoices }: Option): OptionWords {
  const opened = flags.indexOf("<");
  const value = opened === -1 ? undefined : flags.slice(opened + 1, flags.indexOf(">"));
  const completed = argChoices ?? (value !== undefined && FILES.includes(value) ? "files" : "anything");
  return { flag: long ?? short ?? "", description, value: value === undefined ? undefined : completed };
}

const completedArgument = (argument: Argument, words: Readonly<Record<string, readonly string[]>>): Completed =>
  argument.argChoices ?? words[argument.name()] ?? (["file", "folder"].includes(argument.name()) ? "files" : "anything");
