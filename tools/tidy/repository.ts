/**
 * The types and functions that all checks of tidy use, and the files that the checks read: all files that are committed, or that
 * `git add` would add.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

export interface RepositoryFile {
  /** The path from the root of the repository, with `/`. */
  readonly path: string;
  /** The text of the file; empty if the file is binary. */
  readonly text: string;
}

export interface Problem {
  readonly path: string;
  /** The number of the line, counted from 1. */
  readonly line: number;
  readonly what: string;
  /** Advice on how to correct the problem. */
  readonly fix: string;
}

export type Check = (files: readonly RepositoryFile[]) => Problem[];

export const problemText = ({ path, line, what, fix }: Problem): string => `${path}:${line}: ${what}; ${fix}`;

const BINARY = /\.(png|jpg|jpeg|gif|ico|woff2?|gz|mp4|flv|sqlite|ts\.bin)$/;

/**
 * Matches files that programs make. In an unpacked archive without git, tidy checks all files that this pattern does not match.
 */
const MADE = /^(node_modules|\.git|\.plaza|coverage)\/|(^|\/)generated\//;

export function readRepository(root: string): RepositoryFile[] {
  const git = Bun.spawnSync(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: root, stderr: "ignore" });
  const paths = git.success
    ? git.stdout.toString().split("\0").filter(Boolean)
    : [...new Bun.Glob("**/*").scanSync({ cwd: root, dot: true })].filter((path) => !MADE.test(path));
  return [...new Set(paths)]
    .filter((path) => existsSync(join(root, path)))
    .sort()
    .map((path) => ({ path, text: BINARY.test(path) ? "" : readFileSync(join(root, path), "utf8") }));
}

export const isCode = ({ path }: RepositoryFile): boolean => /\.(ts|tsx|mjs|cjs)$/.test(path) && !path.endsWith(".d.ts");

export const isTest = ({ path }: RepositoryFile): boolean => path.endsWith(".test.ts");

export const isDocument = ({ path }: RepositoryFile): boolean => path.endsWith(".md");

const trees = new WeakMap<RepositoryFile, ts.SourceFile>();

export function treeOf(file: RepositoryFile): ts.SourceFile {
  let tree = trees.get(file);
  if (tree === undefined) {
    tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ESNext, true);
    trees.set(file, tree);
  }
  return tree;
}

/** Calls `visit` for every node of the file, a parent before its children. */
export function eachNode(file: RepositoryFile, visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, walk);
  };
  walk(treeOf(file));
}

export const lineOf = (file: RepositoryFile, node: ts.Node): number =>
  treeOf(file).getLineAndCharacterOfPosition(node.getStart(treeOf(file))).line + 1;

/** Finds each match of a global pattern, with the number of its line. */
export function matchesIn(text: string, pattern: RegExp): { match: RegExpMatchArray; line: number }[] {
  return text.split("\n").flatMap((content, at) => [...content.matchAll(pattern)].map((match) => ({ match, line: at + 1 })));
}
