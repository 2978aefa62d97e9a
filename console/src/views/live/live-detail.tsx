/** One live video: its player, its stream, its history, and actions. */
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, dataOf } from "../../api/client.ts";
import { useServer } from "../../api/queries.ts";
import { Named } from "../../parts/named.tsx";
import { act } from "../../parts/notices.tsx";
import { Block, Facts, WorldTime } from "../../parts/texts.tsx";
import { useWorldNow } from "../../shell/clock.tsx";
import { useWorld } from "../../shell/world.ts";
import { FeedHealth } from "./health.tsx";
import { type LiveState, type LiveVideo, useLiveState } from "./live-videos.ts";
import { eventText, LiveStatus, Moves } from "./states.tsx";

export function LiveDetail({ video }: { readonly video: LiveVideo }) {
  const w = useWorld();
  const now = useWorldNow(w)?.now;
  const { state, samples } = useLiveState(w, video.id);
  if (state === undefined || now === undefined) return null;
  const { page, feed, test_encoder: isTest, next, end_reason, takedown_reason, refused, stream_key } = state;
  return (
    <>
      <Block title={video.title ?? `Live video ${video.id}`}>
        <Facts
          facts={[
            ["State", <LiveStatus key="state" state={state.state} />],
            ["Status", <code key="status">{state.status}</code>],
            ["Id", <code key="id">{video.id}</code>],
            ["Page", <Named key="page" kind="pages" id={page} />],
            ["Encoder", feed.is_sending ? (isTest ? "sends a test clip" : "sends") : feed.session === 0 ? "has not connected yet" : "does not send"],
            [
              "Encoder refused",
              refused === undefined ? undefined : (
                <span key="refused" className="bad">
                  <WorldTime seconds={refused.time} isLong /> {refused.reason}
                </span>
              ),
            ],
            ["Stream key", stream_key],
            ["Ended because", end_reason],
            ["Reason of the takedown", takedown_reason],
            [
              "Next",
              next === null ? undefined : (
                <span key="next">
                  <WorldTime seconds={next.time} isLong /> {eventText(next.event)}
                </span>
              ),
            ],
          ]}
        />
        <Actions state={state} />
      </Block>
      <Preview video={video} state={state} />
      <FeedHealth health={state.health} samples={samples} />
      <Block title="History">
        <Moves history={state.history} now={now} />
      </Block>
    </>
  );
}

const RUNS: readonly string[] = ["live", "reconnecting", "key_replaced", "key_dead", "ending"];
const SHOWN: readonly string[] = [...RUNS, "stopped", "processing", "vod"];
const BEFORE: readonly string[] = ["unpublished", "scheduled_unpublished", "scheduled_live"];

/** The states in which an encoder may connect, or connect again. */
const TAKES: readonly string[] = [...BEFORE, "live", "reconnecting", "key_replaced"];

type Move = "publish" | "test-encoder" | "end" | "takedown" | "restore-notice" | "restore";

function Actions({ state: { id, state, feed, test_encoder: isTest } }: { readonly state: LiveState }) {
  const w = useWorld();
  const client = useQueryClient();
  const move = (done: string, what: Move) =>
    act(done, async () => {
      await dataOf(api.POST(`/v1/worlds/{w}/live-videos/{id}/${what}`, { params: { path: { w, id } } }));
      await client.invalidateQueries({ queryKey: ["nodes", w, "live_videos"] });
    });
  const stopTestClip = () =>
    act("The test clip was stopped; the video waits for an encoder", () =>
      dataOf(api.DELETE("/v1/worlds/{w}/live-videos/{id}/test-encoder", { params: { path: { w, id } } })),
    );
  const possible: readonly (readonly [isPossible: boolean, text: string, done: string, what: Move])[] = [
    [BEFORE.includes(state), "Publish", "Published: the broadcast began", "publish"],
    [TAKES.includes(state) && !feed.is_sending, "Send a test clip", "The server's encoder sends a test clip", "test-encoder"],
    [RUNS.includes(state), "■ End the broadcast", "The broadcast has ended", "end"],
    [SHOWN.includes(state), "Take down", "The video was taken down, and its page got a restore notice", "takedown"],
    [state === "taken_down", "Send the restore notice again", "The restore notice was sent again", "restore-notice"],
    [state === "taken_down", "Restore", "Restored", "restore"],
  ];
  return (
    <div className="actions">
      {possible
        .filter(([isPossible]) => isPossible)
        .map(([, text, done, what]) => (
          <button type="button" key={what} onClick={() => void move(done, what)}>
            {text}
          </button>
        ))}
      {isTest && (
        <button type="button" onClick={() => void stopTestClip()}>
          Stop the test clip
        </button>
      )}
      <Link to="/graph" search={({ world }) => ({ world, kind: "live_videos", id })}>
        Open in the graph
      </Link>
    </div>
  );
}

/** The server's own player. This is the only frame that the console may show. */
function Preview({ video: { id, isEmbeddable, title }, state: { state } }: { readonly video: LiveVideo; readonly state: LiveState }) {
  const w = useWorld();
  const client = useQueryClient();
  const server = useServer(w);
  if (server === undefined) return null;
  const embed = () =>
    act("Other pages can now show the player", async () => {
      await dataOf(api.PATCH("/v1/worlds/{w}/nodes/live_videos/{id}", { params: { path: { w, id } }, body: { embeddable: true } as never }));
      await client.invalidateQueries({ queryKey: ["nodes", w, "live_videos"] });
    });
  return (
    <Block title="Player">
      {!SHOWN.includes(state) ? (
        <p className="quiet">The video is not published, or no longer visible.</p>
      ) : isEmbeddable ? (
        <iframe className="player" title={`Player of ${title ?? id}`} src={`${server.base_url}/player/${id}`} allow="autoplay; fullscreen" />
      ) : (
        <>
          <p className="quiet">Other pages, such as this one, cannot show the player until the video is embeddable.</p>
          <div className="actions">
            <button type="button" onClick={() => void embed()}>
              Make it embeddable
            </button>
          </div>
        </>
      )}
    </Block>
  );
}
