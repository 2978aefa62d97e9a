/**
 * `receiving`: the file is being received. `pending`: the file or its address is stored. `running`: the file is being read, or will
 * be when another process has taken over. `done`: the feed shows its items. `failed`: the feed has not changed.
 */
export const uploadStatuses = ["receiving", "pending", "running", "done", "failed"] as const;
export type UploadStatus = (typeof uploadStatuses)[number];
