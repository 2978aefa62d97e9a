/**
 * Fills in `{{name}}` in a case. The name is a variable, or a function with arguments after colons (`{{sha256:text}}`). The innermost braces of
 * a text are filled in first, so an argument of a function may be a variable: `{{hmac_sha256:s3cret:{{token}}}}`.
 */
import { createHash, createHmac } from "node:crypto";

/** Variables and functions by their names. A function is called each time that a case uses its name. */
export type Names = Map<string, unknown>;

let lastId = 0;

/** Returns a node id that nothing else uses: the microseconds since 1970, which always grow and are below 2^53. */
export function freshId(): string {
  lastId = Math.max(Date.now() * 1000, lastId + 1);
  return String(lastId);
}

/** Returns a short word that nothing else uses, for the names of labels and personas. */
export const uniqueWord = (id = freshId()): string => BigInt(id).toString(36);

const functions: Readonly<Record<string, (first: string, second: string) => string>> = {
  fresh_id: freshId,
  sha256: (text) => createHash("sha256").update(text).digest("hex"),
  hmac_sha256: (key, text) => createHmac("sha256", key).update(text).digest("hex"),
  repeat: (count, text) => text.repeat(Number(count)),
  nested_json: (depth, text) => `${'{"a":'.repeat(Number(depth))}${text}${"}".repeat(Number(depth))}`,
  parameters: (count, text) => Array.from({ length: Number(count) }, (_, i) => `${text}${i}=1`).join("&"),
  batch_of: (count, path) => JSON.stringify(Array.from({ length: Number(count) }, () => ({ method: "GET", relative_url: path }))),
  labels_of: (count, page) => JSON.stringify(Array.from({ length: Number(count) }, (_, i) => ({ id: freshId(), page, name: `label ${i + 1}` }))),
  percent_encoded: (text) => encodeURIComponent(text),
  base64: (text) => Buffer.from(text).toString("base64"),
};

const INNERMOST = /\{\{([^{}]*)\}\}/;

/**
 * Copies `value` and fills in every `{{…}}`. If a text consists only of `{{name}}`, the result is the variable's value, which may also be a
 * number or an object.
 */
export function fill(value: unknown, names: Names): unknown {
  if (typeof value === "string") return fillText(value, names);
  if (Array.isArray(value)) return value.map((item) => fill(item, names));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [String(fillText(key, names)), fill(item, names)]));
  }
  return value;
}

function fillText(text: string, names: Names): unknown {
  const whole = /^\{\{([^{}:]*)\}\}$/.exec(text);
  if (whole?.[1] !== undefined && names.has(whole[1])) return held(names.get(whole[1]));
  let filled = text;
  for (let found = INNERMOST.exec(filled); found !== null; found = INNERMOST.exec(filled)) {
    const at = found.index;
    filled = filled.slice(0, at) + valueNamed(found[1] ?? "", names) + filled.slice(at + found[0].length);
  }
  return filled;
}

const held = (value: unknown): unknown => (typeof value === "function" ? value() : value);

function valueNamed(expression: string, names: Names): string {
  if (names.has(expression)) {
    const value = held(names.get(expression));
    return typeof value === "string" ? value : JSON.stringify(value);
  }
  const [name = "", first = "", ...others] = expression.split(":");
  const compute = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (compute === undefined) throw new Error(`{{${expression}}} is neither a saved name nor a function (${Object.keys(functions).join(", ")})`);
  return compute(first, others.join(":"));
}
