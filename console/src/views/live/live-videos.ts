/** Live videos: the list of all videos, the running videos as they change, and one video with the health of its stream. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { paths } from "../../../generated/control-api.d.ts";
import { follow } from "../../api/events.ts";
import { listNodes } from "../../api/graph/nodes.ts";
import { useList } from "../../api/lists.ts";

export type LiveState = paths["/v1/worlds/{w}/live-videos/{id}/ingest"]["get"]["responses"][200]["content"]["application/json"];

export interface LiveVideo {
  readonly id: string;
  readonly page: string;
  readonly title: string | undefined;
  readonly state: string;
  readonly isEmbeddable: boolean;
  /** The time at which the live video was created, in Unix seconds. */
  readonly created: number;
  /** The present state of a running video; undefined if the video does not run. */
  readonly running: LiveState | undefined;
}

interface Entry {
  readonly id: string;
  readonly page: string;
  readonly title?: string;
  readonly status: string;
  readonly condition?: string;
  readonly embeddable?: boolean;
  readonly creation_time?: number;
}

/**
 * The state of a live video that the status of its node stands for. Some statuses of a live video's node have another
 * name than the corresponding state.
 */
const stateOf = ({ status, condition }: Entry): string => condition ?? { LIVE_STOPPED: "stopped" }[status] ?? status.toLowerCase();

const NOTHING: ReadonlyMap<string, LiveState> = new Map();

/** The states of the running videos, by the videos' ids; undefined until the console has read them. */
export function useRunning(w: string): ReadonlyMap<string, LiveState> | undefined {
  const client = useQueryClient();
  const [running, setRunning] = useState<ReadonlyMap<string, LiveState>>();
  useEffect(() => {
    let states = "";
    return follow({
      address: () => `/v1/worlds/${encodeURIComponent(w)}/live-videos`,
      take({ data }) {
        const { data: rows } = JSON.parse(data) as { readonly data: readonly LiveState[] };
        setRunning(new Map(rows.map((row) => [row.id, row])));
        const now = rows.map(({ id, state }) => `${id} ${state}`).join();
        if (now !== states) void client.invalidateQueries({ queryKey: ["nodes", w, "live_videos"] });
        states = now;
      },
      state() {},
    });
  }, [w, client]);
  return running;
}

/** All live videos. Running videos come first, then the newest. */
export function useLiveVideos(w: string) {
  const list = useList(["nodes", w, "live_videos", "live"], (after) => listNodes(w, "live_videos", after));
  const running = useRunning(w) ?? NOTHING;
  const rows = useMemo(() => {
    const videos = (list.rows as unknown as readonly Entry[]).map((entry): LiveVideo => {
      const state = running.get(entry.id);
      const { id, page, title, creation_time: created = 0, embeddable = false } = entry;
      return { id, page, title, created, isEmbeddable: embeddable, running: state, state: state?.state ?? stateOf(entry) };
    });
    const rank = ({ running: state }: LiveVideo): number => (state === undefined ? 0 : 1);
    return videos.sort((a, b) => rank(b) - rank(a) || b.created - a.created || (BigInt(b.id) > BigInt(a.id) ? 1 : -1));
  }, [list.rows, running]);
  return { ...list, rows };
}

export interface Sample {
  /** The time of the sample in Unix seconds of this machine, because the world's clock may be stopped. */
  readonly at: number;
  readonly health: LiveState["health"];
}

/** The greatest number of samples to keep: one a second for five minutes. */
const SAMPLES_MAX = 300;

/** One live video as it changes, and the health of its stream since a person opened the video. */
export function useLiveState(w: string, id: string) {
  const [seen, setSeen] = useState<{ readonly state: LiveState | undefined; readonly samples: readonly Sample[] }>({ state: undefined, samples: [] });
  useEffect(() => {
    setSeen({ state: undefined, samples: [] });
    return follow({
      address: () => `/v1/worlds/${encodeURIComponent(w)}/live-videos/${encodeURIComponent(id)}/ingest`,
      take({ data }) {
        const state = JSON.parse(data) as LiveState;
        setSeen(({ samples }) => {
          const isWorthy = state.health !== undefined || samples.length > 0;
          const more = isWorthy ? [...samples, { at: Date.now() / 1000, health: state.health }] : samples;
          return { state, samples: more.slice(-SAMPLES_MAX) };
        });
      },
      state() {},
    });
  }, [w, id]);
  return seen;
}
