import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { operationsQuery } from "../../api/queries.ts";
import { say } from "../../parts/notices.tsx";
import { problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useFields } from "../webhooks/fields.ts";

interface Value {
  readonly name: string;
  readonly label: string;
  readonly given?: string;
  readonly kind: "number" | "text" | "long";
  readonly isNeeded?: boolean;
}

interface Effect {
  readonly name: string;
  readonly of: "request" | "webhook";
  readonly is?: object;
  readonly values?: readonly Value[];
}

/** The effects of faults, with the fields of each. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  status: {
    name: "returns an error",
    of: "request",
    values: [
      { name: "status", label: "Status, 400 to 599", given: "503", kind: "number", isNeeded: true },
      { name: "code", label: "Error code (default: 2)", kind: "number" },
    ],
  },
  late: { name: "is delayed", of: "request", values: [{ name: "latency_ms", label: "Milliseconds", given: "500", kind: "number", isNeeded: true }] },
  rate_app: { name: "reports that the app's rate limit is reached", of: "request", is: { rate_limit: "app" }, values: [retryAfter()] },
  rate_page: { name: "reports that the page's rate limit is reached", of: "request", is: { rate_limit: "page" }, values: [retryAfter()] },
  body: {
    name: "has another body",
    of: "request",
    values: [
      { name: "body", label: "Body", given: "<html>502 Bad Gateway</html>", kind: "long", isNeeded: true },
      { name: "content_type", label: "Content type (default: unchanged)", kind: "text" },
    ],
  },
  cut: {
    name: "is cut off",
    of: "request",
    values: [{ name: "cut_body_at", label: "Bytes before the end", given: "20", kind: "number", isNeeded: true }],
  },
  slow: {
    name: "is sent slowly",
    of: "request",
    values: [{ name: "body_bytes_per_second", label: "Bytes a second", given: "100", kind: "number", isNeeded: true }],
  },
  reset: { name: "loses its connection", of: "request", is: { reset: true } },
  lose: { name: "is lost", of: "webhook", is: { effect: "lose" } },
  repeat: { name: "is sent twice", of: "webhook", is: { effect: "repeat" } },
  reorder: { name: "arrives after later ones", of: "webhook", is: { effect: "reorder" } },
};

function retryAfter(): Value {
  return { name: "retry_after_seconds", label: "Seconds (default: 60)", kind: "number" };
}

/** Parses the parameters of a query as it is written in an address, such as `limit=1&after=x`. */
const queryIn = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

/** The body of the request from the filled-in fields. Empty fields of the form are left out. */
function bodyOf({ of, is = {}, values = [] }: Effect, given: FormData): object {
  const text = (name: string): string => String(given.get(name) ?? "").trim();
  const optional = (name: string, value: unknown = text(name)): object => (text(name) === "" ? {} : { [name]: value });
  return {
    [of === "request" ? "operation" : "webhook"]: text("what"),
    ...is,
    ...Object.assign({}, ...values.map(({ name, kind }) => optional(name, kind === "number" ? Number(text(name)) : text(name)))),
    ...optional("node"),
    ...optional("query", queryIn(text("query"))),
    ...optional("token"),
    ...optional("times", Number(text("times"))),
    ...(text("share") === "" ? {} : { probability: Number(text("share")) / 100 }),
  };
}

export function NewFault() {
  const w = useWorld();
  const client = useQueryClient();
  const [chosen, choose] = useState("status");
  const [problem, setProblem] = useState<string>();
  const effect = EFFECTS[chosen];
  if (effect === undefined) return null;
  const { of, values = [] } = effect;
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const body = bodyOf(effect, new FormData(event.currentTarget));
    try {
      await dataOf(api.POST("/v1/worlds/{w}/faults", { params: { path: { w } }, body }));
      setProblem(undefined);
      say("Created: the fault affects the next match");
      await client.invalidateQueries({ queryKey: ["faults", w] });
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="columns" onSubmit={(event) => void make(event)}>
      <label className="field">
        Effect
        <select value={chosen} onChange={({ target }) => choose(target.value)}>
          {Object.entries(EFFECTS).map(([key, { name, of: about }]) => (
            <option key={key} value={key}>
              a {about} {name}
            </option>
          ))}
        </select>
      </label>
      {of === "request" ? <OfRequests key="request" /> : <OfWebhooks key="webhook" />}
      {values.map(({ name, label, given, kind, isNeeded = false }) => (
        <label className="field" key={`${chosen} ${name}`}>
          {label}
          {kind === "long" ? (
            <textarea name={name} rows={2} className="mono" defaultValue={given} required={isNeeded} />
          ) : (
            <input name={name} type={kind} defaultValue={given} required={isNeeded} />
          )}
        </label>
      ))}
      <label className="field">
        Number of times (empty: always)
        <input name="times" type="number" min={1} defaultValue="1" />
      </label>
      <Narrowed of={of} />
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary">
          Create
        </button>
      </div>
    </form>
  );
}

/** Fields that narrow the requests or webhooks that the fault affects. */
function Narrowed({ of }: Pick<Effect, "of">) {
  return (
    <details>
      <summary>Conditions</summary>
      <div className="columns">
        <Narrow name="node" label={of === "request" ? "Id of the node" : "Id of the page or account"} />
        {of === "request" && (
          <>
            <Narrow name="query" label="Parameters, as in an address: limit=1&after=x" />
            <Narrow name="token" label="Value of the token" />
          </>
        )}
        <label className="field">
          Probability in %
          <input name="share" type="number" min={0} max={100} />
        </label>
      </div>
    </details>
  );
}

const Narrow = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <label className="field">
    {label}
    <input name={name} autoComplete="off" />
  </label>
);

const Choice = ({ label, all, names }: { readonly label: string; readonly all: ReactNode; readonly names: readonly string[] }) => (
  <label className="field">
    {label}
    <select name="what" defaultValue="*">
      <option value="*">{all}</option>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  </label>
);

function OfRequests() {
  const operations = useQuery(operationsQuery(useWorld())).data?.data ?? [];
  return <Choice label="Operation" all="any operation" names={operations.map(({ operation }) => operation)} />;
}

function OfWebhooks() {
  const fields = useFields(useWorld()) ?? [];
  return <Choice label="Webhook field" all="any field" names={[...new Set(fields.map(({ field }) => field))].sort()} />;
}
