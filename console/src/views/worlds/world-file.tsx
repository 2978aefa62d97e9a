import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { act, say } from "../../parts/notices.tsx";
import { Block } from "../../parts/texts.tsx";
import { useWorld } from "../../shell/world.ts";
import { useChange } from "./change.ts";

/** The text of a chosen file; empty if no file was chosen. */
export const textOfFile = async (file: FormDataEntryValue | null): Promise<string> => (file instanceof File ? await file.text() : "");

/** Exports the world as a file, and imports world files. */
export function WorldFile() {
  const w = useWorld();
  const change = useChange();
  const [secrets, setSecrets] = useState(false);
  const save = () =>
    act("Exported", async () => {
      const world = await dataOf(api.GET("/v1/worlds/{w}/export", { params: { path: { w }, query: { secrets } } }));
      const link = document.createElement("a");
      link.href = `data:application/json,${encodeURIComponent(JSON.stringify(world, undefined, 1))}`;
      link.download = `${w}.json`;
      link.click();
    });
  const load = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    void change("Loaded", async () => {
      const body = await textOfFile(new FormData(form).get("file"));
      const { warnings = [] } = await dataOf(
        api.POST("/v1/worlds/{w}/import", {
          params: { path: { w } },
          headers: { "content-type": "application/yaml" },
          body: body as never,
          bodySerializer: (text) => text as unknown as string,
        }),
      );
      for (const warning of warnings) say(`! ${typeof warning === "string" ? warning : JSON.stringify(warning)}`, true);
      form.reset();
    });
  };
  return (
    <Block isOwn title={`World file of ${w}`}>
      <div className="actions">
        <label>
          <input type="checkbox" checked={secrets} onChange={(event) => setSecrets(event.currentTarget.checked)} /> With the secrets of apps
        </label>
        <button type="button" onClick={() => void save()}>
          Export this world
        </button>
      </div>
      {secrets && <p className="quiet">Keep the file as safe as the control key.</p>}
      <form className="actions" onSubmit={load}>
        <label>
          Load a world file into it <input name="file" type="file" accept=".yaml,.yml,.json" required />
        </label>
        <button type="submit">Load</button>
        <span className="quiet">An entry with an existing id replaces the stored one. The file is loaded completely or not at all.</span>
      </form>
    </Block>
  );
}
