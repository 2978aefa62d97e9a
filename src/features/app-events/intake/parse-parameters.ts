/** The value of one parameter of an event (EVT-37 to EVT-51, D-70, D-76). */
import { JsonNumber } from "#graph/pipeline/request";
import { codePointCount, isStorableText } from "#kernel/text";
import { LIST_ITEMS_MAX, VALUE_CHARACTERS_MAX } from "../app-events.limits.ts";
import { currencies } from "../currencies.contract.ts";
import { contentTypes, type ParameterForm, standardParameters } from "../standard-events.contract.ts";
import { readAmount } from "./amounts.ts";

/** What is wrong with a value: the end of a sentence that begins with the parameter's name. */
type Problem = string | undefined;

const forms: ReadonlyMap<string, ParameterForm> = new Map(Object.entries(standardParameters));

/** Returns the problem of a value that is neither undefined nor null. */
export function parameterProblem(name: string, value: unknown): Problem {
  const form = forms.get(name);
  if (form === undefined) return valueProblem(value);
  switch (form) {
    case "integer":
      return integerProblem(value);
    case "boolean":
      // EVT-48, EVT-51.
      return FLAGS.has(typeof value === "string" ? value.toLowerCase() : value) ? undefined : "must be 1 or 0";
    default:
      return typeof value === "string" ? formProblem(form, value) : "must be a string";
  }
}

/** D-70: also JSON's booleans, and their names in any case. */
const FLAGS: ReadonlySet<unknown> = new Set([1, 0, "1", "0", true, false, "true", "false"]);

export function textProblem(text: string): Problem {
  // A text has at most as many code points as UTF-16 units, so most texts need no count.
  if (text.length > VALUE_CHARACTERS_MAX && codePointCount(text) > VALUE_CHARACTERS_MAX)
    return `must have at most ${VALUE_CHARACTERS_MAX} characters`;
  return storableProblem(text);
}

const storableProblem = (text: string): Problem => (isStorableText(text) ? undefined : "contains U+0000 or a lone surrogate");

function integerProblem(value: unknown): Problem {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && number < 0) return "must not be negative";
  return typeof number === "number" && Number.isSafeInteger(number) ? undefined : "must be an integer";
}

function formProblem(form: Exclude<ParameterForm, "integer" | "boolean">, text: string): Problem {
  switch (form) {
    case "string":
      return textProblem(text);
    case "currency":
      return currencies.has(text) ? undefined : "must be an ISO 4217 code such as EUR";
    case "content type":
      return (contentTypes as readonly string[]).includes(text) ? undefined : `must be one of ${contentTypes.join(", ")}`;
    case "content ids":
      return contentIdsProblem(text);
    case "content list":
      return contentListProblem(text);
  }
}

/** EVT-38: one id, or several ids as a JSON list of strings. */
function contentIdsProblem(text: string): Problem {
  if (!text.trimStart().startsWith("[")) return textProblem(text);
  const list = parsed(text);
  if (!Array.isArray(list)) return "must be one id or a JSON list of strings";
  return listProblem(text, list, (id) => problemAt("", idProblem(id)));
}

/** EVT-39, EVT-40: objects with `id`, `quantity` and optional prices. */
function contentListProblem(text: string): Problem {
  const list = parsed(text);
  return Array.isArray(list) ? listProblem(text, list, contentProblem) : "must be a JSON list of objects";
}

/** D-70: a list has a limit of its own, so its text may be longer than other values. `itemProblem` returns what `problemAt` does. */
function listProblem(text: string, list: readonly unknown[], itemProblem: (item: unknown) => Problem): Problem {
  if (list.length > LIST_ITEMS_MAX) return `must have at most ${LIST_ITEMS_MAX} items`;
  for (const [index, item] of list.entries()) {
    const problem = itemProblem(item);
    if (problem !== undefined) return `is wrong: [${index}]${problem}`;
  }
  return storableProblem(text);
}

function contentProblem(item: unknown): Problem {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return problemAt("", "must be an object");
  const { id, quantity, ...others } = item as Record<string, unknown>;
  const problem = problemAt(".id", typeof id === "number" ? undefined : idProblem(id)) ?? problemAt(".quantity", quantityProblem(quantity));
  if (problem !== undefined) return problem;
  for (const [key, value] of Object.entries(others)) {
    const ofKey = textProblem(key);
    if (ofKey !== undefined) return problemAt("", `has a key that ${ofKey}`);
    const ofValue = problemAt(`.${key}`, PRICES.has(key) ? priceProblem(value) : valueProblem(value));
    if (ofValue !== undefined) return ofValue;
  }
  return undefined;
}

const problemAt = (where: string, problem: Problem): Problem => (problem === undefined ? undefined : `${where} ${problem}`);

function idProblem(id: unknown): Problem {
  if (id === undefined || id === null) return "is required";
  if (typeof id !== "string") return "must be a string";
  return id === "" ? "must not be empty" : textProblem(id);
}

const quantityProblem = (quantity: unknown): Problem => (quantity === undefined || quantity === null ? "is required" : integerProblem(quantity));

function priceProblem(price: unknown): Problem {
  const amount = readAmount(String(price));
  return typeof amount === "string" ? amount : undefined;
}

/** The document says "prices" without naming them; clients use these names. */
const PRICES: ReadonlySet<string> = new Set(["price", "item_price"]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** D-76: unknown parameters are kept: text, numbers, flags, and any JSON whose text fits the limit of a value. */
function valueProblem(value: unknown): Problem {
  if (typeof value === "string") return textProblem(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof JsonNumber) return textProblem(value.text);
  const text = JSON.stringify(value);
  // JSON.stringify writes U+0000 and lone surrogates as escapes.
  return textProblem(text) ?? (/\\u(?:0000|d[89a-f])/i.test(text) ? "contains U+0000 or a lone surrogate" : undefined);
}
