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

/**
 * A button that activates or deactivates an event name. An app has a limited number of active names, so a deactivated name makes room for another.
 */
export function NameState({ app, name, isActive }: NameStateProps) {
  const w = useWorld();
  const client = useQueryClient();
  const params = { path: { w, app, name } };
  const change = (done: string, request: () => Promise<unknown>): void =>
    void act(done, async () => {
      await request();
      await client.invalidateQueries({ queryKey: ["event-names", w, app] });
    });
  const deactivate = () =>
    change(`${name} deactivated: its events are refused from now on`, () =>
      dataOf(api.POST("/v1/worlds/{w}/app-events/{app}/names/{name}/deactivate", { params })),
    );
  const activate = () =>
    change(`${name} activated: its events are accepted again`, () =>
      dataOf(api.POST("/v1/worlds/{w}/app-events/{app}/names/{name}/activate", { params })),
    );
  if (isActive)
    return (
      <>
        active <Sure text="Deactivate" sure={`Deactivate ${name}; its events are refused from now on`} onSure={deactivate} />
      </>
    );
  return (
    <>
      deactivated{" "}
      <button type="button" onClick={activate} aria-label={`Activate ${name}`}>
        Activate
      </button>
    </>
  );
}
