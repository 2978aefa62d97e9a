/** Whether a file with a mutant still compiles. Bun strips types, so that no test would say so. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * Looks at the changed file alone, with what it imports: a second, where the type check of everything takes ten. What the
 * mistake would break in other files only is left to the tests.
 */
export class TypeCheck {
  readonly #root: string;
  readonly #options: ts.CompilerOptions;
  readonly #registry = ts.createDocumentRegistry();
  readonly #unchanged = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8"));
    this.#options = ts.parseJsonConfigFileContent(config, ts.sys, root).options;
  }

  /** With fewer errors than before or as many, the mutant is none that the types refuse. */
  accepts(path: string, original: string, text: string): boolean {
    const known = this.#unchanged.get(path) ?? this.#errors(path, original);
    this.#unchanged.set(path, known);
    return this.#errors(path, text) <= known;
  }

  #errors(path: string, text: string): number {
    const name = join(this.#root, path);
    const service = ts.createLanguageService(
      {
        fileExists: ts.sys.fileExists,
        readFile: ts.sys.readFile,
        directoryExists: ts.sys.directoryExists,
        getDirectories: ts.sys.getDirectories,
        useCaseSensitiveFileNames: () => true,
        getCompilationSettings: () => this.#options,
        getCurrentDirectory: () => this.#root,
        getDefaultLibFileName: ts.getDefaultLibFilePath,
        getScriptFileNames: () => [name],
        // The registry keeps what it has parsed by name and version.
        getScriptVersion: (file) => (file === name ? text : ""),
        getScriptSnapshot: (file) => {
          const content = file === name ? text : ts.sys.readFile(file);
          return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
        },
      },
      this.#registry,
    );
    const errors = service.getSyntacticDiagnostics(name).length + service.getSemanticDiagnostics(name).length;
    service.dispose();
    return errors;
  }
}
