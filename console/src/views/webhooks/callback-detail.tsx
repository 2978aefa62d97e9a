import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, dataOf } from "../../api/client.ts";
import { Chart } from "../../parts/lazy.tsx";
import { Named } from "../../parts/named.tsx";
import { act } from "../../parts/notices.tsx";
import { Block, Facts, milliseconds, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import type { Callback } from "./callbacks.ts";
import type { Delivery } from "./deliveries.ts";
import { ReplaySpan } from "./replay-span.tsx";
import { CallbackStatus } from "./statuses.tsx";

const CHARTED = 200;

/** One callback: its latency, its failures, and the actions on it. */
export function CallbackDetail({ callback }: { readonly callback: Callback }) {
  const w = useWorld();
  const client = useQueryClient();
  const { id, url, app, status, reason, failing_since, alerted_time, paused_time, next_attempt_time } = callback;
  const { data } = useQuery({
    queryKey: ["deliveries", w, "health", id],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/deliveries", { params: { path: { w }, query: { callback: id, limit: CHARTED } } })),
  });
  const change = (done: string, path: "/v1/worlds/{w}/callbacks/{id}/pause" | "/v1/worlds/{w}/callbacks/{id}/resume") =>
    act(done, async () => {
      await dataOf(api.POST(path, { params: { path: { w, id } } }));
      await client.invalidateQueries();
    });
  return (
    <>
      <Block title="Callback">
        <p className="reason">{url}</p>
        <Facts
          facts={[
            ["Status", <CallbackStatus key="status" status={status} reason={reason} />],
            ["App", <Named key="app" kind="apps" id={app} />],
            ["Failing since", failing_since === undefined ? undefined : <WorldTime key="since" seconds={failing_since} isLong />],
            ["Alert since", alerted_time === undefined ? undefined : <WorldTime key="alert" seconds={alerted_time} isLong />],
            ["Paused since", paused_time === undefined ? undefined : <WorldTime key="paused" seconds={paused_time} isLong />],
            ["Next try", next_attempt_time === undefined ? undefined : <WorldTime key="next" seconds={next_attempt_time} isLong />],
          ]}
        />
        <div className="actions">
          {status === "paused" ? (
            <button type="button" onClick={() => void change("Resumed: waiting webhooks are sent", "/v1/worlds/{w}/callbacks/{id}/resume")}>
              ▶ Resume
            </button>
          ) : (
            <button type="button" onClick={() => void change("Paused: new webhooks wait", "/v1/worlds/{w}/callbacks/{id}/pause")}>
              ❚❚ Pause
            </button>
          )}
        </div>
      </Block>
      <Block title="Send again">
        <ReplaySpan callback={id} />
      </Block>
      {data !== undefined && <Health deliveries={data.data} />}
    </>
  );
}

function Health({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const { times, latencies, failures, said } = useMemo(() => {
    const attempts = deliveries.flatMap(({ attempts: all }) => all).sort((a, b) => a.time - b.time);
    const isGood = ({ status }: (typeof attempts)[number]): boolean => status !== undefined && status >= 200 && status < 300;
    const known = attempts.flatMap(({ latency_ms }) => (latency_ms === undefined ? [] : [latency_ms])).sort((a, b) => a - b);
    const at = (share: number): string => milliseconds(known[Math.floor(share * (known.length - 1))] ?? 0);
    const failed = attempts.filter((attempt) => !isGood(attempt)).length;
    return {
      times: attempts.map(({ time }) => time),
      latencies: attempts.map((attempt) => (isGood(attempt) ? (attempt.latency_ms ?? null) : null)),
      failures: attempts.map((attempt) => (isGood(attempt) ? null : (attempt.latency_ms ?? 0))),
      said:
        attempts.length === 0
          ? "No attempt yet."
          : `${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}, ${failed} failed; median ${at(0.5)}, 95th percentile ${at(0.95)}.`,
    };
  }, [deliveries]);
  const series = useMemo(
    () => [
      { label: "succeeded", colour: "--good", values: latencies, isPoints: true },
      { label: "failed", colour: "--bad", values: failures, isPoints: true },
    ],
    [latencies, failures],
  );
  return (
    <Block title="Health">
      <p>{said}</p>
      {times.length > 0 && <Chart label={`Latency of each attempt. ${said}`} times={times} series={series} unit="ms" />}
    </Block>
  );
}
