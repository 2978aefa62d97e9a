/** The command palette: finds every view and every command by a part of its name. */
import * as Dialog from "@radix-ui/react-dialog";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { queryClient, serverQuery } from "../api/queries.ts";
import { endTail } from "../api/tail.ts";
import { dropKey } from "../session/key.ts";
import { ALERTS_ID } from "./alerts.tsx";
import { advance, freeze, jumpToNext } from "./clock-actions.ts";
import { applyTheme, type Theme } from "./theme.ts";
import { views } from "./views.ts";
import { useWorld } from "./world.ts";

interface Command {
  readonly name: string;
  readonly kind: string;
  run(): void;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const steps = [
  ["1 minute", MINUTE],
  ["1 hour", HOUR],
  ["1 day", DAY],
  ["30 days", 30 * DAY],
] as const;

function useCommands(): readonly Command[] {
  const world = useWorld();
  const navigate = useNavigate();
  return [
    ...views.map(({ path, name, about }) => ({ name: `${name}: ${about}`, kind: "view", run: () => void navigate({ to: path, search: { world } }) })),
    { name: "API reference: every request of the graph and of the control API", kind: "document", run: () => location.assign("/docs") },
    { name: "Alerts: what needs attention", kind: "list", run: () => document.getElementById(ALERTS_ID)?.showPopover() },
    { name: "Stop the clock", kind: "clock", run: () => void freeze(world, true) },
    { name: "Let the clock run", kind: "clock", run: () => void freeze(world, false) },
    { name: "Jump to the next deadline", kind: "clock", run: () => void jumpToNext(world) },
    ...steps.map(([text, seconds]) => ({ name: `Move the clock by ${text}`, kind: "clock", run: () => void advance(world, seconds) })),
    ...(["light", "dark", "system"] as const).map((theme: Theme) => ({ name: `Theme: ${theme}`, kind: "look", run: () => applyTheme(theme) })),
    { name: "Sign out", kind: "session", run: signOut },
  ];
}

/** Returns whether a name contains each of the typed words. */
function isFound(name: string, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/);
  return words.every((word) => name.toLowerCase().includes(word));
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const commands = useCommands();
  const [typed, type] = useState("");
  const [at, goTo] = useState(0);
  const found = commands.filter(({ name }) => isFound(name, typed));
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const walk = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(found[at]);
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + found.length) % found.length;
    goTo(next);
    document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="window palette" aria-describedby={undefined}>
          <Dialog.Title className="hidden">Commands</Dialog.Title>
          <input
            role="combobox"
            aria-label="Search or command"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={found.length === 0 ? undefined : `command-${at}`}
            placeholder="Search or command"
            value={typed}
            onChange={({ target }) => {
              type(target.value);
              goTo(0);
            }}
            onKeyDown={walk}
          />
          <div role="listbox" id="commands" aria-label="Commands">
            {found.map((command, index) => (
              <div role="option" id={`command-${index}`} key={command.name} aria-selected={index === at} tabIndex={-1} onClick={() => run(command)}>
                <span>{command.name}</span>
                <span className="quiet">{command.kind}</span>
              </div>
            ))}
          </div>
          {found.length === 0 && <p className="block quiet">No view or command has these words.</p>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function signOut(): void {
  dropKey();
  endTail();
  // The server refuses this request because the tab has forgotten the key, and after the refusal the console shows the sign-in form.
  void queryClient.fetchQuery({ ...serverQuery, staleTime: 0 }).catch(() => {});
}
