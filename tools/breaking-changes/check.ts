/**
 * `npm run check -- contract`: whether the documents of the interface and of the control API break what the last release promised. What it promised stands in
 * `spec/released/` (or in `--released FOLDER`), and `--release` writes it there. A break that is meant has its line in `spec/released/accepted.json`.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../steps.ts";
import { asyncapiBreaks, openapiBreaks } from "./documents.ts";

const CURRENT = join(ROOT, "docs/reference");
const { values } = parseArgs({ options: { release: { type: "boolean" }, released: { type: "string", default: join(ROOT, "spec/released") } } });
const RELEASED = values.released;
const ACCEPTED = join(RELEASED, "accepted.json");
const documents = { "openapi.json": openapiBreaks, "control-openapi.json": openapiBreaks, "asyncapi.json": asyncapiBreaks };

const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8"));

if (values.release === true) {
  mkdirSync(RELEASED, { recursive: true });
  for (const name of Object.keys(documents)) writeFileSync(join(RELEASED, name), `${JSON.stringify(readJson(join(CURRENT, name)))}\n`);
  writeFileSync(ACCEPTED, "[]\n");
  console.log(`written: ${RELEASED}`);
  process.exit(0);
}

if (!existsSync(join(RELEASED, "openapi.json"))) {
  console.log("nothing is released yet");
  process.exit(0);
}

const accepted = new Set<string>(readJson(ACCEPTED));
const breaks = Object.entries(documents).flatMap(([name, breaksOf]) => breaksOf(readJson(join(RELEASED, name)), readJson(join(CURRENT, name))));
const unaccepted = breaks.filter((line) => !accepted.has(line));
for (const line of unaccepted) console.error(line);
if (unaccepted.length > 0)
  console.error("\nEach line breaks clients of the last release. One that is meant goes into spec/released/accepted.json and CHANGELOG.md.");
console.log(`${breaks.length} breaking changes since the last release, ${unaccepted.length} of them not accepted`);
process.exit(unaccepted.length === 0 ? 0 : 1);
