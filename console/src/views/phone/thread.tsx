import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef } from "react";
import { api, dataOf } from "../../api/client.ts";
import { useTail } from "../../api/tail.ts";
import { Named } from "../../parts/named.tsx";
import { sayProblem } from "../../parts/notices.tsx";
import { WorldTime } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";

const threadQuery = (w: string, social_account: string) =>
  queryOptions({
    queryKey: ["thread", w, social_account],
    queryFn: () => dataOf(api.GET("/v1/worlds/{w}/in-app/messages", { params: { path: { w }, query: { social_account } } })),
  });
type Message = Awaited<ReturnType<NonNullable<ReturnType<typeof threadQuery>["queryFn"]>>>["data"][number];

/** The conversation of an account with itself, in which apps respond. The server keeps the conversation. */
export function Thread({ account }: { readonly account: string }) {
  const w = useWorld();
  const client = useQueryClient();
  const { lines } = useTail();
  const messages = useQuery(threadQuery(w, account)).data?.data;
  const end = useRef<HTMLLIElement>(null);
  const sent = lines.find(({ operation }) => operation === "sendSelfMessage")?.trace_id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read anew after each message of an app.
  useEffect(() => void client.invalidateQueries({ queryKey: threadQuery(w, account).queryKey }), [client, w, account, sent]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest message is in sight.
  useEffect(() => void end.current?.scrollIntoView({ block: "nearest" }), [messages?.length]);
  const doing = async (action: () => Promise<unknown>): Promise<void> => {
    try {
      await action();
      await client.invalidateQueries({ queryKey: threadQuery(w, account).queryKey });
    } catch (error) {
      sayProblem(error);
    }
  };
  const write = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text"));
    void doing(async () => {
      await dataOf(api.POST("/v1/worlds/{w}/in-app/self-message", { params: { path: { w } }, body: { social_account: account, text } }));
      form.reset();
    });
  };
  const press = (mid: string, title: string, payload: string): Promise<void> =>
    doing(() =>
      dataOf(api.POST("/v1/worlds/{w}/in-app/postback", { params: { path: { w } }, body: { social_account: account, title, payload, mid } })),
    );
  return (
    <section className="thread" aria-label="Thread">
      <h2>To myself</h2>
      <ol className="messages" tabIndex={0} aria-label="Conversation">
        {messages?.length === 0 && <li className="quiet">Write something. The app gets the echo, and may respond.</li>}
        {messages?.map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a button may be pressed twice, and nothing moves in a thread.
          <Said key={at} message={message} among={messages} onPress={press} />
        ))}
        <li ref={end} className="end" aria-hidden="true" />
      </ol>
      <form className="actions" onSubmit={write}>
        <input name="text" aria-label="Message" placeholder="Message" required maxLength={1000} autoComplete="off" />
        <button type="submit" className="primary">
          Write
        </button>
      </form>
    </section>
  );
}

interface SaidProps {
  readonly message: Message;
  readonly among: readonly Message[];
  readonly onPress: (mid: string, title: string, payload: string) => Promise<void>;
}

/** One message of the thread. A pressed button quotes the message that it belongs to. */
function Said({ message: { mid, time, app, text, payload }, among, onPress }: SaidProps) {
  const answered = payload === undefined ? undefined : among.find((one) => one.mid === mid && one.payload === undefined);
  return (
    <li className={app === undefined ? "message own" : "message"}>
      <span className="hidden">{app === undefined ? "Written here: " : "From the app: "}</span>
      {answered !== undefined && <q className="quiet one-line">{answered.text}</q>}
      <span>
        {payload !== undefined && <span className="quiet">pressed </span>}
        {text}
        {payload !== undefined && <code className="quiet"> {payload}</code>}
      </span>
      <small className="quiet">
        {app !== undefined && (
          <>
            <Named kind="apps" id={app} /> ·{" "}
          </>
        )}
        <WorldTime seconds={time} />
      </small>
      {app !== undefined && <Press onPress={(title, value) => onPress(mid, title, value)} />}
    </li>
  );
}

/** A field for a button of the message above it. The interface has no buttons in messages to oneself, so a person types the button. */
function Press({ onPress }: { readonly onPress: (title: string, payload: string) => Promise<void> }) {
  const press = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    void onPress(String(given.get("title")), String(given.get("payload"))).then(() => form.closest("details")?.removeAttribute("open"));
  };
  return (
    <details>
      <summary>Press a button of it</summary>
      <form className="form" onSubmit={press}>
        <label className="field">
          Text of the button
          <input name="title" required />
        </label>
        <label className="field">
          Payload for the app
          <input name="payload" required />
        </label>
        <button type="submit">Press</button>
      </form>
    </details>
  );
}
