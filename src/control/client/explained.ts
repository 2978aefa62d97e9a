/** Explains the response to a graph request. */
import { timeText } from "#kernel/clock";
import type { ControlRequests } from "./requests.ts";

interface Credential {
  readonly place: string;
  readonly type?: string;
  readonly token?: string;
  readonly app?: string;
  readonly refusal?: string;
}

interface Story {
  readonly steps: readonly { readonly name: string }[];
  readonly credentials: readonly Credential[];
  readonly node?: { readonly id: string; readonly type: string };
  readonly version: { readonly asked?: string; readonly served?: string; readonly upgraded_from?: string };
  readonly policy?: { readonly name: string; readonly summary: string; readonly kinds: readonly string[]; readonly scopes: readonly string[] };
  readonly is_concealed?: boolean;
  readonly parameters?: string;
  readonly error?: string;
  readonly fault?: string;
  readonly deliveries: readonly string[];
  readonly parts?: readonly Pick<Recorded, "operation" | "method" | "path" | "status" | "reason">[];
  readonly parts_left_out?: number;
}

export interface Recorded {
  readonly trace_id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly status: number;
  readonly time: number;
  readonly response_body: string;
  readonly reason?: string;
  readonly story?: Story;
}

/** The error in a response of the graph. The graph has two forms of error responses, so the error may have either form. */
interface GraphErrorBody {
  readonly message?: string;
  readonly pftrace_id?: string;
  readonly error_data?: { readonly parameter?: string };
}

/** Reads the error in a body; returns undefined if the body has no readable error, e.g. because the body was cut. */
function errorIn(body: string): GraphErrorBody | undefined {
  try {
    const found = JSON.parse(body) as { error?: GraphErrorBody } & GraphErrorBody;
    return found.error ?? (found.message === undefined ? undefined : found);
  } catch {
    return undefined;
  }
}

/** Explains an error response of the graph, given its body. Returns an empty list if the server has no record of the request. */
export async function explainedRefusal(control: ControlRequests, body: string): Promise<string[]> {
  const trace = errorIn(body)?.pftrace_id;
  const found = trace === undefined ? undefined : await control.request("GET", `requests/${encodeURIComponent(trace)}`).catch(() => undefined);
  return found === undefined ? [] : explained(control, found);
}

/** Describes a recorded request, with a line for each fact. */
export async function explained(
  control: ControlRequests,
  { method, path, status, operation, time, response_body, reason, story }: Recorded,
): Promise<string[]> {
  const error = status < 400 ? undefined : errorIn(response_body);
  const line = (name: string, text: string | undefined): string[] => (text === undefined || text === "" ? [] : [`${name.padEnd(11)} ${text}`]);
  return [
    `${method} ${path} ${status}`,
    ...(reason === undefined ? [] : [reason]),
    ...line("operation", operation),
    ...line("time", timeText(time)),
    ...line("refused", error?.message),
    ...line("parameter", error?.error_data?.parameter),
    ...line("cause", story?.error === undefined ? undefined : await causeOf(control, story.error)),
    ...(story === undefined ? [] : linesOfStory(story, line)),
  ];
}

async function causeOf(control: ControlRequests, error: string): Promise<string> {
  const { data } = (await control.request("GET", "/v1/errors")) as { data: { name: string; when: string }[] };
  const when = data.find(({ name }) => name === error)?.when;
  return when === undefined ? error : `${error}: ${when}`;
}

function linesOfStory(story: Story, line: (name: string, text: string | undefined) => string[]): string[] {
  const { credentials, policy, node, version, is_concealed, steps, deliveries, parts = [], parts_left_out } = story;
  const last = steps.at(-1)?.name;
  return [
    ...(credentials.length === 0
      ? line("token", "no token was sent")
      : Map.groupBy(credentials, credentialText)
          .entries()
          .toArray()
          .flatMap(([text, alike]) => line("token", `in ${alike.map(({ place }) => place).join(", ")}: ${text}`))),
    ...line("allowed to", policy === undefined ? undefined : `${policy.summary} (${policy.kinds.join(", ")} tokens${scopesText(policy.scopes)})`),
    ...line(
      "node",
      node === undefined ? undefined : `${node.type} ${node.id}${is_concealed === true ? ", whose existence is hidden from the caller" : ""}`,
    ),
    ...line("version", versionText(version)),
    ...line("parameters", story.parameters === "{}" ? undefined : story.parameters),
    ...line("fault", story.fault),
    ...line("ended in", story.error === undefined ? undefined : last),
    ...line("webhooks", deliveries.join(", ")),
    ...parts.flatMap(({ method, path, status, operation, reason }) =>
      line("request", `${method} ${path} ${status} ${operation}${reason === undefined ? "" : `: ${reason}`}`),
    ),
    ...line("request", parts_left_out === undefined ? undefined : `and ${parts_left_out} more`),
  ];
}

const credentialText = ({ type, token, app, refusal }: Credential): string =>
  `${type === undefined ? "unknown" : `${type === "app" ? "an" : "a"} ${type} token`}${token === undefined ? "" : ` (${token})`}${app === undefined ? "" : ` of app ${app}`}${refusal === undefined ? "" : `, refused: ${refusal}`}`;

const scopesText = (scopes: readonly string[]): string => (scopes.length === 0 ? "" : ` with ${scopes.join(", ")}`);

const versionText = ({ asked, served, upgraded_from }: Story["version"]): string | undefined =>
  served === undefined
    ? undefined
    : `${served}${asked === undefined ? ", the app's default" : ""}${upgraded_from === undefined ? "" : `, upgraded from ${upgraded_from}`}`;
