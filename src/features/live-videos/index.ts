/** The public API of the live-videos feature, which serves the live videos of pages (C1, C2) and their lifecycle (D-51). */

import { nobody } from "#auth/policy";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveList, serveListOf, serveWrite } from "#graph/contract/operation";
import { createComment, createReaction, listComments, listReactions } from "./audience/audience.contract.ts";
import { handleCreateComment, handleCreateReaction, handleListComments, handleListReactions } from "./audience/audience.handlers.ts";
import { deleteActor } from "./audience/audience.store.ts";
import { commentSection, reactionSection } from "./audience/audience.world.ts";
import { feedControlRoutes } from "./ingest/feed.control.ts";
import { dropRecording, liveVideoDeadlines, recordingRemovals } from "./lifecycle/transitions.ts";
import {
  createLiveVideo,
  deleteLiveVideo,
  listLiveMap,
  listLiveVideos,
  liveVideoNode,
  readLiveVideo,
  updateLiveVideo,
} from "./live-videos.contract.ts";
import { liveVideoAlerts, liveVideoControlRoutes } from "./live-videos.control.ts";
import {
  handleCreateLiveVideo,
  handleDeleteLiveVideo,
  handleListLiveMap,
  handleUpdateLiveVideo,
  untilEncodersCanConnect,
} from "./live-videos.handlers.ts";
import { liveVideoMigrations } from "./live-videos.migrations.ts";
import { liveMap, liveVideo, liveVideoReading } from "./live-videos.policies.ts";
import {
  deleteVideosOfPage,
  findVideo,
  forgetPlace,
  isShown,
  type LiveVideoRow,
  listPagesOfVideos,
  listReadingPages,
  listVideosOfPage,
} from "./live-videos.store.ts";
import { liveVideoWebhook } from "./live-videos.webhooks.ts";
import { liveVideoSection } from "./live-videos.world.ts";

export { FeedRegistry } from "./ingest/feed-registry.ts";
export type { FeedHealth } from "./ingest/health.ts";
export { isStreamKey } from "./lifecycle/feed.ts";
export { worldOfKey } from "./lifecycle/transitions.ts";
export { findSegment, openPlayer, type PlaybackRefusal, readPlaylist } from "./playback/playback.ts";
export type { Viewer } from "./viewing/watching.ts";

export const liveVideos = defineFeature({
  name: "live-videos",
  migrations: liveVideoMigrations,
  policies: [liveVideo, liveVideoReading, liveMap],
  nodeTypes: [
    nodeType<LiveVideoRow>({
      type: "live_video",
      policy: liveVideoReading,
      reading: {
        ...readLiveVideo,
        set: liveVideoNode,
        async find(_request, reader, node) {
          return findVideo(reader, node.owner, node.id);
        },
      },
    }),
    { type: "live_comment", policy: nobody },
  ],
  operations: [
    serveListOf(listLiveVideos, listVideosOfPage),
    serveList(listLiveMap, handleListLiveMap),
    serveWrite(createLiveVideo, handleCreateLiveVideo, untilEncodersCanConnect),
    serveWrite(updateLiveVideo, handleUpdateLiveVideo, untilEncodersCanConnect),
    serveWrite(deleteLiveVideo, handleDeleteLiveVideo),
    serveList(listComments, handleListComments),
    serveWrite(createComment, handleCreateComment),
    serveList(listReactions, handleListReactions),
    serveWrite(createReaction, handleCreateReaction),
  ],
  jobs: [liveVideoDeadlines, recordingRemovals],
  controlRoutes: [...liveVideoControlRoutes, ...feedControlRoutes],
  alerts: liveVideoAlerts,
  webhookFields: [liveVideoWebhook],
  worldSections: [liveVideoSection, commentSection, reactionSection],
  needs: ["page", "page_role", "place"],
  ports: () => ({
    live_video: { isShown, crosspostedPages: listPagesOfVideos, readingPages: listReadingPages },
  }),
  async onOwnerDeleted(tx, owner, world) {
    for (const id of await deleteVideosOfPage(tx, owner)) await dropRecording(tx, world, id);
    await forgetPlace(tx, owner);
    await deleteActor(tx, owner);
  },
});
