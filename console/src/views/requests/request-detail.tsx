import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { requestQuery } from "../../api/queries.ts";
import { pretty } from "../../parts/json.ts";
import { Named } from "../../parts/named.tsx";
import { Block, Code, CopyId, Facts, HttpStatus, milliseconds, Nothing, WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { effectOf, type FaultWords } from "../faults/fault-words.ts";
import { Again } from "./again.tsx";
import { Caused } from "./caused.tsx";
import { reasonOf } from "./error-body.ts";
import { ErrorExplained } from "./error-explained.tsx";

interface RequestDetailProps {
  readonly trace: string;
  readonly onOpen: (trace: string) => void;
}

export type StoriedRequest = NonNullable<ReturnType<typeof useRequest>["data"]>;
const useRequest = (w: string, trace: string) => useQuery(requestQuery(w, trace));

/** One request with its trace: its caller, version, permission, steps, response and webhooks. */
export function RequestDetail({ trace, onOpen }: RequestDetailProps) {
  const world = useWorld();
  const { data: request, error } = useRequest(world, trace);
  if (error !== null)
    return (
      <Nothing title="The server no longer has this request">
        <p>The server keeps the last 1,000 requests, in memory: {error.message}.</p>
        <CopyId id={trace} />
      </Nothing>
    );
  if (request === undefined) return null;
  const { method, path, status, time, duration_ms, operation, surface, query, request_body, response_body, story } = request;
  return (
    <>
      <Block title={`${method} ${path}`}>
        {(status >= 400 || request.reason !== undefined) && <Reason request={request} />}
        <Facts
          facts={[
            ["Status", <HttpStatus key="status" status={status} />],
            ["World time", <WorldTime key="time" seconds={time} isLong />],
            ["Duration", milliseconds(duration_ms)],
            ["Operation", operation],
            ["Surface", surface],
            ["Trace id", <CopyId key="trace" id={trace} />],
          ]}
        />
        <Again request={request} onSent={onOpen} />
      </Block>
      {story?.parts !== undefined && <Parts parts={story.parts} leftOut={story.parts_left_out} />}
      {story?.fault !== undefined && <MetFault text={story.fault} />}
      {status >= 400 && <ErrorExplained request={request} />}
      <Block title="Request">
        {query !== "" && <Code label="Query" text={decodedQuery(query)} />}
        {request_body !== "" && <Code label="Body of the request" text={pretty(request_body)} />}
        {query === "" && request_body === "" && <p className="quiet">No parameters.</p>}
        {story?.parameters !== undefined && story.parameters !== "{}" && (
          <>
            <p className="quiet">As Plaza understood them:</p>
            <Code label="Parameters as read" text={pretty(story.parameters)} />
          </>
        )}
      </Block>
      {story !== undefined && <Story request={request} story={story} />}
      <Block title="Response">
        {response_body === "" ? <p className="quiet">No body.</p> : <Code label="Body of the response" text={pretty(response_body)} />}
      </Block>
      {story !== undefined && <Caused ids={story.deliveries} />}
    </>
  );
}

/** The reason why the request was refused, or caused no webhook, in the largest type of the panel, before everything else. */
const Reason = ({ request }: { readonly request: StoriedRequest }) => (
  <p className="reason">{reasonOf(request) ?? "The response gives no reason."}</p>
);

interface PartsProps {
  readonly parts: NonNullable<NonNullable<StoriedRequest["story"]>["parts"]>;
  readonly leftOut: number | undefined;
}

/** The requests of a batch or of `ids=`, each with its reason. */
const Parts = ({ parts, leftOut }: PartsProps) => (
  <Block title="Requests in it">
    <ol>
      {parts.map(({ operation, method, path, status, reason }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and a request may be in it twice
        <li key={at}>
          <HttpStatus status={status} /> {method} {path} <span className="quiet">{operation}</span>
          {reason !== undefined && <p>{reason}</p>}
        </li>
      ))}
    </ol>
    {leftOut !== undefined && <p className="quiet">And {leftOut} more.</p>}
  </Block>
);

/** Says that a fault affected the request, so that its error is not the caller's mistake. */
function MetFault({ text }: { readonly text: string }) {
  const { id, operation: _, ...fault } = JSON.parse(text) as FaultWords & { readonly id: string };
  return (
    <Block title="Fault">
      <p className="warn">
        ! Affected by fault {id}: it {effectOf(fault)}.
      </p>
      <Link to="/faults" search={({ world }) => ({ world })}>
        Faults in effect
      </Link>
    </Block>
  );
}

const decodedQuery = (query: string): string =>
  query
    .split("&")
    .map((pair) => {
      try {
        return decodeURIComponent(pair.replaceAll("+", " "));
      } catch {
        return pair;
      }
    })
    .join("\n");

const PLACES: Readonly<Record<string, string>> = {
  access_token: "access_token in the query",
  oauth_token: "oauth_token in the query",
  bearer: "Authorization header",
  body: "access_token in the body",
};

function Story({ request, story }: { readonly request: StoriedRequest; readonly story: NonNullable<StoriedRequest["story"]> }) {
  const { credentials, version, policy, node, steps, is_concealed } = story;
  const total = steps.reduce((sum, { duration_ms = 0 }) => sum + duration_ms, 0);
  return (
    <>
      <Block title="Caller">
        {credentials.length === 0 && <p className="quiet">No valid token.</p>}
        <ul>
          {credentials.map(({ place, type, token, app, refusal }) => (
            <li key={place}>
              {PLACES[place] ?? place}:{" "}
              {refusal === undefined ? (
                <>
                  {type} token {token === undefined ? "of the app's secret" : <CopyId id={token} />} of <Named kind="apps" id={app ?? ""} />
                </>
              ) : (
                <span className="bad">✕ {refusal}</span>
              )}
            </li>
          ))}
        </ul>
        {request.app !== undefined && (
          <Link to="/requests" search={(search) => ({ ...search, app: request.app })}>
            All requests of this app
          </Link>
        )}
      </Block>
      <Block title="Version">
        <p>
          Asked for {version.asked ?? "none"}, {version.served === undefined ? "no version served the request" : `served by ${version.served}`}
          {version.upgraded_from === undefined ? "" : `, upgraded from ${version.upgraded_from}`}.
        </p>
      </Block>
      <Block title="Permission">
        {node !== undefined && (
          <p>
            On the {node.type.replaceAll("_", " ")} <Named kind={`${node.type}s`} id={node.id} />
            {is_concealed === true && <span className="warn">, which the caller may not see: the response is the same as for a missing node</span>}.
          </p>
        )}
        {policy === undefined ? (
          <p className="quiet">The request was refused before a policy was checked.</p>
        ) : (
          <p>
            Policy <strong>{policy.name}</strong>: {policy.summary}. Tokens: {policy.kinds.join(", ") || "none"}
            {policy.scopes.length > 0 && `; scopes: ${policy.scopes.join(", ")}`}.
          </p>
        )}
      </Block>
      <Block title="Steps">
        {total > 0 && (
          <div className="steps" aria-hidden="true">
            {steps.map(({ name, duration_ms = 0 }) => (
              <span key={name} style={{ flexGrow: duration_ms / total }} />
            ))}
          </div>
        )}
        <Facts
          facts={steps.map(({ name, duration_ms }) => [STEPS[name] ?? name, duration_ms === undefined ? "not timed" : milliseconds(duration_ms)])}
        />
      </Block>
    </>
  );
}

const STEPS: Readonly<Record<string, string>> = {
  understand: "Understand the address and the tokens",
  check: "Check visibility, version, permission, parameters",
  handle: "Handle",
  respond: "Select fields, and convert them to the version",
};
