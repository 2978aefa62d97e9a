import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const route = getRouteApi("/requests");

const statuses = [
  ["2", "Served"],
  ["4", "Refused"],
  ["5", "Failed"],
] as const;
const methods = ["GET", "POST", "DELETE"] as const;

type Name = "status" | "method" | "operation" | "app" | "search";

/** The filters of the list of requests. Each filter is a parameter of the page's address. */
export function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const set = (name: Name, value: string | undefined): void =>
    void navigate({ search: (before) => ({ ...before, [name]: value === "" ? undefined : value }), replace: true });
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <search className="bar" aria-label="Filter">
      <input
        ref={input}
        type="search"
        aria-label="Part of path, operation, query or trace id"
        placeholder="Path, operation, trace id ( / )"
        defaultValue={search.search ?? ""}
        onChange={(event) => set("search", event.target.value)}
      />
      {statuses.map(([digit, name]) => (
        <button
          type="button"
          key={digit}
          aria-pressed={search.status === digit}
          onClick={() => set("status", search.status === digit ? undefined : digit)}
        >
          {name} {digit}xx
        </button>
      ))}
      {methods.map((method) => (
        <button
          type="button"
          key={method}
          aria-pressed={search.method === method}
          onClick={() => set("method", search.method === method ? undefined : method)}
        >
          {method}
        </button>
      ))}
      {(["operation", "app"] as const).map(
        (name) =>
          search[name] !== undefined && (
            <button
              type="button"
              key={name}
              aria-pressed="true"
              aria-label={`Remove the filter ${name} ${search[name]}`}
              onClick={() => set(name, undefined)}
            >
              {name} {search[name]} ✕
            </button>
          ),
      )}
    </search>
  );
}
