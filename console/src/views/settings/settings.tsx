import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, dataOf } from "../../api/client.ts";
import { useServer } from "../../api/queries.ts";
import { act } from "../../parts/notices.tsx";
import { Block, Facts } from "../../parts/texts.tsx";
import { applyTheme, currentTheme, type Theme } from "../../shell/theme.ts";
import { useWorld } from "../../shell/world.ts";
import { Keys } from "./keys.tsx";
import { SealingKey, Server } from "./server.tsx";

const themes: readonly Theme[] = ["system", "light", "dark"];

export function Settings() {
  const [theme, setTheme] = useState(currentTheme());
  return (
    <div className="scroll">
      <Addresses />
      <Block isOwn title="Theme">
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
      <SealingKey />
      <Server />
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
          Kept for <input name="days" type="number" min={0} defaultValue={data.days} required /> days (0: forever)
        </label>
        <button type="submit">Save</button>
      </form>
    </Block>
  );
}
