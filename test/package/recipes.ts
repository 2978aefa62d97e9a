/** Reads the recipes of docs/guides/testing.md: the files, whose names are in the first lines of blocks, and the command of each section. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const GUIDE = join(import.meta.dir, "../../docs/guides/testing.md");

interface Block {
  readonly language: string;
  readonly text: string;
}

const SECTION = /^## (.+)$/gm;
const BLOCK = /^```(\w+)\n([\s\S]*?)^```$/gm;
/** The first line of a block that contains a file: `// labels.test.ts` or `# test_labels.py`. */
const FILE_NAME = /^(?:\/\/|#) ([\w.-]+)\n/;

function blocksOf(title: string): Block[] {
  const guide = readFileSync(GUIDE, "utf8");
  const sections = [...guide.matchAll(SECTION)];
  const at = sections.findIndex((section) => section[1] === title);
  const section = sections[at];
  if (section === undefined) throw new Error(`the guide has no section ${title}`);
  const text = guide.slice(section.index, sections[at + 1]?.index);
  return [...text.matchAll(BLOCK)].map(([, language = "", block = ""]) => ({ language, text: block }));
}

/** Writes the files of the sections into a folder. */
export function writeRecipe(folder: string, ...titles: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { text } of titles.flatMap(blocksOf)) {
    const name = FILE_NAME.exec(text)?.[1];
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }
}

/** The commands of a section of the guide, in their order. */
export const commandsOf = (title: string): string[] =>
  blocksOf(title)
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text.trim());

/** The command that runs the tests of a section, which is its last command. */
export function commandOf(title: string): string {
  const command = commandsOf(title).at(-1);
  if (command === undefined) throw new Error(`the section ${title} has no command`);
  return command;
}
