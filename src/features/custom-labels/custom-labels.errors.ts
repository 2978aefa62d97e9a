import { defineError, GraphError, invalidParameter } from "#kernel/errors";

export const unknownUserError = defineError({
  name: "unknownUser",
  status: 400,
  code: 100,
  subcode: 2018001,
  type: "OAuthException",
  when: "the page-scoped id does not belong to a person of the page",
  mend: "send the page-scoped id of one of the page's people",
});

export const unknownUser = (parameter: string): GraphError =>
  new GraphError(unknownUserError, "(#100) No matching user found", { data: { parameter } });

/** D-40: the error for a name that another label of the page has. The error about a used name contains the id of the label that has the name. */
export const duplicateLabelName = (existing: string): GraphError =>
  invalidParameter("page_label_name", `is already used by the label ${existing} of this page`, { label_id: existing });

export const tooManyLabels = (most: number): GraphError => invalidParameter("page_label_name", `is refused: the page already has ${most} labels`);
