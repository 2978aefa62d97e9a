/** The value of one parameter of an event (EVT-37 to EVT-51, D-70, D-76). */
import { JsonNumber } from "#graph/pipeline/request";
import { codePointCount, isStorableText } from "#kernel/text";
import { VALUE_CHARACTERS_MAX } from "../app-events.limits.ts";
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
      return value === 1 || value === 0 || value === "1" || value === "0" ? undefined : "must be 1 or 0";
    default:
      if (typeof value !== "string") return "must be a string";
      return textProblem(value) ?? formProblem(form, value);
  }
}

export function textProblem(text: string): Problem {
  // A text has at most as many code points as UTF-16 units, so most texts need no count.
  if (text.length > VALUE_CHARACTERS_MAX && codePointCount(text) > VALUE_CHARACTERS_MAX)
    return `must have at most ${VALUE_CHARACTERS_MAX} characters`;
  return isStorableText(text) ? undefined : "contains U+0000 or a lone surrogate";
}

function integerProblem(value: unknown): Problem {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? undefined : "must be an integer";
}

function formProblem(form: Exclude<ParameterForm, "integer" | "boolean">, text: string): Problem {
  switch (form) {
    case "string":
      return undefined;
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
  if (!text.trimStart().startsWith("[")) return undefined;
  const list = parsed(text);
  return Array.isArray(list) && list.every((id) => typeof id === "string" && id !== "") ? undefined : "must be one id or a JSON list of strings";
}

/** EVT-39, EVT-40: objects with `id`, `quantity` and optional prices. */
function contentListProblem(text: string): Problem {
  const list = parsed(text);
  if (!Array.isArray(list)) return "must be a JSON list of objects";
  for (const [index, item] of list.entries()) {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return `must be a JSON list of objects, but [${index}] is not an object`;
    const { id, quantity } = item as Record<string, unknown>;
    if (!isId(id)) return `has no id in [${index}]`;
    if (!isQuantity(quantity)) return `has no integer quantity in [${index}]`;
    for (const key of PRICES) {
      const price = (item as Record<string, unknown>)[key];
      if (price !== undefined && typeof readAmount(String(price)) === "string") return `has a ${key} in [${index}] that is not a number`;
    }
  }
  return undefined;
}

const isId = (id: unknown): boolean => (typeof id === "string" && id !== "") || typeof id === "number";
const isQuantity = (quantity: unknown): boolean => integerProblem(quantity) === undefined;
/** The document says "prices" without naming them; clients use these names. */
const PRICES = ["price", "item_price"] as const;

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
  if (typeof value !== "object") return undefined;
  if (value instanceof JsonNumber) return textProblem(value.text);
  const text = JSON.stringify(value);
  // JSON.stringify writes U+0000 and lone surrogates as escapes.
  return textProblem(text) ?? (/\\u(?:0000|d[89a-f])/i.test(text) ? "contains U+0000 or a lone surrogate" : undefined);
}
