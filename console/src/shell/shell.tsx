import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { readTail } from "../api/tail.ts";
import { Notices } from "../parts/notices.tsx";
import { Alerts } from "./alerts.tsx";
import { WorldClock } from "./clock.tsx";
import { Rate } from "./rate.tsx";
import { views } from "./views.ts";
import { useWorld } from "./world.ts";
import { WorldSwitcher } from "./world-switcher.tsx";

/** The command palette loads when a person opens it, because the first view does not need it. */
const Palette = lazy(() => import("./palette.tsx").then(({ Palette: component }) => ({ default: component })));

export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const world = useWorld();
  const pathname = useLocation({ select: (location) => location.pathname });
  const isFiltered = pathname === "/requests";
  useEffect(() => {
    // The view of requests is left out, because it reads the requests with its own filter.
    if (!isFiltered) readTail(world, {});
  }, [world, isFiltered]);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setPaletteOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <span className="brand">Plaza</span>
        <WorldSwitcher />
        <WorldClock />
        <span className="space" />
        <button type="button" className="search" onClick={() => setPaletteOpen(true)}>
          <span>Search or command</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span className="space" />
        <div className="now">
          <Rate />
          <Alerts />
        </div>
      </header>
      <nav className="side" aria-label="Views">
        <ul>
          {views.map(({ path, name }) => (
            <li key={path}>
              <Link to={path} search={(search) => ({ world: search.world })} activeOptions={{ includeSearch: false }}>
                {name}
              </Link>
            </li>
          ))}
          <li className="aside">
            <a href="/docs">API reference</a>
          </li>
        </ul>
      </nav>
      <main className="main" id="main" tabIndex={-1}>
        <h1 className="hidden">{views.find(({ path }) => path === pathname)?.name ?? "Plaza"}</h1>
        <Suspense>
          <Outlet />
        </Suspense>
      </main>
      <Notices />
      <Suspense>{isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}</Suspense>
    </div>
  );
}
