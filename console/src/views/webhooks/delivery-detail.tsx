import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { deliveryQuery } from "../../api/queries.ts";
import { pretty } from "../../parts/json.ts";
import { Named } from "../../parts/named.tsx";
import { act } from "../../parts/notices.tsx";
import { Block, Code, CopyButton, CopyId, Facts, HttpStatus, milliseconds, Nothing, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { kindOf } from "./entities.ts";
import { Maker } from "./maker.tsx";
import { DeliveryStatus } from "./statuses.tsx";

interface DeliveryDetailProps {
  readonly id: string;
  readonly onCallback: (id: string) => void;
}

const WAITS: Readonly<Record<string, string>> = {
  queued: "The webhook is in the queue of its callback and will be sent soon.",
  retry: "The last attempt failed. The next attempt is at the time below.",
  callback_paused: "The callback of the webhook is paused. Resume the callback, or send this webhook again.",
  no_callback: "The app has no callback. The webhook is sent when the app has one.",
  callback_not_verified: "The callback was never verified. The webhook is sent when the callback is verified.",
  gone: "The callback returned 410, so nothing more is sent to it.",
  gave_up: "The last retry failed.",
};

/** One webhook: its status and the reason, its attempts, and its body. */
export function DeliveryDetail({ id, onCallback }: DeliveryDetailProps) {
  const w = useWorld();
  const client = useQueryClient();
  const { data: delivery, error } = useQuery(deliveryQuery(w, id));
  if (error !== null)
    return (
      <Nothing title="There is no such webhook">
        <p>It is older than the webhooks that are kept, or its id is misspelt: {error.message}.</p>
      </Nothing>
    );
  if (delivery === undefined) return null;
  const { callback, callback_id, object, field, entity, app, reason, status, updates, time, next_attempt_time, attempts, body, webhook_id } =
    delivery;
  const replay = () =>
    act("Sent again, with the same id and body", async () => {
      await dataOf(api.POST("/v1/worlds/{w}/deliveries/{id}/replay", { params: { path: { w, id } } }));
      await client.invalidateQueries();
    });
  return (
    <>
      <Block title={`${object} ${field}`}>
        <Facts
          facts={[
            ["Status", <DeliveryStatus key="status" status={status} reason={reason} />],
            ["Reason", reason === undefined ? undefined : WAITS[reason]],
            ["Next attempt", next_attempt_time === undefined ? undefined : <WorldTime key="next" seconds={next_attempt_time} isLong />],
            ["Created", <WorldTime key="time" seconds={time} isLong />],
            ["About", <Named key="entity" kind={kindOf(object)} id={entity} />],
            ["App", <Named key="app" kind="apps" id={app} />],
            [
              "Callback",
              callback === undefined ? (
                "none"
              ) : (
                <span key="callback" className="mono">
                  {callback}
                </span>
              ),
            ],
            ["Events", updates],
            ["webhook-id", <CopyId key="id" id={webhook_id} />],
          ]}
        />
        <div className="actions">
          <button type="button" onClick={() => void replay()}>
            Send again
          </button>
          {callback_id !== undefined && (
            <button type="button" onClick={() => onCallback(callback_id)}>
              Open callback
            </button>
          )}
          <CopyButton label="Copy body" text={body} />
        </div>
      </Block>
      <Block title="Caused by">
        <Maker delivery={id} />
      </Block>
      <Attempts attempts={attempts} />
      <Block title="Body">
        <Code label="Body of the webhook" text={pretty(body)} />
      </Block>
    </>
  );
}

interface SignedAttempt {
  readonly time: number;
  readonly status?: number | undefined;
  readonly latency_ms?: number | undefined;
  readonly answer?: string | undefined;
  readonly error?: string | undefined;
  readonly signatures?: Readonly<Record<string, string>> | undefined;
}

function Attempts({ attempts }: { readonly attempts: readonly SignedAttempt[] }) {
  return (
    <Block title="Attempts">
      {attempts.length === 0 && <p className="quiet">None yet.</p>}
      <ol>
        {attempts.map(({ time, status, latency_ms, answer, error, signatures }) => (
          <li key={time}>
            <WorldTime seconds={time} isLong /> {status === undefined ? <span className="bad">✕ {error}</span> : <HttpStatus status={status} />}{" "}
            {latency_ms !== undefined && milliseconds(latency_ms)}
            {answer !== undefined && answer !== "" && <Code label="The first bytes of the response" text={answer} />}
            {signatures !== undefined && (
              <details>
                <summary>Signatures</summary>
                <p className="quiet">HMAC of the body below, byte for byte, with the app's secret.</p>
                <Code
                  label="Headers that sign the attempt"
                  text={Object.entries(signatures)
                    .map(([name, value]) => `${name}: ${value}`)
                    .join("\n")}
                />
              </details>
            )}
          </li>
        ))}
      </ol>
    </Block>
  );
}
