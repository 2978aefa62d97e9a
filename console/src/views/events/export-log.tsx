import { api, dataOf } from "../../api/client.ts";
import { act } from "../../parts/notices.tsx";
import { useWorld } from "../../shell/world.ts";

/** A button that saves every event that the server still keeps for an app, as a file of JSON lines. */
export function ExportLog({ app }: { readonly app: string }) {
  const w = useWorld();
  const save = () =>
    act("Exported", async () => {
      const params = { path: { w, app } };
      const log = (await dataOf(api.GET("/v1/worlds/{w}/app-events/{app}/export", { params, parseAs: "blob" }))) as unknown as Blob;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(log);
      link.download = `events-${app}.ndjson`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  return (
    <button type="button" onClick={() => void save()}>
      Export
    </button>
  );
}
