import type { Migration } from "#storage/database";

export const liveVideoMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE live_videos (
        page BIGINT NOT NULL, id BIGINT NOT NULL, title TEXT, description TEXT, state TEXT NOT NULL, embeddable INTEGER NOT NULL, place TEXT,
        countries TEXT NOT NULL, excluded_countries TEXT NOT NULL, planned_start_time BIGINT, creation_time BIGINT NOT NULL,
        broadcast_start_ms BIGINT, stream_key_hash TEXT, has_feed INTEGER NOT NULL, feed_session BIGINT NOT NULL, deadline_ms BIGINT,
        sealing_fails INTEGER NOT NULL, sealing_tries INTEGER NOT NULL, is_on_map INTEGER NOT NULL, takedown_reason TEXT, end_reason TEXT,
        feed_ingest TEXT, feed_width INTEGER, feed_height INTEGER, published_real_ms BIGINT, history TEXT NOT NULL, PRIMARY KEY (page, id)
      ) WITHOUT ROWID`,
      // An encoder sends only a stream key, so Plaza finds a video by the hash of its key.
      "CREATE INDEX live_videos_by_key ON live_videos (stream_key_hash) WHERE stream_key_hash IS NOT NULL",
      // C1-3: the live map has videos of all pages, so the index of the live map does not start with the page.
      "CREATE INDEX live_videos_on_map ON live_videos (id) WHERE is_on_map = 1",
      // The index finds the videos of a deleted place, because the text of the column `place` begins with the id of the place.
      "CREATE INDEX live_videos_by_place ON live_videos (place) WHERE place IS NOT NULL",
      // The index finds the feeds of an ingest process, which Plaza reads once a second.
      "CREATE INDEX live_videos_by_ingest ON live_videos (feed_ingest) WHERE feed_ingest IS NOT NULL",
      // The index finds the running broadcasts, which the console reads once a second.
      "CREATE INDEX live_videos_running ON live_videos (id) WHERE state IN ('live', 'reconnecting', 'key_replaced', 'key_dead', 'ending')",
      // The ingest processes that have feeds, each with the machine's time at which the process was last seen.
      "CREATE TABLE live_ingests (id TEXT NOT NULL, seen_ms BIGINT NOT NULL, PRIMARY KEY (id))",
      // LIVE-25: the pages that show a video, including the original page. The primary key sorts the rows in the order in which a page lists its
      // videos.
      `CREATE TABLE live_video_pages (
        page BIGINT NOT NULL, video BIGINT NOT NULL, original_page BIGINT NOT NULL, PRIMARY KEY (page, video)
      ) WITHOUT ROWID`,
      "CREATE INDEX live_video_pages_by_video ON live_video_pages (original_page, video, page)",
      `CREATE TABLE live_comments (
        page BIGINT NOT NULL, video BIGINT NOT NULL, id BIGINT NOT NULL, actor BIGINT NOT NULL, actor_type TEXT NOT NULL, message TEXT NOT NULL,
        created_time BIGINT NOT NULL, PRIMARY KEY (page, video, id)
      ) WITHOUT ROWID`,
      `CREATE TABLE live_reactions (
        page BIGINT NOT NULL, video BIGINT NOT NULL, actor BIGINT NOT NULL, actor_type TEXT NOT NULL, type TEXT NOT NULL, reacted_ms BIGINT NOT NULL,
        PRIMARY KEY (page, video, actor)
      ) WITHOUT ROWID`,
      "CREATE INDEX live_reactions_by_time ON live_reactions (page, video, reacted_ms, actor)",
      // The next two indexes find the comments and reactions of a deleted person or page.
      "CREATE INDEX live_comments_by_actor ON live_comments (actor)",
      "CREATE INDEX live_reactions_by_actor ON live_reactions (actor)",
    ],
  },
];
