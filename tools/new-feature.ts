/**
 * `npm run new-feature gift-cards`: makes the feature `src/features/gift-cards` with all its standard files, adds the feature to `src/features.ts`,
 * and adds a node of the feature to `test/harness/full-world.ts`, which the tests of every operation use. `npm run new-feature criteria --
 * criterion` also gives the singular, which is needed if the plural is not the singular with an s. The template `tools/feature-template` is a
 * working feature; the new feature is a copy of the template with another noun.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TEMPLATE = new URL("feature-template", import.meta.url).pathname;

const singularOf = (name: string): string => (name.endsWith("ies") ? `${name.slice(0, -3)}y` : name.replace(/s$/, ""));

const pascal = (name: string): string => name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const camel = (name: string): string => pascal(name).replace(/^./, (letter) => letter.toLowerCase());
const snake = (name: string): string => name.replaceAll("-", "_");
const shout = (name: string): string => snake(name).toUpperCase();
const spoken = (name: string): string => name.replaceAll("-", " ");
const capital = (name: string): string => spoken(name).replace(/^./, (letter) => letter.toUpperCase());

/**
 * Replaces the nouns of the template in a text, in each spelling. Longer spellings are replaced first, because they contain the shorter spellings.
 */
export function renamedFor(text: string, feature: string, noun: string): string {
  const spellings = [pascal, camel, snake, shout, capital, spoken, (name: string) => name];
  return spellings.reduce((changed, spelling) => {
    const many = changed.replaceAll(spelling("gift-cards"), spelling(feature));
    return many.replaceAll(spelling("gift-card"), spelling(noun));
  }, text);
}

/** Writes the feature below `root`. Returns the paths of the files that the function made or changed. */
export function makeFeature(root: string, feature: string, noun: string): string[] {
  const folder = `src/features/${feature}`;
  if (existsSync(join(root, folder))) throw new Error(`${folder} exists already`);
  mkdirSync(join(root, folder), { recursive: true });
  const written = readdirSync(TEMPLATE).map((name) => {
    const path = `${folder}/${renamedFor(name.replace(/\.txt$/, ""), feature, noun)}`;
    writeFileSync(join(root, path), renamedFor(readFileSync(join(TEMPLATE, name), "utf8"), feature, noun));
    return path;
  });
  const list = join(root, "src/features.ts");
  writeFileSync(list, withFeature(readFileSync(list, "utf8"), feature));
  const world = join(root, FULL_WORLD);
  writeFileSync(world, withNode(readFileSync(world, "utf8"), snake(feature), snake(noun)));
  return [...written, "src/features.ts", FULL_WORLD];
}

const FULL_WORLD = "test/harness/full-world.ts";
const TOKENS = /^ {2}tokens: \[$/m;
const NODES = /(export const nodeOfType: [^{]+\{\n[^}]*)\}/;
const FIRST_ID = 9901;

/** Returns the world's source with one more node of the template's type. The new node gets an id that the world's source does not contain yet. */
export function withNode(source: string, section: string, type: string): string {
  if (!TOKENS.test(source) || !NODES.test(source)) throw new Error(`${FULL_WORLD} has another form than expected: add a node there by hand`);
  let id = FIRST_ID;
  while (source.includes(`"${id}"`)) id++;
  return source
    .replace(TOKENS, (line) => `  ${section}: [{ id: "${id}", page: "2001", name: "First" }],\n${line}`)
    .replace(NODES, (_, held: string) => `${held}  ${type}: "${id}",\n}`);
}

const IMPORTS = /(?:^import \{ \w+ \} from "#features\/[^"]+";\n)+/m;
const LIST = /(export const features: readonly Feature\[\] = \[)([^\]]*?),?\s*\]/;

function withFeature(source: string, feature: string): string {
  if (!IMPORTS.test(source) || !LIST.test(source)) throw new Error("src/features.ts has another form than expected: add the feature there by hand");
  const added = `import { ${camel(feature)} } from "#features/${feature}";\n`;
  const sortedWith = (imports: string): string => [...(imports.match(/^.+\n/gm) ?? []), added].sort().join("");
  return source.replace(IMPORTS, sortedWith).replace(LIST, (_, head: string, names: string) => `${head}${names}, ${camel(feature)}]`);
}

if (import.meta.main) {
  const [feature = "", noun = singularOf(feature)] = process.argv.slice(2);
  const isName = (name: string): boolean => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name);
  if (!isName(feature) || !isName(noun)) {
    console.error("usage: npm run new-feature NAME [-- NOUN]   names are lower case, words joined by -, e.g. gift-cards");
    process.exit(2);
  }
  const root = new URL("..", import.meta.url).pathname;
  try {
    const written = makeFeature(root, feature, noun);
    const { exitCode } = Bun.spawnSync(["node_modules/.bin/biome", "check", "--write", ...written.filter((path) => path.endsWith(".ts"))], {
      cwd: root,
    });
    console.log(written.join("\n"));
    console.log(
      `\nThe feature works as it is: bin/plaza serves it, npm test -- src/features/${feature} tests it. The next step is step 2 of CONTRIBUTING.md.`,
    );
    process.exit(exitCode);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
