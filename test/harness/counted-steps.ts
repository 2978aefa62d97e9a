/**
 * Counts work instead of time: each call of a built-in function that looks through a text, a list, bytes or a map counts with the length that the
 * call looks at. The same work has the same count on every machine. A loop without such a call is not counted.
 */
import type { Database, Reader, Transaction } from "#storage/database";
import type { Sql } from "#storage/sql";

const STATEMENTS: ReadonlySet<string | symbol> = new Set(["all", "get", "run", "runOne"]);

/** Counts each statement, each of its values, and each row that it reads or writes. `add` gets the steps and the text of each statement. */
export function countStatements(database: Database, add: (steps: number, text: string) => void): void {
  const counted = <T extends Reader>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const member: unknown = Reflect.get(of, name);
        if (typeof member !== "function") return member;
        if (!STATEMENTS.has(name)) return member.bind(of);
        return async (statement: Sql) => {
          const result = await member.call(of, statement);
          add(1 + statement.values.length + (Array.isArray(result) ? result.length : Number(result ?? 0) || 1), statement.query.text);
          return result;
        };
      },
    });
  const write = database.write.bind(database);
  database.write = <T>(body: (tx: Transaction) => Promise<T>) => write((tx) => body(counted(tx)));
  const { reader } = database;
  Object.assign(reader, {
    all: counted({ ...reader, all: reader.all.bind(reader) }).all,
    get: counted({ ...reader, get: reader.get.bind(reader) }).get,
  });
}

interface Counted {
  readonly of: object;
  readonly name: PropertyKey;
  readonly original: PropertyDescriptor;
}

type Length = (self: { readonly length: number }, result: unknown, args: readonly unknown[]) => number;

/** The number of characters or bytes that count as one step: a native function compares or copies them in the time of a call. */
const PER_STEP = 32;

const lengthOf: Length = (self) => self.length;
const copied: Length = (_, result) => (result as { readonly length?: number } | null)?.length ?? 0;
/** The number of items that a search looked at until it found the index `result`. */
const searched: Length = (self, result, [, from]) => Math.max(0, (result === -1 ? self.length : Number(result)) - (Number(from) || 0));
const none: Length = () => 0;
const argument: Length = (_self, _result, [given]) => (given as { readonly length?: number } | null)?.length ?? 0;

const texts: Readonly<Record<string, Length>> = {
  ...{ charCodeAt: none, codePointAt: none, at: none, startsWith: none, endsWith: none },
  ...{ indexOf: searched, lastIndexOf: none, includes: lengthOf, search: lengthOf, match: lengthOf, split: lengthOf },
  ...{ replace: lengthOf, replaceAll: lengthOf, trim: lengthOf, trimStart: none, trimEnd: none, normalize: lengthOf },
  ...{
    toLowerCase: lengthOf,
    toUpperCase: lengthOf,
    repeat: copied,
    padEnd: copied,
    padStart: copied,
    isWellFormed: lengthOf,
    toWellFormed: lengthOf,
  },
  ...{ slice: none, substring: none, localeCompare: none },
};
const lists: Readonly<Record<string, Length>> = {
  ...{ push: none, pop: none, at: none, shift: lengthOf, unshift: lengthOf, splice: lengthOf, slice: copied, concat: copied, join: lengthOf },
  ...{ indexOf: searched, lastIndexOf: lengthOf, findIndex: searched, reverse: lengthOf, fill: lengthOf, with: lengthOf },
};
/** Functions that call a function for each item; each item counts as one step. */
const perItem = ["map", "filter", "forEach", "find", "some", "every", "reduce", "flatMap", "sort", "toSorted", "flat", "includes"] as const;
const bytes: Readonly<Record<string, Length>> = {
  ...{ subarray: none, slice: copied, indexOf: searched, includes: lengthOf, set: argument, fill: lengthOf, toString: copied, equals: none },
  ...{ latin1Slice: none, utf8Slice: none, copy: lengthOf },
};

export class StepCounter {
  #steps = 0;
  readonly #counted: Counted[] = [];

  /** Counts all work in the process until `stop` is called. */
  start(): void {
    this.#wrapAll(String.prototype, texts);
    this.#wrapAll(Array.prototype, lists);
    for (const name of perItem) this.#wrap(Array.prototype, name, (self) => self.length * PER_STEP);
    this.#wrapAll(Uint8Array.prototype, bytes);
    this.#wrapAll(Buffer.prototype, bytes);
    for (const map of [Map.prototype, Set.prototype]) this.#wrapAll(map, { get: none, set: none, add: none, has: none, delete: none });
    this.#wrapAll(RegExp.prototype, {
      exec: (_self, result, [text]) => (result === null ? String(text).length : copied(_self, (result as string[])[0], [])),
      test: argument,
    });
    this.#wrapAll(Object, {
      keys: (_, result) => copied(_, result, []) * PER_STEP,
      entries: (_, result) => copied(_, result, []) * PER_STEP,
      hasOwn: none,
    });
    this.#wrapAll(JSON, { parse: argument, stringify: copied });
    this.#wrapAll(Buffer, { concat: copied, from: copied });
    this.#wrapAll(TextDecoder.prototype, { decode: copied });
    this.#wrap(Array.prototype, Symbol.iterator, (self) => self.length * PER_STEP);
  }

  stop(): void {
    for (const { of, name, original } of this.#counted.splice(0).reverse()) Object.defineProperty(of, name, original);
  }

  /** Returns the number of counted steps since the previous call. */
  take(): number {
    const steps = this.#steps;
    this.#steps = 0;
    return Math.round(steps);
  }

  /** Adds steps of another type, such as rows of a database. */
  add(steps: number): void {
    this.#steps += steps;
  }

  #wrapAll(of: object, lengths: Readonly<Record<string, Length>>): void {
    for (const [name, length] of Object.entries(lengths)) this.#wrap(of, name, length);
  }

  #wrap(of: object, name: PropertyKey, length: Length): void {
    const original = Object.getOwnPropertyDescriptor(of, name);
    const call = original?.value as ((...args: unknown[]) => unknown) | undefined;
    if (original === undefined || call === undefined) return;
    const apply = Reflect.apply;
    const count = (self: unknown, result: unknown, args: readonly unknown[]): void => {
      this.#steps += 1 + length(self as { length: number }, result, args) / PER_STEP;
    };
    Object.defineProperty(of, name, {
      ...original,
      value: function counted(this: unknown, ...args: unknown[]): unknown {
        const result = apply(call, this, args);
        count(this, result, args);
        return result;
      },
    });
    this.#counted.push({ of, name, original });
  }
}
