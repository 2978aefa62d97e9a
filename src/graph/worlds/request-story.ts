/** How a request came to its response, for people who look: what was understood, who asked, which version and policy decided, what it caused. */
export interface RequestStory {
  /** Where the time went, in order. A request that was refused ends with the step that refused it. */
  readonly steps: readonly { readonly name: StoryStep; readonly duration_ms: number }[];
  readonly credentials: readonly StoryCredential[];
  readonly node?: { readonly id: string; readonly type: string };
  readonly version: {
    /** As in the path; left out where it named none. */
    readonly asked?: string;
    readonly served?: string;
    readonly upgraded_from?: string;
  };
  /** Who may: by which policy, and what it asks for. */
  readonly policy?: { readonly name: string; readonly summary: string; readonly kinds: readonly string[]; readonly scopes: readonly string[] };
  /** The node is there, but the caller may not know it. */
  readonly is_concealed?: true;
  /** JSON of the parameters as the contract understood them, its first 4,096 characters, without the values of secrets. */
  readonly parameters?: string;
  /** The error's name in the catalogue. */
  readonly error?: string;
  /** JSON of the fault that it met (D-150). */
  readonly fault?: string;
  /** The webhooks that were stored with what it wrote. */
  readonly deliveries: readonly string[];
}

/**
 * `understand` is address to endpoint; `check` visibility to parameters, and what a write asks a network before; `respond` fields, and changes
 * back to the version.
 */
export type StoryStep = "understand" | "check" | "handle" | "respond";

export interface StoryCredential {
  readonly place: string;
  readonly type?: string;
  /** The token's id; left out where it is none that is stored. */
  readonly token?: string;
  readonly app?: string;
  /** Why it does not count. */
  readonly refusal?: string;
}
