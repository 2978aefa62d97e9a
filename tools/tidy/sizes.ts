/** Checks that files, functions and folders are small enough to be read at once (STYLE.md, rule 9). */
import { dirname } from "node:path";
import ts from "typescript";
import { type Check, eachNode, isCode, lineOf, type Problem, type RepositoryFile, treeOf } from "./repository.ts";

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
/** The greatest number of files in a folder, because a reader can see about this number of names at a glance. */
const FOLDER_FILES_MAX = 20;

/** The files, functions and folders that may be larger, each with the reason: `tools/tidy-exceptions.json`. */
export interface SizeExceptions {
  readonly files: Readonly<Record<string, string>>;
  /** The reasons for large functions, by `path#function`. */
  readonly functions: Readonly<Record<string, string>>;
  readonly folders: Readonly<Record<string, string>>;
}

const FIRST_LINE = 1;

export const sizes =
  (exceptions: SizeExceptions): Check =>
  (files) => {
    const code = files.filter(isCode);
    return [
      ...code.flatMap((file) => fileSize(file, exceptions)),
      ...code.flatMap((file) => functionSizes(file, exceptions)),
      ...folderSizes(files, exceptions),
      ...unused(files, exceptions),
    ];
  };

const linesOf = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

function fileSize(file: RepositoryFile, exceptions: SizeExceptions): Problem[] {
  const lines = linesOf(file.text);
  if (lines <= FILE_LINES_MAX || Object.hasOwn(exceptions.files, file.path)) return [];
  const fix = "split it if it does several things, or list it in tools/tidy-exceptions.json with the reason";
  return [{ path: file.path, line: FIRST_LINE, what: `the file has ${lines} lines, ${FILE_LINES_MAX} are allowed`, fix }];
}

function functionSizes(file: RepositoryFile, exceptions: SizeExceptions): Problem[] {
  return longFunctions(file)
    .filter(({ name }) => !Object.hasOwn(exceptions.functions, `${file.path}#${name}`))
    .map(({ name, line, lines }) => ({
      path: file.path,
      line,
      what: `function ${name} has ${lines} lines, ${FUNCTION_LINES_MAX} are allowed`,
      fix: `give its parts names of their own, or list "${file.path}#${name}" in tools/tidy-exceptions.json with the reason`,
    }));
}

/**
 * Returns the folders with too many files, with the number of files. Files of every type are counted, but not the files of
 * subfolders.
 */
const fullFolders = (files: readonly RepositoryFile[]): Map<string, number> =>
  new Map(
    [...Map.groupBy(files, ({ path }) => dirname(path))]
      .map(([folder, held]) => [folder, held.length] as const)
      .filter(([, count]) => count > FOLDER_FILES_MAX),
  );

const folderSizes = (files: readonly RepositoryFile[], exceptions: SizeExceptions): Problem[] =>
  [...fullFolders(files)]
    .filter(([folder]) => !Object.hasOwn(exceptions.folders, folder))
    .map(([folder, count]) => ({
      path: folder,
      line: FIRST_LINE,
      what: `the folder has ${count} files of its own, ${FOLDER_FILES_MAX} are allowed`,
      fix: "move files that belong together into a folder of their own",
    }));

interface LongFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

function longFunctions(file: RepositoryFile): LongFunction[] {
  const long: LongFunction[] = [];
  eachNode(file, (node) => {
    if (!isFunctionWithBody(node) || isGroupOfTests(node)) return;
    const line = lineOf(file, node);
    const lines = treeOf(file).getLineAndCharacterOfPosition(node.getEnd()).line + 1 - line + 1;
    if (lines > FUNCTION_LINES_MAX) long.push({ name: nameOf(node), line, lines });
  });
  return long;
}

const isFunctionWithBody = (node: ts.Node): boolean => ts.isFunctionLike(node) && "body" in node && node.body !== undefined;

/** Whether a function is a group of tests: `describe("…", () => { … })` is a list of tests, which a reader need not read at once. */
function isGroupOfTests(node: ts.Node): boolean {
  if (!ts.isArrowFunction(node) || !ts.isCallExpression(node.parent) || !ts.isBlock(node.body)) return false;
  const called = (statement: ts.Statement) =>
    ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression) ? statement.expression.expression.getText() : "";
  return node.body.statements.some((statement) => /^(test|describe)\b/.test(called(statement)));
}

function nameOf(node: ts.Node): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const own = (node as ts.FunctionLikeDeclaration).name;
  if (own !== undefined) return own.getText();
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)
    ? parent.name.getText()
    : "(nameless)";
}

/** Finds exceptions that are not needed any more, because an old exception would silently allow the file to grow too long again. */
function unused(files: readonly RepositoryFile[], exceptions: SizeExceptions): Problem[] {
  const full = fullFolders(files);
  const file = (path: string) => files.find((one) => one.path === path && isCode(one));
  const isNeeded = (key: string): boolean => {
    const [path = "", name] = key.split("#");
    const held = file(path);
    if (held === undefined) return false;
    return name === undefined ? linesOf(held.text) > FILE_LINES_MAX : longFunctions(held).some((one) => one.name === name);
  };
  return [
    ...[...Object.keys(exceptions.files), ...Object.keys(exceptions.functions)].filter((key) => !isNeeded(key)),
    ...Object.keys(exceptions.folders).filter((folder) => !full.has(folder)),
  ].map((key) => ({ path: "tools/tidy-exceptions.json", line: FIRST_LINE, what: `${key} needs no exception`, fix: "delete its line" }));
}
