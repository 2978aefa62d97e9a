/** The public API of the custom-labels feature, which serves the labels of a page's conversations (A1 to A6). */

import { pageMessaging } from "#features/pages/api";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveList, serveListOf, serveWrite } from "#graph/contract/operation";
import {
  attachLabelOperation,
  createLabel,
  deleteLabelOperation,
  detachLabelOperation,
  labelNode,
  listLabels,
  listLabelsOfUser,
  readLabel,
} from "./custom-labels.contract.ts";
import { unknownUserError } from "./custom-labels.errors.ts";
import {
  handleAttachLabel,
  handleCreateLabel,
  handleDeleteLabel,
  handleDetachLabel,
  handleListLabelsOfUser,
  labelsPerPageMax,
} from "./custom-labels.handlers.ts";
import { customLabelMigrations, deleteLabelsOfPage, detachAll, findLabel, type LabelRow, listLabelsOfPage } from "./custom-labels.store.ts";
import { labelWebhook } from "./custom-labels.webhooks.ts";
import { labelSection } from "./custom-labels.world.ts";

export const customLabels = defineFeature({
  name: "custom-labels",
  migrations: customLabelMigrations,
  errors: [unknownUserError],
  nodeTypes: [
    nodeType<LabelRow>({
      type: "label",
      policy: pageMessaging,
      reading: { ...readLabel, set: labelNode, find: (_request, reader, node) => findLabel(reader, node.owner, node.id) },
    }),
  ],
  operations: [
    serveListOf(listLabels, listLabelsOfPage),
    serveList(listLabelsOfUser, handleListLabelsOfUser),
    serveWrite(createLabel, handleCreateLabel),
    serveWrite(deleteLabelOperation, handleDeleteLabel),
    serveWrite(attachLabelOperation, handleAttachLabel),
    serveWrite(detachLabelOperation, handleDetachLabel),
  ],
  webhookFields: [labelWebhook],
  worldSections: [labelSection],
  settings: [labelsPerPageMax],
  onOwnerDeleted: deleteLabelsOfPage,
  needs: ["page"],
  ports: () => ({
    label_writes: { detachAll },
  }),
});
