import { useQueryClient } from "@tanstack/react-query";
import { api, dataOf } from "../../api/client.ts";
import { act } from "../../parts/notices.tsx";
import { Sure } from "../../parts/sure.tsx";
import { useWorld } from "../../shell/world.ts";

interface NameStateProps {
  readonly app: string;
  readonly name: string;
  readonly isActive: boolean;
}

/** An app has a limited number of names. A deactivated name makes room for another. */
export function NameState({ app, name, isActive }: NameStateProps) {
  const w = useWorld();
  const client = useQueryClient();
  if (!isActive) return "deactivated";
  const deactivate = () =>
    act("Deactivated: its events are refused from now on", async () => {
      await dataOf(api.POST("/v1/worlds/{w}/app-events/{app}/names/{name}/deactivate", { params: { path: { w, app, name } } }));
      await client.invalidateQueries({ queryKey: ["event-names", w, app] });
    });
  return (
    <>
      active <Sure text="Deactivate" sure={`Deactivate ${name}; its events are refused from now on`} onSure={() => void deactivate()} />
    </>
  );
}
