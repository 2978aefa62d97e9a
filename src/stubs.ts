/**
 * The option `--stub` of a sandbox: the content of a file is the response to requests for an edge that Plaza does not serve (D-395). A stub is an
 * ordinary operation of a node type, so Plaza checks the token, the node and the version of a request for a stub as for every other operation.
 */
import { readFile, stat } from "node:fs/promises";
import { Type } from "typebox";
import { ConfigProblem } from "#config/config";
import type { Stub } from "#config/option-readers";
import { defineFeature, type Feature } from "#graph/contract/feature";
import { type Access, readOperation, type Served, serveRead, serveWrite, writeOperation } from "#graph/contract/operation";
import { Registry } from "#graph/contract/registry";
import { parseJsonOr } from "#graph/response/json";
import { jsonPrefixLength } from "#kernel/redaction/json-text";
import { suggestion } from "#kernel/suggestion";
import { utf8Text } from "#kernel/text";
import type { Log } from "#telemetry/log";
import { signatureOf } from "./watch-world.ts";

/**
 * The maximum number of stubs. The number is limited because the start checks the file of each stub. A program under test uses some dozens of edges.
 */
const STUBS_MAX = 100;
/** The maximum size of a stub's file, which is also the size of the largest body that a client sends by default. */
const BYTES_MAX = 1_048_576;

/** Returns a registry with the operations of the features and of the stubs. Rejects with `ConfigProblem` if a stub cannot be used. */
export async function registryWith(features: readonly Feature[], stubs: readonly Stub[], log: Log): Promise<Registry> {
  const own = new Registry(features);
  if (stubs.length === 0) return own;
  if (stubs.length > STUBS_MAX) throw new ConfigProblem("--stub", `names ${stubs.length} edges; at most ${STUBS_MAX} are possible`);
  const operations = await Promise.all(stubs.map((stub) => operationOf(stub, own, log)));
  const names = operations.map(({ contract }) => contract.operation);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new ConfigProblem("--stub", `has two files for ${twice.replace("stub ", "")}`);
  return new Registry([...features, defineFeature({ name: "stubs", migrations: [], operations })]);
}

async function operationOf({ method, type, edge, file }: Stub, registry: Registry, log: Log): Promise<Served> {
  const name = `${method} ${type}/${edge}`;
  const served = registry.find(type, method, edge);
  if (served !== undefined) throw new ConfigProblem("--stub", `Plaza itself serves ${name} (${served.access.operation}); leave the stub out`);
  const content = await StubContent.open(file, (problem) =>
    log.warn({ stub: name, file, problem }, "the file of a stub cannot be used, so requests get its last content"),
  );
  const contract = {
    ...accessOf(type, registry),
    ...{ operation: `stub ${name}`, on: type, edge, params: Type.Object({}), returns: Type.Object({}, { additionalProperties: true }) },
    summary: `Answers from ${file}, because Plaza does not serve this edge.`,
  };
  return method === "GET"
    ? serveRead(readOperation(contract), () => content.read())
    : // The file is read before the transaction, because a transaction may await only its SQL statements.
      serveWrite(
        writeOperation({ ...contract, method }),
        async (_request, _tx, read) => read,
        () => content.read(),
      );
}

/**
 * Returns the access rules of a stub. A request for a stub needs the rights for reading the stub's node, or the rights of another operation if the
 * node cannot be read. A request may send its token in the header, the query or the body.
 */
function accessOf(type: string, registry: Registry): Access {
  const known = registry.types.map((one) => one.type).filter((one) => registry.endpoints.some(({ nodeType }) => nodeType === one));
  if (!known.includes(type))
    throw new ConfigProblem("--stub", `there is no node type ${type}; the node types are ${known.join(", ")}${suggestion(type, known)}`);
  const { access } = registry.find(type, "GET", undefined) ?? registry.operationsOn(type)[0] ?? missing(type);
  const { surfaces, clientsSurfaces, versions, policy, kindsOn } = access;
  return {
    ...{ clauses: [], decisions: ["D-395"], errors: [], scheme: "anywhere", errorForm: "wrapped", surfaces, versions, policy },
    ...(clientsSurfaces === undefined ? {} : { clientsSurfaces }),
    ...(kindsOn === undefined ? {} : { kindsOn }),
  };
}

function missing(type: string): never {
  throw new Error(`${type} has no operation`);
}

type Content = Readonly<Record<string, unknown>>;

/** The content of a stub's file. The content of the file is read again if the file has changed since the last request. */
class StubContent {
  #seen: string | undefined;
  #content: Content = {};

  private constructor(
    readonly file: string,
    readonly onProblem: (problem: string) => void,
  ) {}

  /**
   * Opens the file of a stub. Rejects with `ConfigProblem` if the file cannot be used. The function `onProblem` is called if a later version of the
   * file cannot be used.
   */
  static async open(file: string, onProblem: (problem: string) => void): Promise<StubContent> {
    const content = new StubContent(file, onProblem);
    content.#seen = await signatureOf(file);
    content.#content = await readContent(file);
    return content;
  }

  async read(): Promise<Content> {
    // The signature is read before the file, so that the next request detects a change between the two reads.
    const signature = await signatureOf(this.file);
    if (signature === this.#seen) return this.#content;
    this.#seen = signature;
    try {
      this.#content = await readContent(this.file);
    } catch (error) {
      if (!(error instanceof ConfigProblem)) throw error;
      this.onProblem(error.message.replace("--stub: ", ""));
    }
    return this.#content;
  }
}

async function readContent(file: string): Promise<Content> {
  const refused = (problem: string) => new ConfigProblem("--stub", `${file} ${problem}`);
  let bytes: Uint8Array;
  try {
    const { size } = await stat(file);
    if (size > BYTES_MAX) throw refused(`has ${size} bytes; at most ${BYTES_MAX} are possible`);
    bytes = await readFile(file);
  } catch (error) {
    throw error instanceof ConfigProblem ? error : refused(`cannot be read: ${(error as Error).message}`);
  }
  const text = utf8Text(bytes);
  if (text === undefined) throw refused("is not valid UTF-8");
  const value = parseJsonOr(text, (problem) => refused(problem === "is not valid JSON" ? `${problem} ${placeIn(text)}` : problem));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused('must be a JSON object, such as {"data": []}');
  return value as Content;
}

/** Returns the position of the first mistake in a JSON text. */
function placeIn(text: string): string {
  const before = text.slice(0, jsonPrefixLength(text)).split("\n");
  return before.join("\n").length === text.length
    ? "because it ends too early"
    : `at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}
