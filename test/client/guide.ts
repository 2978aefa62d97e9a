/** The examples of the client's guide as one program, and the output that the guide shows. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "#harness/processes/needs";

needs("registry");

const ROOT = join(import.meta.dir, "../..");
const CLIENT = join(ROOT, "clients/typescript");
const GUIDE = join(ROOT, "docs/guides/typescript-client.md");

export interface Guide {
  /** The examples as TypeScript, with the imports first. */
  readonly program: string;
  /** The texts after `// →`, in the order of the guide. */
  readonly printed: readonly string[];
}

export function readGuide(): Guide {
  const blocks = [...readFileSync(GUIDE, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  const lines = blocks.join("\n").split("\n");
  const isImport = (line: string): boolean => line.startsWith("import ");
  return {
    program: [...lines.filter(isImport), ...lines.filter((line) => !isImport(line))].join("\n"),
    printed: lines.flatMap((line) => /\/\/ → (.*)$/.exec(line)?.[1] ?? []),
  };
}

/** The guide's examples as a JavaScript program, which uses the given server and client instead of those in the guide. */
export const runnable = ({ program }: Guide, baseUrl: string, client: string): string =>
  new Bun.Transpiler({ loader: "ts" })
    .transformSync(program)
    .replaceAll("http://127.0.0.1:4000", baseUrl)
    .replaceAll('"plaza-graph-client"', JSON.stringify(client));

/** Packs the client and installs it into the folder, as `npm install plaza-graph-client` does. Returns the folder of the installed package. */
export function installClient(folder: string): string {
  const run = (cwd: string, ...args: string[]): void => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["npm", ...args, "--no-audit", "--no-fund"], { cwd });
    if (exitCode !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stdout}${stderr}`);
  };
  const { version } = JSON.parse(readFileSync(join(CLIENT, "package.json"), "utf8"));
  run(CLIENT, "pack", "--pack-destination", folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run(folder, "install", "--offline", `./plaza-graph-client-${version}.tgz`);
  return join(folder, "node_modules/plaza-graph-client");
}
