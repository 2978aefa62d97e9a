import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { readTail, useTail } from "../api/tail.ts";
import { Icon, VIEW_ICONS } from "../parts/icon.tsx";
import { Notices } from "../parts/notices.tsx";
import { Skeleton } from "../parts/texts.tsx";
import { Alerts } from "./alerts.tsx";
import { ClockBand, WorldClock } from "./clock.tsx";
import { ServerGone, WorldThere } from "./missing.tsx";
import { Rate } from "./rate.tsx";
import { views } from "./views.ts";
import { useWorld } from "./world.ts";
import { WorldSwitcher } from "./world-switcher.tsx";

/** The command palette loads when a person opens it, because the first view does not need it. */
const Palette = lazy(() => import("./palette.tsx").then(({ Palette: component }) => ({ default: component })));

const groups = [...new Set(views.map(({ group }) => group))];

export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const world = useWorld();
  const isGone = useTail().state === "gone";
  const pathname = useLocation({ select: (location) => location.pathname });
  const view = views.find(({ path }) => path === pathname);
  const isFiltered = pathname === "/requests";
  useEffect(() => {
    // The view of requests is left out, because it reads the requests with filters of its own.
    if (!isFiltered) readTail(world, {});
  }, [world, isFiltered]);
  useShortcut(setPaletteOpen);
  useEffect(() => {
    document.title = `${isGone ? "Server gone" : (view?.name ?? "Nothing here")} · ${world} · Plaza`;
  }, [view, world, isGone]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <button type="button" className="plain menu" aria-expanded={isMenuOpen} aria-controls="views" onClick={() => setMenuOpen(!isMenuOpen)}>
          <Icon name="menu" />
          <span className="hidden">Views</span>
        </button>
        <span className="brand">Plaza</span>
        <WorldSwitcher />
        <button type="button" className="search" onClick={() => setPaletteOpen(true)}>
          <Icon name="search" />
          <span className="word">Search or command</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Rate />
        <Alerts />
        <WorldClock />
      </header>
      <Navigation isOpen={isMenuOpen} onFollowed={() => setMenuOpen(false)} />
      <main className="main" id="main" tabIndex={-1}>
        {!isGone && <ClockBand />}
        {isGone && <ServerGone />}
        {/* The view stays as it is while the server is gone, so that nothing that a person has typed is lost. */}
        <div className="view" hidden={isGone}>
          {view !== undefined && (
            <div className="view-head">
              <h1>{view.name}</h1>
              <p className="quiet">{view.about}</p>
            </div>
          )}
          <WorldThere>
            <Suspense fallback={<Skeleton lines={6} />}>
              <Outlet />
            </Suspense>
          </WorldThere>
        </div>
      </main>
      <Notices />
      <Suspense>{isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}</Suspense>
    </div>
  );
}

/** Ctrl K opens the command palette in every view. */
function useShortcut(onOpen: (isOpen: boolean) => void): void {
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, [onOpen]);
}

interface NavigationProps {
  /** Whether the menu of a narrow window is open. A wide window always shows the views. */
  readonly isOpen: boolean;
  readonly onFollowed: () => void;
}

function Navigation({ isOpen, onFollowed }: NavigationProps) {
  return (
    <nav className="side" id="views" aria-label="Views" data-open={isOpen ? "" : undefined}>
      {groups.map((group) => (
        <ul key={group} aria-label={group}>
          {views
            .filter((one) => one.group === group)
            .map(({ path, name }) => (
              <li key={path}>
                <Link to={path} search={(search) => ({ world: search.world })} activeOptions={{ includeSearch: false }} onClick={onFollowed}>
                  <Icon name={VIEW_ICONS[path]} />
                  {name}
                </Link>
              </li>
            ))}
        </ul>
      ))}
      <ul>
        <li>
          <a href="/docs">
            <Icon name="book-open" />
            API reference
          </a>
        </li>
      </ul>
    </nav>
  );
}
