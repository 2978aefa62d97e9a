/** Describes the edges, fields and versions that programs requested and that Plaza does not have (D-394). */
import type { Unserved } from "#graph/worlds/unserved";

/** A requested name that Plaza does not have, as the control API lists it. */
export type UnservedName = Omit<Unserved, "first_ms" | "last_ms">;

export interface UnservedList {
  readonly data: readonly UnservedName[];
  readonly others: number;
}

/** The greatest number of lines in a report, because a person does not read more. */
const LINES_MAX = 20;

/** Makes a line for each requested name, indented by two spaces. */
function unservedLines({ data, others }: UnservedList): string[] {
  const hidden = data.length - LINES_MAX;
  return [
    ...data.slice(0, LINES_MAX).map((one) => `  ${unservedText(one)}`),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    ...(others > 0 ? [`  and other names, which did not fit into the list: ${timesText(others)}`] : []),
  ];
}

/** Describes a requested name: how often it was requested, by which apps, and which existing name was perhaps meant. */
export function unservedText({ kind, name, method, of, did_you_mean: meant, hint, count, apps }: UnservedName): string {
  const asked = { edge: `${method} ${name}`, field: `the field ${name} of ${of}`, version: `the version ${name}` }[kind];
  const by = apps.length === 0 ? "" : `, by ${apps.length === 1 ? "app" : "the apps"} ${apps.join(", ")}`;
  return `${asked}, ${timesText(count)}${by}${meant === undefined ? "" : `; did you mean ${meant}?`}${hint === undefined ? "" : `; ${hint}`}`;
}

const timesText = (count: number): string => (count === 1 ? "once" : `${count} times`);

/** Makes the report at the end of a test run, about all worlds of its server. The report is empty if Plaza has every requested name. */
export function unservedReport(worlds: Iterable<{ list(): readonly UnservedName[]; readonly others: number }>): string[] {
  const all = [...worlds];
  const data = all.flatMap((names) => names.list()).sort((one, other) => other.count - one.count);
  if (data.length === 0) return [];
  const others = all.reduce((sum, names) => sum + names.others, 0);
  const head = `plaza: the command asked for ${data.length === 1 ? "1 thing" : `${data.length} things`} that Plaza does not have:`;
  const edge = data.find(
    ({ kind, name, hint, did_you_mean: meant }) => kind === "edge" && hint === undefined && meant === undefined && OF_A_TYPE.test(name),
  );
  const method = edge?.method === "GET" ? "" : `${edge?.method}:`;
  const advice = edge === undefined ? [] : [`plaza: to answer requests to this edge from a file, use --stub ${method}${edge.name}=FILE.json`];
  return [head, ...unservedLines({ data, others }), ...advice];
}

/** Matches the name of an edge for which a file can define a response: the node type and the edge. */
const OF_A_TYPE = /^[a-z_]+\/\w+$/;
