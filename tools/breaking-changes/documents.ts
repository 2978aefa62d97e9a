/** What of a document's change breaks those who rely on the document before it. */
import { type Direction, referred, type Schema, schemaBreaks } from "./schemas.ts";

type Dictionary = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const METHODS = ["get", "post", "put", "patch", "delete"];

export function openapiBreaks(before: Dictionary, after: Dictionary): string[] {
  const [paths, kept] = [before.paths, after.paths] as [Record<string, Dictionary>, Record<string, Dictionary>];
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).flatMap((method) => {
      const place = `${method.toUpperCase()} ${path}`;
      const now = kept[path]?.[method] as Dictionary | undefined;
      return now === undefined ? [`${place}: is gone`] : operationBreaks(new Pair(before, after, place), item[method] as Dictionary, now);
    }),
  );
}

/** Two documents, and the place of both that is compared. */
class Pair {
  constructor(
    readonly before: object,
    readonly after: object,
    readonly place: string,
  ) {}

  schemas(old: unknown, now: unknown, direction: Direction, place: string): string[] {
    const [from, to] = [
      { document: this.before, schema: old as Schema },
      { document: this.after, schema: now as Schema },
    ];
    return schemaBreaks(from, to, direction, `${this.place}: ${place}`);
  }
}

function operationBreaks(pair: Pair, old: Dictionary, now: Dictionary): string[] {
  const { place } = pair;
  const breaks = old.operationId === now.operationId ? [] : [`${place}: was called ${old.operationId} and is called ${now.operationId}`];
  breaks.push(...securityBreaks(place, (old.security ?? []) as object[], (now.security ?? []) as object[]), ...parameterBreaks(pair, old, now));
  const [body, nowBody] = [old.requestBody, now.requestBody] as [Dictionary | undefined, Dictionary | undefined];
  if (body !== undefined && nowBody === undefined) breaks.push(`${place}: takes no body any more`);
  if (nowBody?.required === true && body?.required !== true) breaks.push(`${place}: needs a body now`);
  if (body !== undefined && nowBody !== undefined) {
    const types = Object.keys(nowBody.content ?? {});
    breaks.push(...lostOf(Object.keys(body.content ?? {}), types).map((type) => `${place}: body: ${type} is no longer taken`));
    const [schema, nowSchema] = [jsonOf(body), jsonOf(nowBody)];
    if (schema !== undefined && nowSchema !== undefined) breaks.push(...pair.schemas(schema, nowSchema, "request", "body"));
  }
  breaks.push(...lostOf(serversOf(pair.before, old), serversOf(pair.after, now)).map((url) => `${place}: is gone from ${url}`));
  const [responses, nowResponses] = [old.responses, now.responses] as Record<string, Dictionary>[];
  for (const [status, response] of Object.entries(responses ?? {})) {
    const [schema, nowSchema] = [jsonOf(response), jsonOf(nowResponses?.[status] ?? {})];
    // An error that does not come any more breaks nobody.
    if (schema !== undefined && nowSchema === undefined && status.startsWith("2")) breaks.push(`${place}: response ${status} is gone`);
    if (schema !== undefined && nowSchema !== undefined) breaks.push(...pair.schemas(schema, nowSchema, "response", `response ${status}`));
  }
  return breaks;
}

const lostOf = (was: readonly string[], is: readonly string[]): string[] => was.filter((one) => !is.includes(one));

/** The addresses that have the operation: its own, or those of the whole document. */
function serversOf(document: object, { servers }: Dictionary): string[] {
  const own = (servers ?? (document as Dictionary).servers ?? []) as { readonly url: string }[];
  return own.map(({ url }) => url);
}

const jsonOf = ({ content }: Dictionary): unknown => (content as Record<string, Dictionary> | undefined)?.["application/json"]?.schema;

/** Each way to bring tokens must still be enough. */
function securityBreaks(place: string, old: readonly object[], now: readonly object[]): string[] {
  const isEnough = (way: object): boolean => now.some((other) => Object.keys(other).every((name) => Object.hasOwn(way, name)));
  return old.filter((way) => !isEnough(way)).map((way) => `${place}: tokens in ${Object.keys(way).join(", ") || "no place"} are not enough any more`);
}

function parameterBreaks(pair: Pair, old: Dictionary, now: Dictionary): string[] {
  const [was, is] = [parametersOf(pair.before, old), parametersOf(pair.after, now)];
  const breaks = [...is].filter(([key, { required }]) => required === true && was.get(key)?.required !== true);
  return [
    ...breaks.map(([key]) => `${pair.place}: ${key} is required now`),
    ...[...was].flatMap(([key, parameter]) => {
      const kept = is.get(key);
      return kept === undefined ? [`${pair.place}: ${key} is gone`] : pair.schemas(parameter.schema, kept.schema, "request", key);
    }),
  ];
}

/** By place and name. */
function parametersOf(document: object, { parameters = [] }: Dictionary): Map<string, Parameter> {
  const all = (parameters as (Parameter & { $ref?: string })[]).map((one) =>
    one.$ref === undefined ? one : (referred(document, one.$ref) as Parameter),
  );
  return new Map(all.map((one) => [`${one.in} ${one.name}`, one]));
}

export function asyncapiBreaks(before: Dictionary, after: Dictionary): string[] {
  const [messages, kept] = [messagesOf(before), messagesOf(after)];
  const gone = messages.filter(({ object, field }) => !kept.some((one) => one.object === object && one.field === field));
  const schemas = ({ components }: Dictionary) => (components as { schemas: Record<string, Schema> }).schemas;
  const pair = new Pair(before, after, "webhooks");
  const changed = Object.entries(schemas(before)).flatMap(([name, schema]) => {
    const now = schemas(after)[name];
    return now === undefined ? [] : pair.schemas(schema, now, "response", name);
  });
  return [...gone.map(({ object, field }) => `webhooks: the field ${field} of ${object} is gone`), ...changed];
}

/** Each field has one example. */
function messagesOf({ components }: Dictionary): { object: string; field: string }[] {
  const { messages } = components as { messages: Record<string, { examples: { name: string; payload: { object: string } }[] }> };
  return Object.values(messages).flatMap(({ examples }) => examples.map(({ name, payload }) => ({ object: payload.object, field: name })));
}
