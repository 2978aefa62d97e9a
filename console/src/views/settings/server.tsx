/** Settings of the server's process: replace the key that seals stored secrets, and stop the server. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { serverQuery } from "../../api/queries.ts";
import { act } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { Block, Facts } from "../../parts/texts.tsx";

/** A week. For this time, a backup of the data can still be opened with the previous key file. */
const OVERLAP_SECONDS = 604_800;

export function SealingKey() {
  const client = useQueryClient();
  const key = ["sealing-key"];
  const { data } = useQuery({ queryKey: key, queryFn: () => dataOf(api.GET("/v1/sealing-key")) });
  const rotate = () =>
    act("Replaced: stored secrets are sealed with the new key in the background", async () => {
      await dataOf(api.POST("/v1/sealing-key/rotate", { body: { overlap_seconds: OVERLAP_SECONDS } }));
      await client.invalidateQueries({ queryKey: key });
    });
  if (data === undefined) return null;
  const { key_id, previous, waiting } = data;
  return (
    <Block isOwn title="Sealing key">
      <p className="quiet">The key seals stored secrets, such as those of apps.</p>
      <Facts
        facts={[
          ["Key", key_id],
          ["Older keys", previous.map((one) => one.key_id).join(", ")],
          ["Secrets still sealed with an older key", waiting === 0 ? "nothing" : `${waiting} secrets`],
        ]}
      />
      <Sure text="Replace the key" sure="Replace the sealing key; then copy its file to your backup" onSure={() => void rotate()} />
    </Block>
  );
}

export function Server() {
  const server = useQuery(serverQuery).data;
  const stop = () => act("The server is stopping", () => dataOf(api.POST("/v1/server/stop")));
  if (server === undefined) return null;
  const { version, pid, started_at, data, processes } = server;
  return (
    <Block isOwn title="Server">
      <Facts
        facts={[
          ["Plaza", version],
          ["Process", processes === 1 ? `${pid}, which serves the graph` : `${pid}; ${processes} other processes serve the graph`],
          ["Started", new Date(started_at * 1000).toLocaleString()],
          ["Data", data],
        ]}
      />
      <Sure text="Stop the server" sure="Stop the server; running requests have 10 s to end" onSure={() => void stop()} />
    </Block>
  );
}
