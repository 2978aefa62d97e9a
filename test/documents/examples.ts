/** The examples of a page: its `sh` blocks, each with the `json` block that follows it as what the last command prints. */
import { readFileSync } from "node:fs";

export interface Example {
  readonly line: number;
  readonly script: string;
  readonly shown?: unknown;
}

const BLOCK = /^( *)```(\w+)\n([\s\S]*?)^\1```$/gm;

/** Installing, and a server beside the one that the examples run against: other tests run these. */
const RUN_ELSEWHERE = /\b(npm|npx|duckdb|bin\/plaza (start|record|compare))\b/;

export function examplesOf(path: string): Example[] {
  const text = readFileSync(path, "utf8");
  const blocks = [...text.matchAll(BLOCK)].map(([whole, indent = "", language, body = ""], at, all) => {
    const { index } = all[at] as RegExpMatchArray & { index: number };
    return {
      language,
      body: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      line: text.slice(0, index).split("\n").length,
      start: index,
      end: index + whole.length,
    };
  });
  return blocks.flatMap(({ language, body, line, end }, at) => {
    if (language !== "sh" || RUN_ELSEWHERE.test(body)) return [];
    const next = blocks[at + 1];
    const isShown = next?.language === "json" && text.slice(end, next.start).trim().length === 0;
    return [{ line, script: body, ...(isShown ? { shown: JSON.parse(next.body) } : {}) }];
  });
}

/** `plaza listen` runs until the page ends. */
export const runsOn = ({ script }: Example): boolean => script.includes("bin/plaza listen");
