import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { operationsQuery } from "../../api/queries.ts";
import { act, say } from "../../parts/notices.tsx";
import { Block, problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

/** What a fault does to requests, with what it needs of a number. */
const EFFECTS = {
  status: { name: "returns an error with the status", of: "request", unit: "400 to 599", value: "503" },
  latency_ms: { name: "comes late by", of: "request", unit: "ms", value: "500" },
  cut_body_at: { name: "breaks off after", of: "request", unit: "bytes", value: "20" },
  body_bytes_per_second: { name: "drips with", of: "request", unit: "bytes a second", value: "100" },
  rate_app: { name: "says that the app's requests are used up", of: "request", unit: undefined, value: "" },
  rate_page: { name: "says that the page's requests are used up", of: "request", unit: undefined, value: "" },
  reset: { name: "resets the connection", of: "request", unit: undefined, value: "" },
  lose: { name: "is lost", of: "webhook", unit: undefined, value: "" },
  repeat: { name: "is sent twice", of: "webhook", unit: undefined, value: "" },
  reorder: { name: "is sent after later ones", of: "webhook", unit: undefined, value: "" },
} as const;
type Effect = keyof typeof EFFECTS;

function effectOf(effect: Effect, value: number): object {
  if (effect === "rate_app" || effect === "rate_page") return { rate_limit: effect.slice("rate_".length) };
  if (effect === "reset") return { reset: true };
  return EFFECTS[effect].of === "webhook" ? { effect } : { [effect]: value };
}

export function Faults() {
  const w = useWorld();
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: ["faults", w], queryFn: () => dataOf(api.GET("/v1/worlds/{w}/faults", { params: { path: { w } } })) });
  const clear = () =>
    act("Nothing fails on purpose any more", async () => {
      await dataOf(api.DELETE("/v1/worlds/{w}/faults", { params: { path: { w } } }));
      await client.invalidateQueries({ queryKey: ["faults", w] });
    });
  const faults = data?.data ?? [];
  return (
    <div className="scroll">
      <Block isOwn title="Make something fail">
        <NewFault />
      </Block>
      <Block isOwn title="In effect">
        {faults.length === 0 ? (
          <p className="quiet">Nothing fails on purpose.</p>
        ) : (
          <>
            <ul>
              {faults.map(({ id, met, ...fault }) => (
                <li key={id}>
                  <span className="mono">{JSON.stringify(fault)}</span>, applied {met} times
                </li>
              ))}
            </ul>
            <button type="button" className="danger" onClick={() => void clear()}>
              Delete all
            </button>
          </>
        )}
      </Block>
    </div>
  );
}

function NewFault() {
  const w = useWorld();
  const client = useQueryClient();
  const operations = useQuery(operationsQuery(w)).data?.data ?? [];
  const [effect, setEffect] = useState<Effect>("status");
  const [problem, setProblem] = useState<string>();
  const { of, unit, value } = EFFECTS[effect];
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const times = String(given.get("times") ?? "").trim();
    const body = {
      ...(of === "request" ? { operation: String(given.get("what")) } : { webhook: String(given.get("what")) }),
      ...effectOf(effect, Number(given.get("value") ?? 0)),
      ...(times === "" ? {} : { times: Number(times) }),
    };
    try {
      await dataOf(api.POST("/v1/worlds/{w}/faults", { params: { path: { w } }, body }));
      setProblem(undefined);
      say("The first that matches fails");
      await client.invalidateQueries({ queryKey: ["faults", w] });
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="actions" onSubmit={(event) => void make(event)}>
      <label>
        {of === "request" ? "A request of " : "A webhook of "}
        {of === "request" ? (
          <select name="what" defaultValue="*">
            <option value="*">any operation</option>
            {operations.map(({ operation }) => (
              <option key={operation}>{operation}</option>
            ))}
          </select>
        ) : (
          <input name="what" aria-label="Webhook field, or * for all" defaultValue="*" required />
        )}
      </label>
      <select aria-label="Effect" value={effect} onChange={({ target }) => setEffect(target.value as Effect)}>
        {Object.entries(EFFECTS).map(([key, { name, of: about }]) => (
          <option key={key} value={key}>
            {about}: {name}
          </option>
        ))}
      </select>
      {unit !== undefined && (
        <label>
          <input name="value" type="number" key={effect} defaultValue={value} required /> {unit}
        </label>
      )}
      <label>
        Times, always when empty <input name="times" type="number" min={1} defaultValue="1" />
      </label>
      <button type="submit" className="primary">
        Make
      </button>
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
    </form>
  );
}
