import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { useServer } from "../../api/queries.ts";
import { act, sayProblem } from "../../parts/notices.tsx";
import { Block, Code, CopyButton, Facts } from "../../parts/texts.tsx";
import { applyTheme, currentTheme, type Theme } from "../../shell/theme.ts";
import { useWorld } from "../../shell/world.ts";

const themes: readonly Theme[] = ["system", "light", "dark"];

export function Settings() {
  const [theme, setTheme] = useState(currentTheme());
  return (
    <div className="scroll">
      <Addresses />
      <Block isOwn title="Look">
        <div className="actions">
          {themes.map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={theme === name}
              onClick={() => {
                applyTheme(name);
                setTheme(name);
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </Block>
      <Keys />
      <Retention />
      <WorldFile />
    </div>
  );
}

function Addresses() {
  const server = useServer(useWorld());
  return (
    <Block isOwn title="Addresses">
      {server !== undefined && (
        <Facts
          facts={[
            [
              "Graph",
              <span key="base" className="mono">
                {server.base_url}
              </span>,
            ],
            [
              "App",
              <span key="app" className="mono">
                {server.app_base_url}
              </span>,
            ],
            [
              "Microblog",
              <span key="microblog" className="mono">
                {server.microblog_base_url}
              </span>,
            ],
            [
              "Ads",
              <span key="ads" className="mono">
                {server.ads_base_url}
              </span>,
            ],
            [
              "Social login",
              <span key="social" className="mono">
                {server.social_login_host}
              </span>,
            ],
            [
              "Live video",
              server.rtmp_url === undefined ? undefined : (
                <span key="rtmp" className="mono">
                  {server.rtmp_url}
                </span>
              ),
            ],
            ["Newest version", server.newest_version],
            ["Sandbox", server.sandbox ? "yes: demo data, known tokens" : "no"],
          ]}
        />
      )}
    </Block>
  );
}

/** A key's times are the machine's own, in seconds that are rounded up. */
const isValid = ({ expires_at }: { readonly expires_at: number }): boolean => expires_at === 0 || expires_at - 1 > Date.now() / 1000;

function Keys() {
  const client = useQueryClient();
  const [value, setValue] = useState<string>();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => dataOf(api.GET("/v1/control-keys", { params: { query: {} } })) }).data?.data ?? [];
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    try {
      const body = { access: String(given.get("access")) as "read", name: String(given.get("name")) };
      setValue((await dataOf(api.POST("/v1/control-keys", { body }))).key);
      await client.invalidateQueries({ queryKey: ["keys"] });
    } catch (error) {
      sayProblem(error);
    }
  };
  const end = (id: string) =>
    act("Ended", async () => {
      await dataOf(api.DELETE("/v1/control-keys/{id}", { params: { path: { id } } }));
      await client.invalidateQueries({ queryKey: ["keys"] });
    });
  return (
    <Block isOwn title="Control keys">
      <ul>
        {keys.filter(isValid).map(({ id, name, access }) => (
          <li key={id}>
            {name || id}, {access}{" "}
            <button type="button" className="danger" onClick={() => void end(id)}>
              End
            </button>
          </li>
        ))}
      </ul>
      <form className="actions" onSubmit={(event) => void make(event)}>
        <input name="name" aria-label="What the key is for" placeholder="What it is for" required />
        <select name="access" aria-label="Access">
          <option value="read">may read</option>
          <option value="full">may do everything</option>
        </select>
        <button type="submit">Make a key</button>
      </form>
      {value !== undefined && (
        <>
          <p>Its value is shown once:</p>
          <Code label="Value of the key" text={value} />
          <CopyButton label="Copy" text={value} />
        </>
      )}
    </Block>
  );
}

function Retention() {
  const w = useWorld();
  const client = useQueryClient();
  const path = "/v1/worlds/{w}/app-events-retention";
  const { data } = useQuery({ queryKey: ["retention", w], queryFn: () => dataOf(api.GET(path, { params: { path: { w } } })) });
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const days = Number(new FormData(event.currentTarget).get("days"));
    void act("Saved", async () => {
      await dataOf(api.PUT(path, { params: { path: { w } }, body: { days } }));
      await client.invalidateQueries({ queryKey: ["retention", w] });
    });
  };
  if (data === undefined) return null;
  return (
    <Block isOwn title="Raw app events">
      <form className="actions" onSubmit={save}>
        <label>
          Kept for <input name="days" type="number" min={0} defaultValue={data.days} required /> days; 0 is for good
        </label>
        <button type="submit">Save</button>
      </form>
    </Block>
  );
}

/** The whole world as a file, as an import takes it. */
function WorldFile() {
  const w = useWorld();
  const [secrets, setSecrets] = useState(false);
  const save = () =>
    act("Exported", async () => {
      const world = await dataOf(api.GET("/v1/worlds/{w}/export", { params: { path: { w }, query: { secrets } } }));
      const link = document.createElement("a");
      link.href = `data:application/json,${encodeURIComponent(JSON.stringify(world, undefined, 1))}`;
      link.download = `${w}.json`;
      link.click();
    });
  return (
    <Block isOwn title="World file">
      <div className="actions">
        <label>
          <input type="checkbox" checked={secrets} onChange={(event) => setSecrets(event.currentTarget.checked)} /> With the secrets of apps
        </label>
        <button type="button" onClick={() => void save()}>
          Export this world
        </button>
      </div>
      {secrets && <p className="quiet">Keep it as safe as the control key.</p>}
    </Block>
  );
}
