import { useSearch } from "@tanstack/react-router";

/** The name of the world in the page's address. */
export const useWorld = (): string => useSearch({ strict: false, select: ({ world }: { world?: string | undefined }) => world ?? "default" });
