/** The colour theme of the console: the system's own theme unless the person chooses one. */
export type Theme = "system" | "light" | "dark";

const NAME = "plaza.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

export const currentTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(NAME)) ?? "system";

export function applyTheme(theme = currentTheme()): void {
  localStorage.setItem(NAME, theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
