/** The files that the guide for unchanged programs lets its readers save, so that tests run exactly what the guide shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/guides/unchanged-programs.md"), "utf8");

/** A file of the guide, whose name is in the first line of its block. */
export function fileOfGuide(name: string): string {
  const found = [...GUIDE.matchAll(/^```\w+\n(?:\/\/|#) ([\w.]+)\n([\s\S]*?)^```$/gm)].find(([, title]) => title === name)?.[2];
  if (found === undefined) throw new Error(`the guide has no file ${name}`);
  return found;
}
