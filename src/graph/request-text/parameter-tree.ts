/**
 * D-34: makes parameters from the pairs of a query or form. If a parameter is repeated with different values, its value becomes a list, as with
 * `a[]=x`. Names such as `a[b]` and `a[0]` make nested values.
 */
import { type GraphError, invalidParameter, malformedRequest } from "#kernel/errors";
import type { Parameters } from "../pipeline/request.ts";

/** The greatest number of pairs of brackets in a parameter's name. The interface's own names have at most three pairs of brackets, `a[b][c]…`. */
const NESTING_MAX = 8;
/** The greatest number of parameters of a query, of a form, and of the top level of a JSON body. */
const PARAMETERS_MAX = 1_000;

/** A nested value. The object of parameters has no prototype, so that a parameter can be called `__proto__`. */
interface Branch {
  [key: string]: unknown;
}

const newBranch = (): Branch => Object.create(null) as Branch;

/**
 * Whether the parameter is a token or its proof. Tokens and proofs are read even if a request has too many parameters, so that the error is about
 * their number and not about a missing token.
 */
const isCredential = (name: string): boolean => name === "access_token" || name === "oauth_token" || name === "appsecret_proof";

export class ParameterTree {
  readonly #root = newBranch();
  readonly #countMax: number;
  #count = 0;
  #isNested = false;
  readonly #repeated = new Set<string>();
  /** The first error that was found in the parameters. */
  defect: GraphError | undefined;

  constructor(countMax = PARAMETERS_MAX) {
    this.#countMax = countMax;
  }

  /** Counts one more parameter of the request. Returns false if the request has too many parameters. */
  hasCapacityFor(name: string): boolean {
    if (++this.#count <= this.#countMax) return true;
    this.defect ??= malformedRequest(`More than ${this.#countMax} parameters`);
    return isCredential(name);
  }

  add(name: string, value: unknown): void {
    const present = this.#root[name];
    if (!name.includes("[")) {
      if (present === undefined) this.#root[name] = value;
      else if (typeof present === "string") {
        this.#root[name] = [present, value];
        this.#repeated.add(name);
      } else this.#insert([name], value);
    } else this.#insert(keysOf(name), value);
  }

  parameters(): Parameters {
    for (const name of this.#repeated) this.#root[name] = withoutRepetition(this.#root[name]);
    if (this.#isNested) for (const name in this.#root) this.#root[name] = withLists(this.#root[name]);
    return this.#root;
  }

  #insert(keys: readonly string[], value: unknown): void {
    const name = keys[0] as string;
    if (keys.length > NESTING_MAX + 1) this.defect ??= invalidParameter(name, `nests deeper than ${NESTING_MAX} levels`);
    else {
      if (keys.length > 1) this.#isNested = true;
      if (!insert(this.#root, keys, value)) this.defect ??= invalidParameter(name, "has two forms that exclude each other, such as a=1 and a[b]=2");
    }
  }
}

/** The keys of a parameter's name: `a[b][]` becomes `["a", "b", ""]`. A name with brackets in any other position is a single key. */
function keysOf(name: string): string[] {
  let at = name.indexOf("[");
  if (at === 0) return [name];
  const keys = [name.slice(0, at)];
  while (at < name.length) {
    const end = name.charCodeAt(at) === 91 ? name.indexOf("]", at) : -1;
    // To refuse a name with too many levels, it is enough to read one level more than the limit.
    if (end === -1 || keys.length > NESTING_MAX + 1) return end === -1 ? [name] : keys;
    keys.push(name.slice(at + 1, end));
    at = end + 1;
  }
  return keys;
}

const isBranch = (value: unknown): value is Branch => typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;

/** Whether the parameter was written with brackets, as in `a[b]=c`, and not as JSON. */
export const isNested = (value: unknown): value is Readonly<Record<string, unknown>> => isBranch(value);

/**
 * Stores a parameter's value under the keys of its name. An empty key appends the value to a list. Returns false if a value of another type is
 * already stored under these keys.
 */
function insert(root: Branch, keys: readonly string[], value: unknown): boolean {
  let at: Branch | unknown[] = root;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const next = i + 1 < keys.length ? (keys[i + 1] === "" ? [] : newBranch()) : undefined;
    if (Array.isArray(at)) {
      if (key !== "") return false;
      at.push(next ?? value);
      if (next !== undefined) at = next;
    } else {
      const branch: Branch = at;
      const present = branch[key];
      if (next === undefined) return setLast(branch, key, present, value);
      if (present === undefined) at = branch[key] = next;
      else if (!Array.isArray(next)) {
        if (!isBranch(present)) return false;
        at = present;
      } else if (isBranch(present)) return false;
      else at = branch[key] = Array.isArray(present) ? present : [present];
    }
  }
  return true;
}

function setLast(branch: Branch, key: string, present: unknown, value: unknown): boolean {
  if (present === undefined) branch[key] = value;
  else if (isBranch(present)) return false;
  else if (Array.isArray(present)) present.push(value);
  else branch[key] = [present, value];
  return true;
}

/**
 * D-160: reduces equal values of a repeated parameter to one. Equal values occur when a client adds its own parameters to a link that already has
 * them.
 */
const withoutRepetition = (value: unknown): unknown =>
  Array.isArray(value) && value.every((one) => typeof one === "string" && one === value[0]) ? value[0] : value;

/** Converts objects whose keys count up from 0 to lists, because PHP clients write a list as `a[0]=x&a[1]=y`. */
function withLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLists);
  if (!isBranch(value)) return value;
  let count = 0;
  let isList = true;
  for (const key in value) {
    value[key] = withLists(value[key]);
    // JavaScript iterates over an object's integer keys first and in ascending order.
    if (key !== String(count++)) isList = false;
  }
  return isList ? Object.values(value) : value;
}
