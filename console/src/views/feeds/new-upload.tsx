import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { problemOf } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { startUpload } from "./uploads.ts";

export function NewUpload({ feed, onStarted }: { readonly feed: string; readonly onStarted: (n: number) => void }) {
  const w = useWorld();
  const client = useQueryClient();
  const [isByUrl, setByUrl] = useState(false);
  const [problem, setProblem] = useState<string>();
  const start = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const file = given.get("file");
    try {
      const { n } = await startUpload(w, feed, {
        file: file instanceof File ? file : undefined,
        url: String(given.get("url") ?? ""),
        isUpdate: given.get("kind") === "update",
      });
      await client.invalidateQueries({ queryKey: ["uploads", w, feed] });
      onStarted(n);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form className="form" onSubmit={(event) => void start(event)}>
      <div className="actions">
        <button type="button" aria-pressed={!isByUrl} onClick={() => setByUrl(false)}>
          From this computer
        </button>
        <button type="button" aria-pressed={isByUrl} onClick={() => setByUrl(true)}>
          From an address
        </button>
      </div>
      {isByUrl ? (
        <label className="field">
          Address of the file
          <input name="url" type="url" required />
        </label>
      ) : (
        <label className="field">
          File
          <input name="file" type="file" required />
        </label>
      )}
      <label className="field">
        Items that are not in the file
        <select name="kind">
          <option value="replace">are removed from the feed</option>
          <option value="update">stay in the feed</option>
        </select>
      </label>
      {problem !== undefined && (
        <p role="alert" className="bad">
          ✕ {problem}
        </p>
      )}
      <button type="submit" className="primary">
        Upload
      </button>
    </form>
  );
}
