import { defineSetting } from "#graph/contract/setting";

/** D-40. */
export const labelsPerPageMax = defineSetting({
  name: "labels_per_page_max",
  value: "N",
  minimum: 1,
  default: 5000,
  summary: "labels that a page can have",
});
