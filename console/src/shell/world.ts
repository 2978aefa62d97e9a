import { useSearch } from "@tanstack/react-router";

/** The world that the address names. */
export const useWorld = (): string => useSearch({ strict: false, select: ({ world }: { world?: string | undefined }) => world ?? "default" });
