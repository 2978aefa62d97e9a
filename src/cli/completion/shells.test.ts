/** Checks the completion scripts of a program that has each kind of option and argument. */
import { describe, expect, test } from "bun:test";
import { Argument, Command, Option } from "commander";
import { commandWords, completionScript } from "./shells.ts";

/** Makes a program with a command below another command, hidden commands, and each kind of option and argument. */
function small(): Command {
  const plaza = new Command("plaza").helpOption(false).helpCommand(false);
  const own = (parent: Command, name: string, description: string, isHidden = false) =>
    parent.command(name, { hidden: isHidden }).description(description).helpOption(false).helpCommand(false);
  own(plaza, "send", "sends: the app's file")
    .argument("[file]")
    .argument("[event]")
    .option("--data <FOLDER>", "where it is")
    .option("--name <NAME>", "what it's called")
    .addOption(new Option("--level <LEVEL>", "how loud").choices(["low", "high"]))
    .option("-q", "says nothing");
  const world = own(plaza, "world", "worlds");
  own(world, "new", "makes one").addArgument(new Argument("<kind>").choices(["big", "small"]));
  own(world, "make", "makes an event").argument("<event>");
  own(world, "drop", "drops one").argument("<id>");
  own(plaza, "worker", "works", true);
  return plaza;
}

test("the words of a command are its visible commands, its options with their kinds of values, and its first argument", () => {
  const option = (flag: string, description: string, value?: unknown) => ({ flag, description, value });
  const nothing = { commands: [], options: [], argument: undefined };
  expect(commandWords(small(), { event: ["messages"] })).toEqual([
    {
      ...{ ...nothing, path: "" },
      commands: [
        { name: "send", description: "sends: the app's file" },
        { name: "world", description: "worlds" },
      ],
    },
    {
      ...{ ...nothing, path: " send", argument: "files" },
      options: [
        option("--data", "where it is", "files"),
        option("--name", "what it's called", "anything"),
        option("--level", "how loud", ["low", "high"]),
        option("-q", "says nothing"),
      ],
    },
    {
      ...{ ...nothing, path: " world" },
      commands: [
        { name: "new", description: "makes one" },
        { name: "make", description: "makes an event" },
        { name: "drop", description: "drops one" },
      ],
    },
    { ...nothing, path: " world new", argument: ["big", "small"] },
    { ...nothing, path: " world make", argument: ["messages"] },
    { ...nothing, path: " world drop", argument: "anything" },
  ] as never);
});

describe("the script of", () => {
  test("bash offers values after an option that takes one, otherwise commands, options and arguments", () => {
    const script = completionScript("bash", small());
    expect(script).toContain("      ' send' | ' world' | ' world new' | ' world make' | ' world drop') at=");
    expect(script).toContain(`    ' send')
      case $before in
        --level) words='low high' ;;
        --data) files=-f ;;
        --name) return ;;
        *) words='--data --name --level -q' files=-f ;;
      esac ;;
    ' world')
      case $before in

        *) words='new make drop' ;;
      esac ;;
    ' world new')
      case $before in

        *) words='big small' ;;
      esac ;;
`);
    // The completions come from the real catalogue: a webhook field by itself, and a webhook field with its object.
    expect(script).toMatch(/ ' world make'\)\n.*\n\n {8}\*\) words='[^']*\bcustom_labels page\.custom_labels\b/);
    expect(script).toMatch(/ ' world drop'\)\n.*\n\n {8}\*\) words='' ;;/);
    expect(script).toContain("    '')\n      case $before in\n\n        *) words='send world' ;;\n");
  });

  test("zsh describes each word, with the colons and quotes of its text", () => {
    const script = completionScript("zsh", small());
    expect(script).toContain("      (' send' | ' world' | ' world new' | ' world make' | ' world drop') at=");
    expect(script).toContain(`    (' send')
      case $before in
        (--level) compadd -- 'low' 'high'; return ;;
        (--data) _files; return ;;
        (--name) return ;;
      esac
      found=(
        '--data:where it is'
        '--name:what it'\\''s called'
        '--level:how loud'
        '-q:says nothing'
      )
      _files ;;
`);
    expect(script).toContain("        'send:sends\\: the app'\\''s file'\n        'world:worlds'\n      ) ;;\n");
    expect(script).toContain("      found=(\n        'big'\n        'small'\n      ) ;;\n");
  });

  test("fish has a line for each word, at the command to which it belongs", () => {
    const lines = completionScript("fish", small()).split("\n");
    const at = (path: string) => `complete -c plaza -n '__plaza_at \\'${path}\\''`;
    expect(lines.filter((line) => line.startsWith("complete -c plaza -n") && !line.includes("' world make'"))).toEqual(
      expect.arrayContaining([
        `${at("")} -a send -d 'sends: the app\\'s file'`,
        `${at(" send")} -l data -r -F -d 'where it is'`,
        `${at(" send")} -l name -x -d 'what it\\'s called'`,
        `${at(" send")} -l level -x -a 'low high' -d 'how loud'`,
        `${at(" send")} -F`,
        `${at(" world")} -a new -d 'makes one'`,
        `${at(" world new")} -a 'big small'`,
      ]),
    );
    // For an argument that may have any value, the script has no line.
    expect(lines.filter((line) => line.includes(" world drop") && line.startsWith("complete"))).toEqual([]);
    expect(lines).toContain("complete -c plaza -f");
    expect(lines).toContain("      case ' send' ' world' ' world new' ' world make' ' world drop'");
  });
});
