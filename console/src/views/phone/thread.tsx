import { useQueries } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { requestQuery } from "../../api/queries.ts";
import { useTail } from "../../api/tail.ts";
import { sayProblem } from "../../parts/notices.tsx";
import { useWorld } from "../../shell/world.ts";

interface Message {
  readonly key: string;
  readonly text: string;
  readonly isOwn: boolean;
  readonly atMs: number;
  readonly mid: string;
}

interface ThreadProps {
  readonly account: string;
  /** The id to which apps send messages for this account; undefined if the account gets no messages. */
  readonly scoped: string | undefined;
}

/** The messages of a person, and the messages that apps sent to the person, from the log of requests. */
export function Thread({ account, scoped }: ThreadProps) {
  const w = useWorld();
  const [own, setOwn] = useState<readonly Message[]>([]);
  const sent = useSent(w, scoped);
  const messages = [...own, ...sent].sort((a, b) => a.atMs - b.atMs);
  const write = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get("text"));
    try {
      const { id } = await dataOf(
        api.POST("/v1/worlds/{w}/in-app/self-message", { params: { path: { w } }, body: { social_account: account, text } }),
      );
      setOwn((before) => [...before, { key: id, text, isOwn: true, atMs: Date.now(), mid: id }]);
      form.reset();
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <section className="thread" aria-label="Thread">
      <h2>To myself</h2>
      <ol className="messages">
        {messages.length === 0 && <li className="quiet">Write something. The app gets the echo, and may respond.</li>}
        {messages.map(({ key, text, isOwn }) => (
          <li key={key} className={isOwn ? "message own" : "message"}>
            <span className="hidden">{isOwn ? "Written here: " : "From the app: "}</span>
            {text}
          </li>
        ))}
      </ol>
      <form className="actions" onSubmit={(event) => void write(event)}>
        <input name="text" aria-label="Message" placeholder="Message" required maxLength={1000} />
        <button type="submit" className="primary">
          Write
        </button>
      </form>
      <Press
        account={account}
        mid={messages.at(-1)?.mid}
        onPressed={(title, mid) =>
          setOwn((before) => [...before, { key: `${mid} ${Date.now()}`, text: `pressed: ${title}`, isOwn: true, atMs: Date.now(), mid }])
        }
      />
    </section>
  );
}

interface PressProps {
  readonly account: string;
  /** The id of the message that has the button. */
  readonly mid: string | undefined;
  readonly onPressed: (title: string, mid: string) => void;
}

/** A field for a pressed button. Messages to oneself have no buttons to press, so a person types the title of the button. */
function Press({ account, mid, onPressed }: PressProps) {
  const w = useWorld();
  const press = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (mid === undefined) return;
    const given = new FormData(event.currentTarget);
    const [title, payload] = [String(given.get("title")), String(given.get("payload"))];
    try {
      await dataOf(api.POST("/v1/worlds/{w}/in-app/postback", { params: { path: { w } }, body: { social_account: account, title, payload, mid } }));
      onPressed(title, mid);
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <details>
      <summary>Press a button of the last message</summary>
      <form className="form" onSubmit={(event) => void press(event)}>
        <label className="field">
          Text of the button
          <input name="title" required />
        </label>
        <label className="field">
          Payload for the app
          <input name="payload" required />
        </label>
        <button type="submit" disabled={mid === undefined}>
          Press
        </button>
      </form>
    </details>
  );
}

/** The messages of apps to an account, from the requests that sent the messages. */
function useSent(w: string, scoped: string | undefined): Message[] {
  const { lines } = useTail();
  const sending = lines.filter(({ operation, status, path }) => operation === "sendSelfMessage" && status === 200 && path.includes(`/${scoped}/`));
  const requests = useQueries({ queries: sending.map(({ trace_id }) => requestQuery(w, trace_id)) });
  return requests.flatMap(({ data }) => {
    if (data === undefined) return [];
    const body = jsonOf(data.request_body);
    const mid = String((jsonOf(data.response_body) as { message_id?: unknown }).message_id ?? data.trace_id);
    return [{ key: data.trace_id, text: findText(body) ?? "(no text)", isOwn: false, atMs: data.time * 1000, mid }];
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { message } = Object.fromEntries(new URLSearchParams(text));
    return message === undefined || message === text ? {} : { message: jsonOf(message) };
  }
}

const entriesOf = (value: unknown): [string, unknown][] => (typeof value === "object" && value !== null ? Object.entries(value) : []);

function findText(value: unknown): string | undefined {
  for (const [key, inner] of entriesOf(value)) {
    const found = key === "text" && typeof inner === "string" ? inner : findText(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
