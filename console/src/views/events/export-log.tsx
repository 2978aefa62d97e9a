import { api, dataOf } from "../../api/client.ts";
import { act } from "../../parts/notices.tsx";
import { useWorld } from "../../shell/world.ts";

/** By their endings. */
const formats = { ndjson: "JSON lines", parquet: "Parquet" } as const;
type Format = keyof typeof formats;

/** Every event of an app that is still kept, as a file. */
export function ExportLog({ app }: { readonly app: string }) {
  const w = useWorld();
  const save = (format: Format) =>
    act("Exported", async () => {
      const params = { path: { w, app }, query: { format } };
      const log = (await dataOf(api.GET("/v1/worlds/{w}/app-events/{app}/export", { params, parseAs: "blob" }))) as unknown as Blob;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(log);
      link.download = `events-${app}.${format}`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  return (Object.keys(formats) as Format[]).map((format) => (
    <button type="button" key={format} onClick={() => void save(format)}>
      Export as {formats[format]}
    </button>
  ));
}
