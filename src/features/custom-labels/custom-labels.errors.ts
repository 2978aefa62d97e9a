import { type GraphError, invalidParameter } from "#kernel/errors";

/** D-40: a second label of that name on the page; the existing one is named. */
export const duplicateLabelName = (existing: string): GraphError =>
  invalidParameter("page_label_name", `is already used by the label ${existing} of this page`, { label_id: existing });

export const tooManyLabels = (most: number): GraphError => invalidParameter("page_label_name", `is refused: the page already has ${most} labels`);
