import { useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { api, dataOf } from "../../api/client.ts";
import type { Entry } from "../../api/graph/kinds.ts";
import { listNodes } from "../../api/graph/nodes.ts";
import { act } from "../../parts/notices.tsx";
import { useWorld } from "../../shell/world.ts";

const named = ({ id, caption, title }: Entry): string => `${String(caption ?? title ?? "")} ${String(id)}`.trim();

/** A form in which a person comments on a post or on a live video. */
export function Comments({ account }: { readonly account: string }) {
  const w = useWorld();
  const media = useQuery({ queryKey: ["nodes", w, "media", "phone"], queryFn: () => listNodes(w, "media", undefined) }).data?.data ?? [];
  const videos = useQuery({ queryKey: ["nodes", w, "live_videos", "phone"], queryFn: () => listNodes(w, "live_videos", undefined) }).data?.data ?? [];
  const comment = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const text = String(given.get("text"));
    const [kind, id = ""] = String(given.get("on")).split(" ");
    const params = { path: { w } };
    void act("Commented", async () => {
      if (kind === "live")
        await dataOf(api.POST("/v1/worlds/{w}/in-app/live-comment", { params, body: { social_account: account, live_video: id, text } }));
      else await dataOf(api.POST("/v1/worlds/{w}/in-app/comment", { params, body: { social_account: account, media: id, text } }));
      form.reset();
    });
  };
  return (
    <section className="thread" aria-label="Comments">
      <h2>Comment</h2>
      {media.length + videos.length === 0 ? (
        <p className="quiet">There is no post and no live video to comment on.</p>
      ) : (
        <form className="form" onSubmit={comment}>
          <label className="field">
            On
            <select name="on">
              {media.map((one) => (
                <option key={String(one.id)} value={`media ${String(one.id)}`}>
                  {named(one)}
                </option>
              ))}
              {videos.map((one) => (
                <option key={String(one.id)} value={`live ${String(one.id)}`}>
                  live: {named(one)}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            Comment
            <input name="text" required maxLength={2200} />
          </label>
          <button type="submit">Comment</button>
        </form>
      )}
    </section>
  );
}
