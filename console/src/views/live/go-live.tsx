/** Broadcasts from this page: from the camera, or a drawn picture with sound. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useServer } from "../../api/queries.ts";
import { act } from "../../parts/notices.tsx";
import { Block, problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { listNodes } from "../graph/nodes.ts";
import type { SourceKind } from "./sources.ts";
import { type Broadcast, endBroadcast, goLive, useBroadcast } from "./studio.ts";

const kinds: readonly (readonly [SourceKind, string])[] = [
  ["picture", "a drawn test picture with sound"],
  ["camera", "the camera and microphone"],
];

export function GoLive({ onLive }: { readonly onLive: (id: string) => void }) {
  const broadcast = useBroadcast();
  return broadcast === undefined ? <Begin onLive={onLive} /> : <OnAir broadcast={broadcast} />;
}

function Begin({ onLive }: { readonly onLive: (id: string) => void }) {
  const w = useWorld();
  const url = useServer(w)?.live_url;
  const pages = useQuery({ queryKey: ["nodes", w, "pages", "live"], queryFn: () => listNodes(w, "pages", undefined) }).data?.data;
  const [page, choosePage] = useState<string>();
  const [title, setTitle] = useState("Test broadcast");
  const [kind, chooseKind] = useState<SourceKind>("picture");
  const [problem, setProblem] = useState<string>();
  const [isBeginning, setBeginning] = useState(false);
  const chosen = page ?? (pages?.[0] === undefined ? undefined : String(pages[0].id));
  if (url === undefined) return <p className="block quiet">This server takes no streams of web pages: it was started without a port for encoders.</p>;
  if (!("MediaStreamTrackProcessor" in globalThis))
    return <p className="block quiet">This browser cannot read single pictures of a camera. Chromium and Chrome can.</p>;
  if (pages === undefined) return null;
  if (chosen === undefined) return <p className="block quiet">Live videos belong to a page. Make one in the graph.</p>;
  const begin = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setProblem(undefined);
    setBeginning(true);
    try {
      onLive(await goLive({ w, page: chosen, title, kind, url }));
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBeginning(false);
    }
  };
  return (
    <form className="form" onSubmit={(event) => void begin(event)}>
      <label className="field">
        Page
        <select value={chosen} onChange={({ target }) => choosePage(target.value)}>
          {pages.map((one) => (
            <option key={String(one.id)} value={String(one.id)}>
              {String(one.name ?? one.id)}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Title
        <input value={title} onChange={({ target }) => setTitle(target.value)} />
      </label>
      <fieldset>
        <legend>What it shows</legend>
        {kinds.map(([name, text]) => (
          <label key={name} className="choice">
            <input type="radio" name="source" checked={kind === name} onChange={() => chooseKind(name)} /> {text}
          </label>
        ))}
      </fieldset>
      <p className="quiet">
        This browser encodes H.264 and Opus and sends them to the server's port for encoders. The broadcast goes on while you look at other views, and
        ends with this tab.
      </p>
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary" disabled={isBeginning}>
          ● Go live
        </button>
      </div>
    </form>
  );
}

const TEXTS = {
  connecting: "connecting…",
  publishing: "on air",
  reconnecting: "the connection broke off: connecting again…",
  ended: "ended",
} as const;

/** The broadcast of this tab, and what ends it. */
export function OnAir({ broadcast: { state, source } }: { readonly broadcast: Broadcast }) {
  const own = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (own.current !== null) own.current.srcObject = source.stream;
  }, [source]);
  return (
    <Block title="From this tab">
      <p className={state === "publishing" ? "live" : "warn"} role="status">
        {state === "publishing" ? "●" : "○"} {TEXTS[state]}
      </p>
      {source.isOfCamera && <video ref={own} className="own-picture" muted autoPlay playsInline aria-label="What the camera sees" />}
      <div className="actions">
        <button type="button" className="danger" onClick={() => void act("The broadcast has ended", endBroadcast)}>
          ■ End the broadcast
        </button>
      </div>
    </Block>
  );
}
