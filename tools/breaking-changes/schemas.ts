/** What of a schema's change breaks those who rely on it: in requests it may not take less, in responses it may not promise less. */

export type Schema = Readonly<Record<string, unknown>>;
export type Direction = "request" | "response";

/** A schema with the document that its references are of. */
export interface Placed {
  readonly document: object;
  readonly schema: Schema;
}

/** Deeper than any contract. References in a circle end there. */
const DEPTH_MAX = 12;

/** Each problem begins with `place`. */
export function schemaBreaks(before: Placed, after: Placed, direction: Direction, place: string, depth = 0): string[] {
  if (depth > DEPTH_MAX) return [];
  const [old, now] = [resolved(before), resolved(after)];
  if (old.anyOf !== undefined || now.anyOf !== undefined) return choiceBreaks(before, after, direction, place, depth);
  const isTyped = old.type !== undefined && now.type !== undefined && JSON.stringify(old.type) !== JSON.stringify(now.type);
  if (isTyped) return [`${place}: the type was ${old.type} and is ${now.type}`];
  const inside = (key: string, from: unknown, to: unknown): string[] =>
    schemaBreaks({ ...before, schema: from as Schema }, { ...after, schema: to as Schema }, direction, key, depth + 1);
  const breaks = direction === "request" ? narrowings(old, now, place) : [];
  breaks.push(...requiredBreaks(old, now, direction, place));
  const properties = (now.properties ?? {}) as Schema;
  for (const [name, property] of Object.entries((old.properties ?? {}) as Schema)) {
    if (Object.hasOwn(properties, name)) breaks.push(...inside(`${place}.${name}`, property, properties[name]));
    else breaks.push(`${place}.${name}: is gone`);
  }
  if (old.items !== undefined && now.items !== undefined) breaks.push(...inside(`${place}[]`, old.items, now.items));
  return breaks;
}

function requiredBreaks(old: Schema, now: Schema, direction: Direction, place: string): string[] {
  const [was, is] = [(old.required ?? []) as string[], (now.required ?? []) as string[]];
  if (direction === "request") return is.filter((name) => !was.includes(name)).map((name) => `${place}.${name}: is required now`);
  const kept = Object.keys((now.properties ?? {}) as object);
  return was.filter((name) => !is.includes(name) && kept.includes(name)).map((name) => `${place}.${name}: may be absent now`);
}

function narrowings(old: Schema, now: Schema, place: string): string[] {
  const breaks: string[] = [];
  for (const [word, isNarrower] of Object.entries(limits)) {
    const [was, is] = [old[word] as number | undefined, now[word] as number | undefined];
    if (is !== undefined && (was === undefined || isNarrower(was, is))) breaks.push(`${place}: ${word} was ${was ?? "open"} and is ${is}`);
  }
  const [was, is] = [valuesOf(old), valuesOf(now)];
  if (is !== undefined) {
    const lost = was === undefined ? ["values that are not listed"] : was.filter((value) => !is.includes(value));
    for (const value of lost) breaks.push(`${place}: ${value} is no longer taken`);
  }
  if (now.pattern !== undefined && now.pattern !== old.pattern)
    breaks.push(`${place}: the pattern was ${old.pattern ?? "open"} and is ${now.pattern}`);
  if (now.additionalProperties === false && old.additionalProperties !== false) breaks.push(`${place}: unknown keys are refused now`);
  return breaks;
}

const less = (was: number, is: number): boolean => is < was;
const more = (was: number, is: number): boolean => is > was;
const limits: Readonly<Record<string, (was: number, is: number) => boolean>> = {
  ...{ maxLength: less, maximum: less, maxItems: less },
  ...{ minLength: more, minimum: more, minItems: more },
};

const valuesOf = ({ enum: values, const: value }: Schema): readonly unknown[] | undefined =>
  (values as unknown[] | undefined) ?? (value === undefined ? undefined : [value]);

/** In requests each old alternative must still be taken; in responses each new one must be one that was known. */
function choiceBreaks(before: Placed, after: Placed, direction: Direction, place: string, depth: number): string[] {
  const [old, now] = [alternativesOf(before), alternativesOf(after)];
  const [given, known] = direction === "request" ? [old, now] : [now, old];
  const breaksBetween = (one: Placed, other: Placed): string[] => {
    const [from, to] = direction === "request" ? [one, other] : [other, one];
    return schemaBreaks(from, to, direction, place, depth + 1);
  };
  return given.flatMap((one) => {
    const type = one.schema["x-plaza-type"];
    const candidates = known.filter(({ schema }) => schema["x-plaza-type"] === type);
    // A node type that is new at the address changes nothing for the others.
    if (type !== undefined && candidates.length === 0) return direction === "request" ? [`${place}: is gone for ${type}`] : [];
    const attempts = candidates.map((other) => breaksBetween(one, other));
    return attempts.sort((a, b) => a.length - b.length)[0] ?? [`${place}: has another kind of value`];
  });
}

function alternativesOf({ document, schema }: Placed): Placed[] {
  const { anyOf } = resolved({ document, schema });
  if (anyOf === undefined) return [{ document, schema }];
  return (anyOf as Schema[]).map((one) => ({ document, schema: one }));
}

function resolved({ document, schema }: Placed): Schema {
  const { $ref } = schema;
  return typeof $ref === "string" ? (referred(document, $ref) as Schema) : schema;
}

/** Of a reference inside the document. Throws an ordinary `Error` where it leads nowhere. */
export function referred(document: object, reference: string): unknown {
  let value: unknown = document;
  for (const step of reference.slice("#/".length).split("/")) {
    value = (value as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  if (value === undefined) throw new Error(`${reference} leads nowhere in its document`);
  return value;
}
