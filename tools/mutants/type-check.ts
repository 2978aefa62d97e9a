/** Checks whether a file with a mutant still compiles. Bun ignores types, so no test would notice a type error. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * The codes of errors about unused names. Errors about unused names do not count, because a person who makes the mistake would also delete the
 * name.
 */
const UNUSED = new Set([6133, 6138, 6192, 6196, 6198, 6199, 6205]);

/**
 * Checks only the changed file and its imports. A check of one file and its imports takes a second or less, because unchanged files are parsed
 * only once; a check of all files takes ten seconds. Type errors in other files are left to the tests.
 */
export class TypeCheck {
  readonly #root: string;
  readonly #service: ts.LanguageService;
  /** The files that the compiler has read, with the version of their text. */
  readonly #files = new Map<string, { readonly text: string; readonly version: string }>();
  readonly #unchanged = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8"));
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    this.#service = ts.createLanguageService({
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
      useCaseSensitiveFileNames: () => true,
      getCompilationSettings: () => options,
      getCurrentDirectory: () => root,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getScriptFileNames: () => [...this.#files.keys()],
      getScriptVersion: (file) => this.#files.get(file)?.version ?? "",
      getScriptSnapshot: (file) => {
        const text = this.#files.get(file)?.text ?? ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
    });
  }

  /** Whether a mutant compiles: it must not have more type errors than the original. */
  accepts(path: string, original: string, text: string): boolean {
    const known = this.#unchanged.get(path) ?? this.#errors(path, original);
    this.#unchanged.set(path, known);
    const errors = this.#errors(path, text);
    // The original text is restored, because files that are checked later may import it.
    this.#put(path, original);
    return errors <= known;
  }

  #errors(path: string, text: string): number {
    const name = this.#put(path, text);
    const errors = [...this.#service.getSyntacticDiagnostics(name), ...this.#service.getSemanticDiagnostics(name)];
    return errors.filter(({ code }) => !UNUSED.has(code)).length;
  }

  #put(path: string, text: string): string {
    const name = join(this.#root, path);
    this.#files.set(name, { text, version: `${Number(this.#files.get(name)?.version ?? 0) + 1}` });
    return name;
  }
}
