/**
 * `npm run docs`: writes the reference pages and the fidelity page from the contracts and other declarations of the program. With `--check` the
 * command only prints the files that differ. The build writes the documents and types that are not in git (`tools/write-docs/generated.ts`).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./steps.ts";
import { pages } from "./write-docs/pages.ts";

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const [name, write] of Object.entries(pages)) {
  const file = join(ROOT, name);
  const text = write();
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  stale.push(name);
  if (isCheck) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
if (isCheck) {
  for (const name of stale) console.error(`${name} differs from the code; run npm run docs`);
  process.exit(stale.length === 0 ? 0 : 1);
}
console.log(stale.length === 0 ? "everything is up to date" : `written: ${stale.join(", ")}`);
