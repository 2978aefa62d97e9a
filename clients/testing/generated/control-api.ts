/** Written by `npm run docs` from the routes of the control API; changes by hand are lost. */

/** Entries of a world file, by their key. */
export interface Entries {
  users: {
    readonly id: string;
    readonly name?: string;
  };
  businesses: {
    readonly id: string;
    readonly name?: string;
    readonly people?: readonly ({
      readonly user: string;
    })[];
  };
  apps: {
    readonly id: string;
    readonly name?: string;
    readonly secret?: string;
    readonly mode?: "live" | "development";
    readonly created_time?: number | string;
    readonly marketing_first_used_time?: number | string;
    readonly auto_upgrade?: boolean;
    readonly require_appsecret_proof?: boolean;
    readonly allow_tokenless_events?: boolean;
    readonly automatic_event_logging?: boolean;
    readonly access_level?: "standard" | "advanced";
    readonly messaging_access?: boolean;
    readonly callback?: {
      readonly url: string;
      readonly verify_token?: string;
      readonly verified?: boolean;
    };
    readonly subscriptions?: readonly ({
      readonly object: "social" | "chatapp_business_account" | "page" | "catalog";
      readonly fields: readonly (string)[];
      readonly callback?: {
        readonly url: string;
        readonly verify_token?: string;
        readonly verified?: boolean;
      };
    })[];
    readonly roles?: readonly ({
      readonly user?: string;
      readonly microblog_user?: string;
      readonly role: "administrator" | "developer" | "tester" | "analyst" | "microblog_tester";
    })[];
    readonly event_name_limit?: number;
    readonly migrations?: { readonly [name: string]: boolean };
  };
  pages: {
    readonly id: string;
    readonly name?: string;
    readonly people?: readonly ({
      readonly psid: string;
      readonly name?: string;
    })[];
    readonly roles?: readonly ({
      readonly user: string;
      readonly tasks?: readonly ("MANAGE" | "CREATE_CONTENT" | "MODERATE" | "MESSAGING" | "ADVERTISE" | "ANALYZE")[];
      readonly via_business?: boolean;
    })[];
    readonly subscribed_apps?: readonly ({
      readonly app: string;
      readonly subscribed_fields: readonly (string)[];
    })[];
  };
  social_accounts: {
    readonly id: string;
    readonly username?: string;
    readonly social_scoped_id?: string;
    readonly page?: string;
    readonly user?: string;
    readonly professional?: boolean;
    readonly app_connections?: readonly (string)[];
  };
  microblog_users: {
    readonly id: string;
    readonly username?: string;
    readonly user?: string;
  };
  labels: {
    readonly id: string;
    readonly page: string;
    readonly name: string;
    readonly users?: readonly (string)[];
  };
  personas: {
    readonly id: string;
    readonly page: string;
    readonly name?: string;
    readonly profile_picture_url?: string;
  };
  required_actions: {
    readonly id: string;
    readonly app: string;
    readonly title?: string;
    readonly description?: string;
    readonly due_date?: number | string;
    readonly status?: "completed" | "in_progress" | "in_review" | "past_due";
  };
  places: {
    readonly id: string;
    readonly name?: string;
    readonly location?: {
      readonly latitude: number;
      readonly longitude: number;
    };
  };
  live_videos: {
    readonly id: string;
    readonly page: string;
    readonly title?: string;
    readonly description?: string;
    readonly status?: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED";
    readonly condition?: "reconnecting" | "key_dead" | "ending" | "taken_down" | "lapsed";
    readonly deadline?: number | string;
    readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
    readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
    readonly embeddable?: boolean;
    readonly place?: string | {
      readonly id?: string;
      readonly location?: {
        readonly latitude: number;
        readonly longitude: number;
      };
    };
    readonly targeting?: {
      readonly geo_locations?: {
        readonly countries: readonly (string)[];
      };
      readonly excluded_countries?: readonly (string)[];
    };
    readonly crossposted_pages?: readonly (string)[];
    readonly planned_start_time?: number | string;
    readonly creation_time?: number | string;
    readonly broadcast_start_time?: number | string;
    readonly stream_key?: string;
    readonly stream_key_sha256?: string;
    readonly sealing_fails?: boolean;
  };
  live_comments: {
    readonly id: string;
    readonly live_video: string;
    readonly from: string;
    readonly message: string;
    readonly created_time?: number | string;
  };
  live_reactions: {
    readonly live_video: string;
    readonly from: string;
    readonly type?: "LIKE" | "LOVE" | "CARE" | "HAHA" | "WOW" | "SAD" | "ANGRY";
    readonly time?: number | string;
  };
  media: {
    readonly id: string;
    readonly owner: string;
    readonly media_type?: "IMAGE" | "VIDEO" | "CAROUSEL_ALBUM";
    readonly media_product_type?: "FEED" | "REELS" | "STORY" | "AD";
    readonly caption?: string;
    readonly timestamp?: number | string;
    readonly private?: boolean;
    readonly tagged?: readonly (string)[];
    readonly media_url?: string;
    readonly permalink?: string;
    readonly thumbnail_url?: string;
    readonly shortcode?: string;
    readonly like_count?: number;
    readonly comments_count?: number;
    readonly children?: readonly (string)[];
  };
  microblog_media: {
    readonly id: string;
    readonly owner: string;
    readonly text?: string;
    readonly timestamp?: number | string;
  };
  activity: {
    readonly target: string;
    readonly metric: "views" | "likes" | "replies" | "reposts" | "quotes" | "shares" | "clicks";
    readonly time?: number | string;
    readonly value?: number;
    readonly link_url?: string;
  };
  followers: {
    readonly microblog_user: string;
    readonly country?: string;
    readonly city?: string;
    readonly age?: string;
    readonly gender?: string;
    readonly count?: number;
    readonly time?: number | string;
  };
  catalogs: {
    readonly id: string;
    readonly page: string;
    readonly name?: string;
    readonly vertical?: "commerce";
    readonly business?: string;
    readonly external_business_id?: string;
    readonly agencies?: readonly ({
      readonly business: string;
      readonly permitted_tasks: readonly ("240588526848665" | "2015469438531460")[];
    })[];
  };
  product_feeds: {
    readonly id: string;
    readonly catalog: string;
    readonly name?: string;
    readonly schedule?: {
      readonly interval: "HOURLY" | "DAILY" | "WEEKLY" | "MONTHLY";
      /** every so many hours, days, weeks or months */
      readonly interval_count?: number;
      /** the address of the file */
      readonly url: string;
      readonly hour?: number;
      readonly minute?: number;
      /** of WEEKLY */
      readonly day_of_week?: "MONDAY" | "TUESDAY" | "WEDNESDAY" | "THURSDAY" | "FRIDAY" | "SATURDAY" | "SUNDAY";
      /** of MONTHLY; in a shorter month its last day */
      readonly day_of_month?: number;
      /** a name of the time zone database, e.g. Europe/Berlin */
      readonly timezone?: string;
    };
    readonly update_schedule?: {
      readonly interval: "HOURLY" | "DAILY" | "WEEKLY" | "MONTHLY";
      /** every so many hours, days, weeks or months */
      readonly interval_count?: number;
      /** the address of the file */
      readonly url: string;
      readonly hour?: number;
      readonly minute?: number;
      /** of WEEKLY */
      readonly day_of_week?: "MONDAY" | "TUESDAY" | "WEDNESDAY" | "THURSDAY" | "FRIDAY" | "SATURDAY" | "SUNDAY";
      /** of MONTHLY; in a shorter month its last day */
      readonly day_of_month?: number;
      /** a name of the time zone database, e.g. Europe/Berlin */
      readonly timezone?: string;
    };
    readonly items?: readonly ({
      readonly id?: string;
      readonly retailer_id: string;
      readonly name: string;
      readonly image_url: string;
      readonly url: string;
      readonly description?: string | number;
      readonly price?: string | number;
      readonly sale_price?: string | number;
      readonly currency?: string | number;
      readonly brand?: string | number;
      readonly publication_category?: string | number;
      readonly date_published?: string | number;
      readonly author?: string | number;
      readonly genre?: string | number;
      readonly in_language?: string | number;
      readonly user_rating?: string | number;
      readonly rating_count?: string | number;
      readonly availability?: string | number;
      readonly custom_label_0?: string | number;
      readonly custom_label_1?: string | number;
      readonly custom_label_2?: string | number;
      readonly custom_label_3?: string | number;
      readonly custom_label_4?: string | number;
    })[];
  };
  chatapp_accounts: {
    readonly id: string;
    readonly name?: string;
    readonly business?: string;
    readonly subscribed_apps?: readonly ({
      readonly app: string;
      readonly override_callback_uri?: string;
    })[];
  };
  phone_numbers: {
    readonly id: string;
    readonly account: string;
    readonly display_phone_number?: string;
    readonly verified_name?: string;
    readonly overrides?: readonly ({
      readonly app: string;
      readonly override_callback_uri: string;
    })[];
  };
  solutions: {
    readonly id: string;
    readonly name?: string;
    readonly owner_app: string;
  };
  migration_intents: {
    readonly id: string;
    readonly waba: string;
    readonly destination_waba?: string;
    readonly solution?: string;
    readonly status?: "INITIATED" | "ACCEPTED" | "COMPLETED" | "REJECTED";
  };
  ads: {
    readonly id: string;
    readonly app: string;
    readonly campaign_id?: string;
    readonly objective?: string;
    readonly tracked_apps?: readonly (string)[];
  };
}

/** Nodes as the control API returns them, by the key of a world file. */
export interface Nodes {
  users: {
    readonly id: string;
    readonly name?: string;
  };
  businesses: {
    readonly id: string;
    readonly name?: string;
    readonly people: readonly ({
      readonly user: string;
    })[];
  };
  apps: {
    readonly id: string;
    readonly name?: string;
    readonly secret?: string;
    readonly mode?: "live" | "development";
    readonly created_time?: number;
    readonly marketing_first_used_time?: number;
    readonly auto_upgrade?: boolean;
    readonly require_appsecret_proof?: boolean;
    readonly allow_tokenless_events?: boolean;
    readonly automatic_event_logging?: boolean;
    readonly access_level?: "standard" | "advanced";
    readonly messaging_access?: boolean;
    readonly callback?: {
      readonly url: string;
      readonly verify_token?: string;
      readonly verified?: boolean;
    };
    readonly subscriptions: readonly ({
      readonly object: "social" | "chatapp_business_account" | "page" | "catalog";
      readonly fields: readonly (string)[];
      readonly callback?: {
        readonly url: string;
        readonly verify_token?: string;
        readonly verified?: boolean;
      };
    })[];
    readonly roles?: readonly ({
      readonly user?: string;
      readonly microblog_user?: string;
      readonly role: "administrator" | "developer" | "tester" | "analyst" | "microblog_tester";
    })[];
    readonly event_name_limit?: number;
    readonly migrations?: { readonly [name: string]: boolean };
  };
  pages: {
    readonly id: string;
    readonly name?: string;
    readonly people?: readonly ({
      readonly psid: string;
      readonly name?: string;
    })[];
    readonly roles?: readonly ({
      readonly user: string;
      readonly tasks?: readonly ("MANAGE" | "CREATE_CONTENT" | "MODERATE" | "MESSAGING" | "ADVERTISE" | "ANALYZE")[];
      readonly via_business?: boolean;
    })[];
    readonly subscribed_apps: readonly ({
      readonly app: string;
      readonly subscribed_fields: readonly (string)[];
    })[];
  };
  social_accounts: {
    readonly id: string;
    readonly username?: string;
    readonly social_scoped_id?: string;
    readonly page?: string;
    readonly user?: string;
    readonly professional?: boolean;
    readonly app_connections?: readonly (string)[];
  };
  microblog_users: {
    readonly id: string;
    readonly username?: string;
    readonly user?: string;
  };
  labels: {
    readonly id: string;
    readonly page: string;
    readonly name: string;
    readonly users?: readonly (string)[];
  };
  personas: {
    readonly id: string;
    readonly page: string;
    readonly name?: string;
    readonly profile_picture_url?: string;
  };
  required_actions: {
    readonly id: string;
    readonly app: string;
    readonly title: string;
    readonly description?: string;
    readonly due_date?: number;
    readonly status: "completed" | "in_progress" | "in_review" | "past_due";
  };
  places: {
    readonly id: string;
    readonly name: string;
    readonly location?: {
      readonly latitude: number;
      readonly longitude: number;
    };
  };
  live_videos: {
    readonly id: string;
    readonly page: string;
    readonly title?: string;
    readonly description?: string;
    readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED";
    readonly condition?: "reconnecting" | "key_dead" | "ending" | "taken_down" | "lapsed";
    readonly deadline?: number;
    readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
    readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
    readonly embeddable: boolean;
    readonly place?: string | {
      readonly id?: string;
      readonly location?: {
        readonly latitude: number;
        readonly longitude: number;
      };
    };
    readonly targeting?: {
      readonly geo_locations?: {
        readonly countries: readonly (string)[];
      };
      readonly excluded_countries?: readonly (string)[];
    };
    readonly crossposted_pages: readonly (string)[];
    readonly planned_start_time?: number;
    readonly creation_time?: number;
    readonly broadcast_start_time?: number;
    readonly stream_key?: string;
    readonly stream_key_sha256?: string;
    readonly sealing_fails: boolean;
  };
  live_comments: {
    readonly id: string;
    readonly live_video: string;
    readonly from: string;
    readonly message: string;
    readonly created_time?: number;
  };
  live_reactions: {
    readonly live_video: string;
    readonly from: string;
    readonly type: "LIKE" | "LOVE" | "CARE" | "HAHA" | "WOW" | "SAD" | "ANGRY";
    readonly time?: number;
  };
  media: {
    readonly id: string;
    readonly owner: string;
    readonly media_type: "IMAGE" | "VIDEO" | "CAROUSEL_ALBUM";
    readonly media_product_type: "FEED" | "REELS" | "STORY" | "AD";
    readonly caption?: string;
    readonly timestamp?: number;
    readonly private: boolean;
    readonly tagged: readonly (string)[];
    readonly media_url?: string;
    readonly permalink?: string;
    readonly thumbnail_url?: string;
    readonly shortcode?: string;
    readonly like_count: number;
    readonly comments_count: number;
    readonly children: readonly (string)[];
  };
  microblog_media: {
    readonly id: string;
    readonly owner: string;
    readonly text: string;
    readonly timestamp?: number;
  };
  activity: {
    readonly target: string;
    readonly metric: "views" | "likes" | "replies" | "reposts" | "quotes" | "shares" | "clicks";
    readonly time?: number;
    readonly value: number;
    readonly link_url?: string;
  };
  followers: {
    readonly microblog_user: string;
    readonly country: string;
    readonly city: string;
    readonly age: string;
    readonly gender: string;
    readonly count: number;
    readonly time?: number;
  };
  catalogs: {
    readonly id: string;
    readonly page: string;
    readonly name: string;
    readonly vertical: "commerce";
    readonly business?: string;
    readonly external_business_id?: string;
    readonly agencies: readonly ({
      readonly business: string;
      readonly permitted_tasks: readonly ("240588526848665" | "2015469438531460")[];
    })[];
  };
  product_feeds: {
    readonly id: string;
    readonly catalog: string;
    readonly name: string;
    readonly schedule?: {
      readonly interval: "HOURLY" | "DAILY" | "WEEKLY" | "MONTHLY";
      /** every so many hours, days, weeks or months */
      readonly interval_count: number;
      /** the address of the file */
      readonly url: string;
      readonly hour: number;
      readonly minute: number;
      /** of WEEKLY */
      readonly day_of_week: "MONDAY" | "TUESDAY" | "WEDNESDAY" | "THURSDAY" | "FRIDAY" | "SATURDAY" | "SUNDAY";
      /** of MONTHLY; in a shorter month its last day */
      readonly day_of_month: number;
      /** a name of the time zone database, e.g. Europe/Berlin */
      readonly timezone: string;
    };
    readonly update_schedule?: {
      readonly interval: "HOURLY" | "DAILY" | "WEEKLY" | "MONTHLY";
      /** every so many hours, days, weeks or months */
      readonly interval_count: number;
      /** the address of the file */
      readonly url: string;
      readonly hour: number;
      readonly minute: number;
      /** of WEEKLY */
      readonly day_of_week: "MONDAY" | "TUESDAY" | "WEDNESDAY" | "THURSDAY" | "FRIDAY" | "SATURDAY" | "SUNDAY";
      /** of MONTHLY; in a shorter month its last day */
      readonly day_of_month: number;
      /** a name of the time zone database, e.g. Europe/Berlin */
      readonly timezone: string;
    };
    readonly items: readonly ({
      readonly id?: string;
      readonly retailer_id: string;
      readonly name: string;
      readonly image_url: string;
      readonly url: string;
      readonly description?: string | number;
      readonly price?: string | number;
      readonly sale_price?: string | number;
      readonly currency?: string | number;
      readonly brand?: string | number;
      readonly publication_category?: string | number;
      readonly date_published?: string | number;
      readonly author?: string | number;
      readonly genre?: string | number;
      readonly in_language?: string | number;
      readonly user_rating?: string | number;
      readonly rating_count?: string | number;
      readonly availability?: string | number;
      readonly custom_label_0?: string | number;
      readonly custom_label_1?: string | number;
      readonly custom_label_2?: string | number;
      readonly custom_label_3?: string | number;
      readonly custom_label_4?: string | number;
    })[];
  };
  chatapp_accounts: {
    readonly id: string;
    readonly name: string;
    readonly business?: string;
    readonly subscribed_apps: readonly ({
      readonly app: string;
      readonly override_callback_uri?: string;
    })[];
  };
  phone_numbers: {
    readonly id: string;
    readonly account: string;
    readonly display_phone_number: string;
    readonly verified_name: string;
    readonly overrides: readonly ({
      readonly app: string;
      readonly override_callback_uri: string;
    })[];
  };
  solutions: {
    readonly id: string;
    readonly name: string;
    readonly owner_app: string;
  };
  migration_intents: {
    readonly id: string;
    readonly waba: string;
    readonly destination_waba?: string;
    readonly solution?: string;
    readonly status: "INITIATED" | "ACCEPTED" | "COMPLETED" | "REJECTED";
  };
  ads: {
    readonly id: string;
    readonly app: string;
    readonly campaign_id?: string;
    readonly objective: string;
    readonly tracked_apps: readonly (string)[];
  };
}

export type TokenEntry = {
  /** the value; ASCII without spaces and | */
  readonly token?: string;
  /** in place of the value, as an export writes it: its SHA-256, hex */
  readonly token_sha256?: string;
  readonly type: "app" | "user" | "page" | "social_user" | "microblog_user" | "system_user";
  readonly app: string;
  readonly user?: string;
  readonly page?: string;
  readonly social_account?: string;
  readonly microblog_user?: string;
  readonly scopes?: readonly (string)[];
  /** Unix seconds or ISO 8601; now when left out */
  readonly issued_at?: number | string;
  readonly expires_at?: number | string;
  readonly data_access_expires_at?: number | string;
  /** since when it is refused as one that was revoked; 0: it is not */
  readonly revoked_at?: number | string;
};

/** Every key may be left out. */
export type WorldFile = { [Key in keyof Entries]?: readonly Entries[Key][] } & {
  clock?: {
    /** Unix seconds or ISO 8601 */
    readonly now?: number | string;
    readonly frozen?: boolean;
  };
  profile?: "strict" | "clients";
  versions?: {
    /** the versions of catalogs and feeds; they replace all that are known */
    readonly marketing?: readonly ({
      /** such as 25.0 */
      readonly version: string;
      /** it is served from then on */
      readonly released: number | string;
      /** it is not served from then on; at least 90 days after the release of the next version */
      readonly until?: number | string;
      /** the endpoints that it changed, and that no request is upgraded across: operations, edges or numbers such as G2 */
      readonly affects?: readonly (string)[];
    })[];
    /** versions of all other endpoints, beside v20.0 to v26.0; one is served from `released` on, and is the default of apps created then */
    readonly platform?: readonly ({
      /** such as 25.0 */
      readonly version: string;
      readonly released: number | string;
    })[];
    /** versions of migration intents, beside v23.0 to v25.0 */
    readonly migration_intents?: readonly (string)[];
    /** switches by name, beside the built-in one; one of the same name replaces it */
    readonly migrations?: readonly ({
      readonly name: string;
      /** from then on it can be switched, and is on for new apps */
      readonly start: number | string;
      /** from then on it is on for all; at least 90 days after the start */
      readonly end: number | string;
    })[];
  };
  tokens?: readonly TokenEntry[];
};

/** What a request of the control API takes and returns, by its operation. */
export interface Operations {
  /** What this server is, the addresses of the graph as this caller reaches them, and its newest version. */
  readServer: {
    response: {
      /** of Plaza */
      readonly version: string;
      readonly pid: number;
      /** Unix seconds of real time, with milliseconds as their fraction */
      readonly started_at: number;
      readonly data: "sqlite" | "memory" | "postgres";
      /** that serve the graph */
      readonly processes: number;
      readonly sandbox: boolean;
      /** as in a path, e.g. v26.0 */
      readonly newest_version: string;
      readonly base_url: string;
      readonly app_base_url: string;
      readonly microblog_base_url: string;
      readonly ads_base_url: string;
      readonly social_login_host: string;
      /** where encoders connect; left out where they cannot */
      readonly rtmp_url?: string;
      /** the WebSocket where web pages send live videos; left out where they cannot */
      readonly live_url?: string;
    };
  };
  /** Ends the server as SIGTERM does: no new requests, and running ones end, within 10 s at most. */
  stopServer: {
    response: {
      readonly success: boolean;
    };
  };
  /** Every error that the graph returns, with its cause. */
  listErrors: {
    response: {
      readonly data: readonly ({
        readonly name: string;
        readonly status: number;
        /** of page messaging, where it differs */
        readonly flat_status?: number;
        readonly code: number;
        /** of page messaging, where it differs */
        readonly flat_code?: number;
        readonly subcode?: number;
        readonly type: string;
        /** the same request may succeed later */
        readonly is_transient: boolean;
        /** its cause */
        readonly when: string;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The operations of the graph: address, parameters with their schemas, places of tokens, and who may. */
  listOperations: {
    response: {
      readonly data: readonly ({
        /** e.g. createPersona */
        readonly operation: string;
        readonly summary: string;
        /** of the node that it hangs on; left out where the address has no id */
        readonly node_type?: string;
        readonly method: string;
        readonly surface: string;
        /** below the surface's address, with `{version}` and `{id}` */
        readonly path: string;
        /** that serve it now, oldest first */
        readonly versions: readonly (string)[];
        /** access_token, oauth_token (query), bearer or body */
        readonly token_places: readonly (string)[];
        /** the token must stand in all of the places, not in any of them */
        readonly all_places: boolean;
        /** of tokens that may */
        readonly kinds: readonly (string)[];
        readonly scopes: readonly (string)[];
        readonly policy: string;
        readonly parameters: readonly ({
          readonly name: string;
          readonly in: "query" | "body";
          readonly required: boolean;
          /** JSON Schema */
          readonly schema: { readonly [name: string]: unknown };
        })[];
        /** `fields` selects from its response */
        readonly takes_fields: boolean;
        /** it has pages: limit, before, after */
        readonly is_list: boolean;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Lists the worlds, the first one first, the others by name. */
  listWorlds: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly name: string;
        /** this process has it open; one that is not opens when it is used */
        readonly open: boolean;
        /** of a world that is open */
        readonly profile?: "strict" | "clients";
        /** of a world that is open: it holds neither nodes nor tokens */
        readonly empty?: boolean;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Makes a world: with a world file, loaded whole or not at all, or empty. Requests reach it at once, below `/w/{world}`. */
  createWorld: {
    body: {
      /** lower-case letters, digits, - and _, 57 at most: it stands in addresses, `/w/{world}/…` and `{world}.localhost` */
      readonly name: string;
      /** the world file to begin with: YAML or JSON as text, or the object itself */
      readonly file?: string | { readonly [name: string]: unknown };
    };
    response: {
      readonly name: string;
      /** what may not be what you meant, e.g. a misspelt scope */
      readonly warnings?: readonly (string)[];
    };
  };
  /** Deletes a world with all that belongs to it, its recordings and snapshots included. */
  deleteWorld: {
    response: {
      readonly success: boolean;
    };
  };
  /** Loads a world file, YAML or JSON, whole or not at all. An entry whose id is there already replaces what is stored, but for secrets that it does not name; records without an id (activity, followers) add up. With Accept: text/event-stream, the events progress ({done, total}) as its entries are stored, and at the end result or error with what the response would hold. */
  importWorld: {
    response: {
      readonly success: boolean;
      /** what may not be what you meant, e.g. a misspelt scope */
      readonly warnings?: readonly (string)[];
    };
  };
  /** The world's state in the form of a world file. Of each token it holds the SHA-256, so that the token goes on working where it is imported; the secrets of apps only if they are asked for. */
  exportWorld: {
    query: {
      /** true: with the apps' secrets and verify tokens in clear text. Left out, a new app that is imported gets a new secret */
      readonly secrets?: boolean;
    };
  };
  /** Keeps the world as it is under a name, in place of what was kept under it; recordings of live video are no part of it. */
  takeSnapshot: {
    body: {
      /** letters, digits, - and _, 64 at most */
      readonly name: string;
    };
    response: {
      readonly name: string;
    };
  };
  /** Lists the snapshots of a world. */
  listSnapshots: {
    response: {
      readonly data: readonly ({
        readonly name: string;
        /** Unix seconds of real time */
        readonly taken_at: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Deletes a snapshot. */
  deleteSnapshot: {
    response: {
      readonly success: boolean;
    };
  };
  /** The world is again as it was when the snapshot was taken, its time included. What runs meanwhile ends; faults and the request log begin anew. */
  restoreSnapshot: {
    response: {
      readonly success: boolean;
    };
  };
  /** The world is again as it was made; the first one as the server began it: with the file of `--world`, the demo world of a sandbox, or empty. Snapshots stay. */
  resetWorld: {
    response: {
      readonly success: boolean;
    };
  };
  /** Lists the nodes of one key. */
  listNodes: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
  };
  /** Deletes a node, and what hangs on it. A user is erased as well, as `DELETE /v1/worlds/{w}/people/{id}` erases a person. */
  deleteNode: {
    response: {
      readonly success: boolean;
      /** of a user: the id of the erasure */
      readonly erasure?: string;
    };
  };
  /** Erases what is kept about a person, in the background: nodes, roles, labels, comments, app events, and webhooks with the bodies that were delivered. The id is any that they are known by: a user, an account, a PSID, a device, a telephone number. Call it once for each. */
  erasePerson: {
    response: {
      readonly id: string;
      readonly status: "running" | "done";
      /** Unix seconds of the world */
      readonly started_at: number;
      readonly ended_at?: number;
      /** how many records were deleted or emptied, by what they are */
      readonly erased: { readonly [name: string]: number };
    };
  };
  /** What an erasure has erased, by kind and number. It does not say who the person was. */
  readErasure: {
    response: {
      readonly id: string;
      readonly status: "running" | "done";
      /** Unix seconds of the world */
      readonly started_at: number;
      readonly ended_at?: number;
      /** how many records were deleted or emptied, by what they are */
      readonly erased: { readonly [name: string]: number };
    };
  };
  /** Lists the erasures of people, the newest first. */
  listErasures: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        readonly status: "running" | "done";
        /** Unix seconds of the world */
        readonly started_at: number;
        readonly ended_at?: number;
        /** how many records were deleted or emptied, by what they are */
        readonly erased: { readonly [name: string]: number };
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Makes a token, of a random value or the one given. The response shows the value, once. */
  mintToken: {
    body: {
      /** the value; ASCII without spaces and | */
      readonly token?: string;
      /** in place of the value, as an export writes it: its SHA-256, hex */
      readonly token_sha256?: string;
      readonly type: "app" | "user" | "page" | "social_user" | "microblog_user" | "system_user";
      readonly app: string;
      readonly user?: string;
      readonly page?: string;
      readonly social_account?: string;
      readonly microblog_user?: string;
      readonly scopes?: readonly (string)[];
      /** Unix seconds or ISO 8601; now when left out */
      readonly issued_at?: number | string;
      readonly expires_at?: number | string;
      readonly data_access_expires_at?: number | string;
      /** since when it is refused as one that was revoked; 0: it is not */
      readonly revoked_at?: number | string;
    };
    response: {
      readonly id: string;
      readonly type: string;
      readonly app: string;
      readonly user?: string;
      readonly page?: string;
      readonly social_account?: string;
      readonly microblog_user?: string;
      readonly scopes: readonly (string)[];
      /** Unix seconds; 0: unknown */
      readonly issued_at: number;
      /** Unix seconds; 0: never */
      readonly expires_at: number;
      /** Unix seconds; 0: never */
      readonly data_access_expires_at: number;
      /** Unix seconds; 0: not revoked */
      readonly revoked_at: number;
      /** the value; it is shown here once and cannot be read again */
      readonly token?: string;
      /** what may not be what you meant, e.g. a misspelt scope */
      readonly warnings?: readonly (string)[];
    };
  };
  /** Lists the tokens without their values, the newest first. */
  listTokens: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        readonly type: string;
        readonly app: string;
        readonly user?: string;
        readonly page?: string;
        readonly social_account?: string;
        readonly microblog_user?: string;
        readonly scopes: readonly (string)[];
        /** Unix seconds; 0: unknown */
        readonly issued_at: number;
        /** Unix seconds; 0: never */
        readonly expires_at: number;
        /** Unix seconds; 0: never */
        readonly data_access_expires_at: number;
        /** Unix seconds; 0: not revoked */
        readonly revoked_at: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Makes a token for the same principal that lives ten minutes at most and dies with the one it is a copy of. The response shows the value, once. */
  copyToken: {
    response: {
      readonly id: string;
      readonly type: string;
      readonly app: string;
      readonly user?: string;
      readonly page?: string;
      readonly social_account?: string;
      readonly microblog_user?: string;
      readonly scopes: readonly (string)[];
      /** Unix seconds; 0: unknown */
      readonly issued_at: number;
      /** Unix seconds; 0: never */
      readonly expires_at: number;
      /** Unix seconds; 0: never */
      readonly data_access_expires_at: number;
      /** Unix seconds; 0: not revoked */
      readonly revoked_at: number;
      /** the value; it is shown here once and cannot be read again */
      readonly token?: string;
      /** what may not be what you meant, e.g. a misspelt scope */
      readonly warnings?: readonly (string)[];
    };
  };
  /** Revokes a token: refused at once by this process, within a second by the others. */
  revokeToken: {
    response: {
      readonly success: boolean;
    };
  };
  /** Makes a key of this API, e.g. a read-only one. Plaza stores its hash; the response shows the value, once. */
  createControlKey: {
    body: {
      /** `read`: may GET, and nothing else */
      readonly access: "full" | "read";
      /** what it is for */
      readonly name?: string;
      /** Unix seconds; 0 or left out: never */
      readonly expires_at?: number;
    };
    response: {
      readonly id: string;
      readonly name: string;
      /** `read`: may GET, and nothing else */
      readonly access: "full" | "read";
      /** Unix seconds of real time */
      readonly created_at: number;
      /** from then on it is refused; 0: never */
      readonly expires_at: number;
      /** the value; it is shown here once and cannot be read again */
      readonly key: string;
    };
  };
  /** Lists the keys that were made here or replaced, also those that have ended, the newest first and without their values. */
  listControlKeys: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        readonly name: string;
        /** `read`: may GET, and nothing else */
        readonly access: "full" | "read";
        /** Unix seconds of real time */
        readonly created_at: number;
        /** from then on it is refused; 0: never */
        readonly expires_at: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Replaces the key that the request is made with, the configured one or another. The old key stays valid for the overlap, and is refused afterwards, also after a restart. */
  rotateControlKey: {
    body: {
      /** how long both keys are valid; 0: the old one ends at once */
      readonly overlap_seconds?: number;
    };
    response: {
      readonly id: string;
      readonly name: string;
      /** `read`: may GET, and nothing else */
      readonly access: "full" | "read";
      /** Unix seconds of real time */
      readonly created_at: number;
      /** from then on it is refused; 0: never */
      readonly expires_at: number;
      /** the value; it is shown here once and cannot be read again */
      readonly key: string;
      readonly replaced: {
        readonly id: string;
        readonly name: string;
        /** `read`: may GET, and nothing else */
        readonly access: "full" | "read";
        /** Unix seconds of real time */
        readonly created_at: number;
        /** from then on it is refused; 0: never */
        readonly expires_at: number;
      };
    };
  };
  /** Ends a key at once, in all processes. */
  revokeControlKey: {
    response: {
      readonly success: boolean;
    };
  };
  /** The keys that seal stored secrets, by their ids, and how many secrets the current one has still to seal. */
  readSealingKey: {
    response: {
      /** tells keys apart, and nothing else of them */
      readonly key_id: string;
      /** they still open what they have sealed, and cursors that they have signed */
      readonly previous: readonly ({
        readonly key_id: string;
        /** Unix seconds of real time; 0: until it is taken out of PLAZA_FURTHER_SECRET_KEYS */
        readonly valid_until: number;
      })[];
      /** values that the current key has not sealed yet, in worlds that are open */
      readonly waiting: number;
    };
  };
  /** Replaces the key in the file of the data folder. A background job seals all stored secrets with the new key; the old key is deleted from the file when that is done and the overlap has passed. */
  rotateSealingKey: {
    body: {
      /** how long the old key still opens secrets and cursors */
      readonly overlap_seconds?: number;
    };
    response: {
      /** tells keys apart, and nothing else of them */
      readonly key_id: string;
      /** they still open what they have sealed, and cursors that they have signed */
      readonly previous: readonly ({
        readonly key_id: string;
        /** Unix seconds of real time; 0: until it is taken out of PLAZA_FURTHER_SECRET_KEYS */
        readonly valid_until: number;
      })[];
      /** values that the current key has not sealed yet, in worlds that are open */
      readonly waiting: number;
    };
  };
  /** The world's time. */
  readClock: {
    response: {
      /** Unix seconds */
      readonly now: number;
      readonly frozen: boolean;
    };
  };
  /** Sets the time, stops it or lets it run; what is not given stays as it is. Everything that falls due has happened when the response is sent. */
  setClock: {
    body: {
      /** Unix seconds or ISO 8601 */
      readonly now?: number | string;
      readonly frozen?: boolean;
    };
    response: {
      /** Unix seconds */
      readonly now: number;
      readonly frozen: boolean;
    };
  };
  /** Moves the time forward. Everything that falls due has happened when the response is sent. */
  advanceClock: {
    body: {
      readonly seconds: number;
    };
    response: {
      /** Unix seconds */
      readonly now: number;
      readonly frozen: boolean;
    };
  };
  /** What happens by itself next, the earliest first: background jobs, and the next retry of each callback; a hundred at most. */
  listDeadlines: {
    response: {
      readonly data: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happens: the kind of a background job, or webhook_retry */
        readonly kind: string;
        /** what it happens to: an id or a key of that kind, or the URL of a callback */
        readonly of: string;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The calendar of versions: when each came and when it stops working, and the migrations. */
  readVersions: {
    response: {
      readonly platform: readonly ({
        readonly version: string;
        /** Unix seconds */
        readonly released: number;
      })[];
      readonly marketing: readonly ({
        readonly version: string;
        /** Unix seconds */
        readonly released: number;
        /** Unix seconds at which it stops working; left out while that is not announced */
        readonly until?: number;
        /** operations, edges and endpoints that this version changed */
        readonly affects: readonly (string)[];
      })[];
      readonly migrations: readonly ({
        readonly name: string;
        /** Unix seconds */
        readonly start: number;
        /** Unix seconds */
        readonly end: number;
      })[];
    };
  };
  /** Which versions the last requests of each app asked for, and what would serve the same requests at a later moment. */
  readVersionOutlook: {
    query: {
      /** Unix seconds or ISO 8601; now when left out */
      readonly at?: number | string;
    };
    response: {
      readonly data: readonly ({
        readonly app: string;
        readonly operation: string;
        /** left out where the path named none */
        readonly asked?: string;
        /** of the last requests */
        readonly count: number;
        /** left out where it is refused */
        readonly served_now?: string;
        /** left out where it would be refused */
        readonly served_then?: string;
        /** why it would be */
        readonly refusal?: string;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** What needs somebody's attention: callbacks that are paused or fail, webhooks without a callback, versions that are used and end soon, requests that failed, live videos that are interrupted, faults, a clock that is stopped before something is due. The worst first, 100 at most; with Accept: text/event-stream, again whenever they change. */
  listAlerts: {
    response: {
      readonly data: readonly ({
        /** callback_paused, callback_failing, no_callback, version_ends, requests_failed, rate_limited, fault, clock_stopped, live_video, feed; others may come */
        readonly kind: string;
        /** error: something is broken by now; warning: it will be, or comes late; notice: somebody has asked for it, and others may wonder */
        readonly level: "error" | "warning" | "notice";
        /** what it is about: the id of a callback, an app, a fault, a live video or a feed, or the trace id of a request */
        readonly of: string;
        /** what is wrong, why, and what ends it */
        readonly text: string;
        /** world time in Unix seconds: since when, or of version_ends when it comes */
        readonly time?: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The last 1,000 requests, or as many as 8 MB hold, the newest first; with Accept: text/event-stream, each further one as it is served. */
  listRequests: {
    query: {
      /** e.g. createPersona */
      readonly operation?: string;
      readonly status?: number;
      /** the first digit of the status, e.g. 4 */
      readonly status_class?: number;
      /** as sent, e.g. POST */
      readonly method?: string;
      /** its id */
      readonly app?: string;
      /** a part of the path, the operation, the query or the trace id */
      readonly search?: string;
      /** the request that caused this webhook, if it was recorded with its story */
      readonly delivery?: string;
      /** Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** of those, the newest */
      readonly limit?: number;
    };
    response: {
      readonly data: readonly ({
        readonly trace_id: string;
        readonly operation: string;
        readonly method: string;
        readonly surface: string;
        /** its first 4,096 characters */
        readonly path: string;
        /** as sent, its first 4,096 characters, without the values of secrets */
        readonly query: string;
        readonly status: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        readonly duration_ms: number;
        readonly app?: string;
        /** its first 4,096 characters, without the values of secrets */
        readonly request_body: string;
        /** its first 4,096 characters, without the values of secrets */
        readonly response_body: string;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Requests as they come, as server-sent events with a cursor, ten a second at most; each is recorded with its story meanwhile. What is more than an eye can follow is counted alone. */
  streamRequests: {
    query: {
      /** e.g. createPersona */
      readonly operation?: string;
      readonly status?: number;
      /** the first digit of the status, e.g. 4 */
      readonly status_class?: number;
      /** as sent, e.g. POST */
      readonly method?: string;
      /** its id */
      readonly app?: string;
      /** a part of the path, the operation, the query or the trace id */
      readonly search?: string;
      /** the request that caused this webhook, if it was recorded with its story */
      readonly delivery?: string;
      /** Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** the id of the last event that was received; left out: from now on */
      readonly after?: number;
      /** whether the world's alerts come as well, as events `alerts`: at once, and whenever they change */
      readonly alerts?: boolean;
    };
    response: {
      /** the oldest first */
      readonly data: readonly ({
        readonly trace_id: string;
        readonly operation: string;
        readonly method: string;
        readonly surface: string;
        /** its first 4,096 characters */
        readonly path: string;
        readonly status: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        readonly duration_ms: number;
        readonly app?: string;
      })[];
      /** requests since the event before, whatever the filter */
      readonly seen: number;
      /** of those seen that are still kept, with a status of 400 to 499 */
      readonly refused: number;
      /** of those seen that are still kept, with a status of 500 or more */
      readonly failed: number;
      /** that match the filter and are left out, since they are too many to follow or no longer kept */
      readonly skipped: number;
    };
  };
  /** One of the last requests; with its story if it was sent with debug=all, or while the stream was read. */
  readRequest: {
    response: {
      readonly trace_id: string;
      readonly operation: string;
      readonly method: string;
      readonly surface: string;
      /** its first 4,096 characters */
      readonly path: string;
      /** as sent, its first 4,096 characters, without the values of secrets */
      readonly query: string;
      readonly status: number;
      /** world time in Unix seconds, with milliseconds as its fraction */
      readonly time: number;
      readonly duration_ms: number;
      readonly app?: string;
      /** its first 4,096 characters, without the values of secrets */
      readonly request_body: string;
      /** its first 4,096 characters, without the values of secrets */
      readonly response_body: string;
      readonly story?: {
        /** where the time went; a request that was refused ends with the step that refused it */
        readonly steps: readonly ({
          readonly name: "understand" | "check" | "handle" | "respond";
          readonly duration_ms: number;
        })[];
        readonly credentials: readonly ({
          readonly place: "access_token" | "oauth_token" | "bearer" | "body";
          readonly type?: string;
          /** its id, as the list of tokens has it */
          readonly token?: string;
          readonly app?: string;
          /** why it does not count */
          readonly refusal?: string;
        })[];
        readonly node?: {
          readonly id: string;
          readonly type: string;
        };
        readonly version: {
          readonly asked?: string;
          readonly served?: string;
          readonly upgraded_from?: string;
        };
        readonly policy?: {
          readonly name: string;
          readonly summary: string;
          readonly kinds: readonly (string)[];
          readonly scopes: readonly (string)[];
        };
        /** the node is there, but the caller may not know it */
        readonly is_concealed?: boolean;
        /** JSON of what the contract understood, its first 4,096 characters, without the values of secrets */
        readonly parameters?: string;
        /** its name in the list of errors */
        readonly error?: string;
        /** JSON of the fault that it met, which was asked for: its id and what it does */
        readonly fault?: string;
        /** the webhooks that were stored with what it wrote */
        readonly deliveries: readonly (string)[];
      };
    };
  };
  /** Waits until the last requests hold what is expected; 422 has the requests that were seen instead, and beside them the nearest with its differences. */
  expectRequests: {
    body: {
      readonly operation?: string;
      /** what an entry must hold: a key of the entry with its value. For query, request_body and response_body a map is compared with the decoded form or JSON, key by key; a text must be part of it */
      readonly match?: { readonly [name: string]: unknown };
      /** at least this many requests; 0: none at all, for the whole time */
      readonly count?: number;
      /** how long to wait for them, in real time */
      readonly within_ms?: number;
    };
    response: {
      readonly count: number;
      readonly data: readonly ({
        readonly trace_id: string;
        readonly operation: string;
        readonly method: string;
        readonly surface: string;
        /** its first 4,096 characters */
        readonly path: string;
        /** as sent, its first 4,096 characters, without the values of secrets */
        readonly query: string;
        readonly status: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        readonly duration_ms: number;
        readonly app?: string;
        /** its first 4,096 characters, without the values of secrets */
        readonly request_body: string;
        /** its first 4,096 characters, without the values of secrets */
        readonly response_body: string;
      })[];
    };
  };
  /** Makes requests fail, come late, or come damaged, and webhooks get lost, repeated or reordered: the first fault that matches applies, a number of times or with a probability. */
  createFault: {
    body: {
      /** an operation's name, or * for all */
      readonly operation?: string;
      /** a webhook field, or * for all, in place of an operation */
      readonly webhook?: string;
      /** the id of the node that a request addresses, or of the page or account that a webhook is about */
      readonly node?: string;
      /** parameters with their values, in the query or the body; structured ones as JSON */
      readonly query?: { readonly [name: string]: string };
      /** the value of one of the request's tokens; the fault shows its id */
      readonly token?: string;
      /** of an error, in place of the operation */
      readonly status?: number;
      /** the error of a rate that is used up, in place of the operation */
      readonly rate_limit?: "app" | "page";
      /** passes before the operation runs */
      readonly latency_ms?: number;
      /** in place of the response's own */
      readonly body?: string;
      /** the connection is reset in place of a response; the operation has run */
      readonly reset?: true;
      /** the connection ends after so many bytes of the body */
      readonly cut_body_at?: number;
      /** the whole body takes 300 s at most */
      readonly body_bytes_per_second?: number;
      /** of the error with that status; 2 where it is left out */
      readonly code?: number;
      /** of rate_limit; 60 where it is left out */
      readonly retry_after_seconds?: number;
      /** of body */
      readonly content_type?: string;
      /** on a webhook: it is never sent, sent twice, or sent after later ones */
      readonly effect?: "lose" | "repeat" | "reorder";
      /** how many it affects; without it, all until the faults are deleted */
      readonly times?: number;
      /** which share of those that match it affects */
      readonly probability?: number;
    };
    response: {
      readonly id: string;
      /** an operation's name, or * for all */
      readonly operation?: string;
      /** a webhook field, or * for all, in place of an operation */
      readonly webhook?: string;
      /** the id of the node that a request addresses, or of the page or account that a webhook is about */
      readonly node?: string;
      /** parameters with their values, in the query or the body; structured ones as JSON */
      readonly query?: { readonly [name: string]: string };
      /** the value of one of the request's tokens; the fault shows its id */
      readonly token?: string;
      /** of an error, in place of the operation */
      readonly status?: number;
      /** the error of a rate that is used up, in place of the operation */
      readonly rate_limit?: "app" | "page";
      /** passes before the operation runs */
      readonly latency_ms?: number;
      /** in place of the response's own */
      readonly body?: string;
      /** the connection is reset in place of a response; the operation has run */
      readonly reset?: true;
      /** the connection ends after so many bytes of the body */
      readonly cut_body_at?: number;
      /** the whole body takes 300 s at most */
      readonly body_bytes_per_second?: number;
      /** of the error with that status; 2 where it is left out */
      readonly code?: number;
      /** of rate_limit; 60 where it is left out */
      readonly retry_after_seconds?: number;
      /** of body */
      readonly content_type?: string;
      /** on a webhook: it is never sent, sent twice, or sent after later ones */
      readonly effect?: "lose" | "repeat" | "reorder";
      /** how many it affects; without it, all until the faults are deleted */
      readonly times?: number;
      /** which share of those that match it affects */
      readonly probability?: number;
      /** how many requests or webhooks it was applied to */
      readonly met: number;
    };
  };
  /** The faults that are still in effect. */
  listFaults: {
    response: {
      readonly data: readonly ({
        readonly id: string;
        /** an operation's name, or * for all */
        readonly operation?: string;
        /** a webhook field, or * for all, in place of an operation */
        readonly webhook?: string;
        /** the id of the node that a request addresses, or of the page or account that a webhook is about */
        readonly node?: string;
        /** parameters with their values, in the query or the body; structured ones as JSON */
        readonly query?: { readonly [name: string]: string };
        /** the value of one of the request's tokens; the fault shows its id */
        readonly token?: string;
        /** of an error, in place of the operation */
        readonly status?: number;
        /** the error of a rate that is used up, in place of the operation */
        readonly rate_limit?: "app" | "page";
        /** passes before the operation runs */
        readonly latency_ms?: number;
        /** in place of the response's own */
        readonly body?: string;
        /** the connection is reset in place of a response; the operation has run */
        readonly reset?: true;
        /** the connection ends after so many bytes of the body */
        readonly cut_body_at?: number;
        /** the whole body takes 300 s at most */
        readonly body_bytes_per_second?: number;
        /** of the error with that status; 2 where it is left out */
        readonly code?: number;
        /** of rate_limit; 60 where it is left out */
        readonly retry_after_seconds?: number;
        /** of body */
        readonly content_type?: string;
        /** on a webhook: it is never sent, sent twice, or sent after later ones */
        readonly effect?: "lose" | "repeat" | "reorder";
        /** how many it affects; without it, all until the faults are deleted */
        readonly times?: number;
        /** which share of those that match it affects */
        readonly probability?: number;
        /** how many requests or webhooks it was applied to */
        readonly met: number;
      })[];
      readonly paging: { readonly [name: string]: unknown };
    };
  };
  /** Deletes all faults. */
  deleteFaults: {
    response: {
      readonly success: boolean;
    };
  };
  /** Webhooks that were made, the newest first, with each attempt. */
  listDeliveries: {
    query: {
      /** waiting, sending, delivered, failed, unsubscribed; several with commas */
      readonly status?: string;
      /** its id or its URL */
      readonly callback?: string;
      /** of any of its events */
      readonly field?: string;
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        /** the header of its POSTs */
        readonly webhook_id: string;
        readonly app: string;
        /** left out where it leads nowhere */
        readonly callback?: string;
        readonly callback_id?: string;
        readonly object: string;
        /** of its first event */
        readonly field: string;
        /** the account or page */
        readonly entity: string;
        readonly phone_number?: string;
        readonly status: "waiting" | "sending" | "delivered" | "failed" | "unsubscribed";
        /** queued, retry, callback_paused, no_callback, callback_not_verified, gone or gave_up */
        readonly reason?: string;
        /** events in the POST */
        readonly updates: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly next_attempt_time?: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly ended_time?: number;
        readonly attempts: readonly ({
          /** world time in Unix seconds, with milliseconds as its fraction */
          readonly time: number;
          /** where it went; left out where it led nowhere */
          readonly callback_id?: string;
          /** left out where no response came */
          readonly status?: number;
          readonly latency_ms?: number;
          /** its first 256 bytes */
          readonly answer?: string;
          /** why no response came */
          readonly error?: string;
        })[];
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The newest 20 webhooks as server-sent events: at once, and whenever something about them changes, twice a second at most. */
  streamDeliveries: {
    response: {
      readonly data: readonly ({
        readonly id: string;
        /** the header of its POSTs */
        readonly webhook_id: string;
        readonly app: string;
        /** left out where it leads nowhere */
        readonly callback?: string;
        readonly callback_id?: string;
        readonly object: string;
        /** of its first event */
        readonly field: string;
        /** the account or page */
        readonly entity: string;
        readonly phone_number?: string;
        readonly status: "waiting" | "sending" | "delivered" | "failed" | "unsubscribed";
        /** queued, retry, callback_paused, no_callback, callback_not_verified, gone or gave_up */
        readonly reason?: string;
        /** events in the POST */
        readonly updates: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly next_attempt_time?: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly ended_time?: number;
        readonly attempts: readonly ({
          /** world time in Unix seconds, with milliseconds as its fraction */
          readonly time: number;
          /** where it went; left out where it led nowhere */
          readonly callback_id?: string;
          /** left out where no response came */
          readonly status?: number;
          readonly latency_ms?: number;
          /** its first 256 bytes */
          readonly answer?: string;
          /** why no response came */
          readonly error?: string;
        })[];
      })[];
    };
  };
  /** One webhook with its body. */
  readDelivery: {
    response: {
      readonly id: string;
      /** the header of its POSTs */
      readonly webhook_id: string;
      readonly app: string;
      /** left out where it leads nowhere */
      readonly callback?: string;
      readonly callback_id?: string;
      readonly object: string;
      /** of its first event */
      readonly field: string;
      /** the account or page */
      readonly entity: string;
      readonly phone_number?: string;
      readonly status: "waiting" | "sending" | "delivered" | "failed" | "unsubscribed";
      /** queued, retry, callback_paused, no_callback, callback_not_verified, gone or gave_up */
      readonly reason?: string;
      /** events in the POST */
      readonly updates: number;
      /** world time in Unix seconds, with milliseconds as its fraction */
      readonly time: number;
      /** world time in Unix seconds, with milliseconds as its fraction */
      readonly next_attempt_time?: number;
      /** world time in Unix seconds, with milliseconds as its fraction */
      readonly ended_time?: number;
      readonly attempts: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** where it went; left out where it led nowhere */
        readonly callback_id?: string;
        /** left out where no response came */
        readonly status?: number;
        readonly latency_ms?: number;
        /** its first 256 bytes */
        readonly answer?: string;
        /** why no response came */
        readonly error?: string;
        /** the headers that signed it, made again with the app's secret as it is now; left out where nothing was sent */
        readonly signatures?: { readonly [name: string]: string };
      })[];
      /** the exact body of its POSTs */
      readonly body: string;
      readonly events: readonly ({
        readonly id: string;
        readonly field: string;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
      })[];
    };
  };
  /** Sends again what was made since a moment, to one callback or all, with the same ids and bodies; a paused callback is resumed. */
  replayDeliveries: {
    body: {
      /** events of this world time or later: Unix seconds or ISO 8601 */
      readonly since: number | string;
      /** its id or its URL; all callbacks when left out */
      readonly callback?: string;
    };
    response: {
      readonly replayed: number;
    };
  };
  /** Sends one again, with the same id and body; a paused callback is resumed. */
  replayDelivery: {
    response: {
      readonly success: boolean;
    };
  };
  /** Every callback that something was made for, and whether it works. */
  listCallbacks: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        readonly app: string;
        readonly url: string;
        readonly status: "working" | "failing" | "paused";
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly failing_since?: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly alerted_time?: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly paused_time?: number;
        /** why it is paused: every attempt failed for five days, it returned 410, or a person paused it */
        readonly reason?: "failed" | "gone" | "held";
        /** when a paused callback that failed is tried again, if anything waits for it */
        readonly next_attempt_time?: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Ends a pause: what was kept goes out. */
  resumeCallback: {
    response: {
      readonly success: boolean;
    };
  };
  /** Pauses a callback: what is made for it waits until it is resumed. */
  pauseCallback: {
    response: {
      readonly success: boolean;
    };
  };
  /** Waits until the last 200 webhooks hold what is expected; 422 has those that were seen instead, and beside them the nearest with its differences. */
  expectWebhooks: {
    body: {
      readonly object?: string;
      readonly field?: string;
      /** the account or page */
      readonly entity?: string;
      readonly status?: "waiting" | "sending" | "delivered" | "failed" | "unsubscribed" | "any";
      /** what an entry must hold: a key of the entry with its value; maps, such as `value`, are compared key by key */
      readonly match?: { readonly [name: string]: unknown };
      /** at least this many webhooks; 0: none at all, for the whole time */
      readonly count?: number;
      /** how long to wait for them, in real time */
      readonly within_ms?: number;
    };
    response: {
      readonly count: number;
      readonly data: readonly ({
        readonly id: string;
        /** the header of its POSTs */
        readonly webhook_id: string;
        readonly app: string;
        /** left out where it leads nowhere */
        readonly callback?: string;
        readonly callback_id?: string;
        readonly object: string;
        readonly field: string;
        /** the account or page */
        readonly entity: string;
        readonly phone_number?: string;
        readonly status: "waiting" | "sending" | "delivered" | "failed" | "unsubscribed";
        /** queued, retry, callback_paused, no_callback, callback_not_verified, gone or gave_up */
        readonly reason?: string;
        /** events in the POST */
        readonly updates: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly next_attempt_time?: number;
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly ended_time?: number;
        readonly attempts: readonly ({
          /** world time in Unix seconds, with milliseconds as its fraction */
          readonly time: number;
          /** where it went; left out where it led nowhere */
          readonly callback_id?: string;
          /** left out where no response came */
          readonly status?: number;
          readonly latency_ms?: number;
          /** its first 256 bytes */
          readonly answer?: string;
          /** why no response came */
          readonly error?: string;
        })[];
        /** its id; one event is sent to several apps */
        readonly event: string;
        /** what the event carries */
        readonly value: unknown;
      })[];
    };
  };
  /** Makes an event as if it had happened, with an example unless a value is given, for the apps that are subscribed. */
  triggerWebhook: {
    body: {
      readonly object: "social" | "chatapp_business_account" | "page" | "catalog";
      readonly field: "custom_labels" | "live_videos" | "product_feed" | "messages" | "message_echoes" | "calls" | "consumer_profile" | "messaging_handovers" | "group_lifecycle_update" | "group_participants_update" | "group_settings_update" | "group_status_update" | "smb_message_echoes" | "smb_app_state_sync" | "history" | "account_settings_update" | "message_template_status_update" | "message_template_quality_update" | "message_template_components_update" | "template_category_update" | "account_update" | "account_review_update" | "account_alerts" | "comments" | "live_comments";
      /** the account, page or catalog that the event is of */
      readonly entity: string;
      readonly phone_number?: string;
      /** what it carries; an example when left out */
      readonly value?: { readonly [name: string]: unknown };
    };
    response: {
      readonly deliveries: readonly (string)[];
    };
  };
  /** The fields to which an app can subscribe, each with an example of its value. */
  listWebhookFields: {
    response: {
      readonly data: readonly ({
        readonly object: "social" | "chatapp_business_account" | "page" | "catalog";
        readonly field: string;
        readonly summary: string;
        /** a value that its contract allows, of the entity 1000000000000001 */
        readonly example: { readonly [name: string]: unknown };
        /** it goes to the callback of the account or number, where that has one of its own */
        readonly follows_overrides: boolean;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** What a triggered event of the field carries when no value is given. */
  readWebhookExample: {
    query: {
      /** the account or page that the event is of */
      readonly entity: string;
      readonly phone_number?: string;
    };
    response: {
      readonly value: { readonly [name: string]: unknown };
    };
  };
  /** The live states of broadcasts that run, the newest first, 100 at most; with Accept: text/event-stream, again whenever one changes, once a second at most. */
  listRunningLiveVideos: {
    response: {
      readonly data: readonly ({
        readonly id: string;
        readonly page: string;
        /** a finer status: reconnecting, key_dead and ending show as LIVE */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
        /** as the interface shows it */
        readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
        readonly feed: {
          /** an encoder sends at the moment */
          readonly is_sending: boolean;
          /** counts the feeds; 0: there was none */
          readonly session: number;
        };
        /** what the encoder sends, while this server takes its stream */
        readonly health?: {
          /** averaged over 5 s */
          readonly bits_per_second: number;
          readonly frames_per_second: number;
          /** some 2,000 are silence */
          readonly audio_bits_per_second: number;
          /** by how much the newest sound is behind the newest picture */
          readonly audio_behind_ms: number;
          /** how often pictures were missing for 250 ms or more */
          readonly gaps: number;
          /** between the last two key frames */
          readonly key_frame_ms: number | null;
          /** pixels */
          readonly width: number;
          /** pixels */
          readonly height: number;
          /** what to change at the encoder */
          readonly warnings: readonly (string)[];
        };
        /** whether an encoder can begin or come back */
        readonly stream_key: "usable" | "none";
        /** what happens by itself next */
        readonly next: {
          readonly event: string;
          /** Unix seconds */
          readonly time: number;
        } | null;
        readonly sealing: {
          readonly fails: boolean;
          /** that failed */
          readonly tries: number;
        };
        readonly restore_notice: "none" | "open" | "lapsed";
        /** only of a video that was taken down */
        readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
        /** only of a broadcast that nobody ended */
        readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
        /** how it came to its state, the oldest first; the last 50 */
        readonly history: readonly ({
          /** world time in Unix seconds, with milliseconds as its fraction */
          readonly time: number;
          /** what happened; declared: an operator set the state */
          readonly event: string;
          /** the state after it */
          readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
        })[];
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The live state of a video: its feed, its key, and what happens by itself next; with Accept: text/event-stream, again whenever it changes, once a second at most. */
  readLiveState: {
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Does what an encoder would do: begin, break off, stop, or send no audio. 409 where there is no such feed, or the key opens nothing. */
  tellOfFeed: {
    body: {
      /** what the encoder does; the last three are about the feed that sends at the moment */
      readonly event: "started" | "lost" | "ended" | "no_audio";
      /** for `started`, as the encoder sends it; without it the key is not checked */
      readonly stream_key?: string;
    };
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Publishes a live video that is unpublished or planned, as its page would: the broadcast begins. 409 in any other state. */
  publishLiveVideo: {
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Ends a broadcast, as its page would: its encoder is disconnected, and it becomes a VOD. 409 where none runs. */
  endBroadcast: {
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Makes sealing fail on purpose, or work again; while it fails, a broadcast that was ended goes on showing as live. */
  setSealing: {
    body: {
      readonly fails: boolean;
    };
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Takes a live video or a VOD down, as for a copyright claim, and opens its restore notice of 7 days. */
  takeDownLiveVideo: {
    query: {
      /** COPYRIGHT when left out */
      readonly reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
    };
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Sends the webhook of the open restore notice again; its time stays as it is. 409 where none is open. */
  repeatRestoreNotice: {
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Acts on the restore notice: the video is back as VOD. 409 where no notice is open. */
  restoreLiveVideo: {
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** Whether a viewer may watch a video, and if not, why. */
  checkViewer: {
    query: {
      /** of the viewer, ISO 3166-1 alpha-2; unknown when left out */
      readonly country?: string;
      /** in the browser of a phone or tablet */
      readonly mobile_web?: boolean;
    };
    response: {
      readonly may_watch: boolean;
      readonly reason?: "not_shown" | "not_published" | "not_in_this_country" | "starting" | "not_on_mobile_web_until_vod";
    };
  };
  /** For a media server of one's own: whether an encoder may publish with a key, and what its feed does. 404 where the key opens nothing, 409 where the feed is no longer the present one. */
  reportFeed: {
    body: {
      /** check: may an encoder publish with the key? Nothing changes. The others say what has happened */
      readonly event: "check" | "started" | "lost" | "ended" | "no_audio" | "no_storage";
      /** as the encoder sends it */
      readonly stream_key: string;
      /** the feed that ended, as `started` returned it; the present one when left out */
      readonly session?: number;
    };
    response: {
      readonly id: string;
      readonly page: string;
      /** a finer status: reconnecting, key_dead and ending show as LIVE */
      readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      /** as the interface shows it */
      readonly status: "UNPUBLISHED" | "LIVE" | "LIVE_STOPPED" | "PROCESSING" | "VOD" | "SCHEDULED_UNPUBLISHED" | "SCHEDULED_LIVE" | "SCHEDULED_EXPIRED" | "SCHEDULED_CANCELED" | "TAKEN_DOWN";
      readonly feed: {
        /** an encoder sends at the moment */
        readonly is_sending: boolean;
        /** counts the feeds; 0: there was none */
        readonly session: number;
      };
      /** what the encoder sends, while this server takes its stream */
      readonly health?: {
        /** averaged over 5 s */
        readonly bits_per_second: number;
        readonly frames_per_second: number;
        /** some 2,000 are silence */
        readonly audio_bits_per_second: number;
        /** by how much the newest sound is behind the newest picture */
        readonly audio_behind_ms: number;
        /** how often pictures were missing for 250 ms or more */
        readonly gaps: number;
        /** between the last two key frames */
        readonly key_frame_ms: number | null;
        /** pixels */
        readonly width: number;
        /** pixels */
        readonly height: number;
        /** what to change at the encoder */
        readonly warnings: readonly (string)[];
      };
      /** whether an encoder can begin or come back */
      readonly stream_key: "usable" | "none";
      /** what happens by itself next */
      readonly next: {
        readonly event: string;
        /** Unix seconds */
        readonly time: number;
      } | null;
      readonly sealing: {
        readonly fails: boolean;
        /** that failed */
        readonly tries: number;
      };
      readonly restore_notice: "none" | "open" | "lapsed";
      /** only of a video that was taken down */
      readonly takedown_reason?: "COPYRIGHT" | "INTELLECTUAL_PROPERTY";
      /** only of a broadcast that nobody ended */
      readonly end_reason?: "NO_AUDIO" | "NO_FEED" | "KEY_EXPIRED" | "NO_STORAGE";
      /** how it came to its state, the oldest first; the last 50 */
      readonly history: readonly ({
        /** world time in Unix seconds, with milliseconds as its fraction */
        readonly time: number;
        /** what happened; declared: an operator set the state */
        readonly event: string;
        /** the state after it */
        readonly state: "unpublished" | "scheduled_unpublished" | "scheduled_live" | "scheduled_expired" | "scheduled_canceled" | "live" | "reconnecting" | "key_dead" | "ending" | "stopped" | "processing" | "vod" | "taken_down" | "lapsed";
      })[];
    };
  };
  /** For a media server that can only call an address, such as nginx with its RTMP module (call, name and clientid as a form) or MediaMTX (its authentication as JSON). The stream key is the secret; 403 where the encoder has to be refused. */
  takeFeedCallback: {
    response: {
      readonly accepted: true;
    };
  };
  /** Takes a feed file (CSV, TSV, RSS or Atom XML, JSON lines; gzip of each), sent or by its address, and reads it in the background. The feed's items become those of the file, all at once. */
  uploadFeed: {
    query: {
      /** found from the beginning of the file unless it is given */
      readonly format?: "csv" | "tsv" | "xml" | "jsonl";
      /** true: items that the file does not have stay in the feed */
      readonly update_only?: boolean;
    };
    response: {
      readonly feed: string;
      /** counts the uploads of the feed from 1 */
      readonly n: number;
      /** done: the feed holds these items alone; failed: it is as it was */
      readonly status: "receiving" | "pending" | "running" | "done" | "failed";
      readonly source: "file" | "url";
      readonly url?: string;
      readonly file_name?: string;
      readonly format?: "csv" | "tsv" | "xml" | "jsonl";
      /** the items of the file are added to those of the feed */
      readonly update_only?: true;
      /** as sent or fetched */
      readonly bytes: number;
      /** Unix seconds */
      readonly created_time: number;
      /** Unix seconds */
      readonly started_time?: number;
      /** Unix seconds */
      readonly ended_time?: number;
      /** all rows so far, good and bad */
      readonly rows: number;
      /** items that came of them */
      readonly items: number;
      /** whose retailer_id is new to the feed */
      readonly items_added: number;
      /** whose retailer_id the feed had */
      readonly items_replaced: number;
      /** that the feed had and the file has not */
      readonly items_removed: number;
      /** rows that are no items */
      readonly bad_rows: number;
      /** rows that replaced an earlier row of the file */
      readonly duplicates: number;
      /** why the file as a whole was refused */
      readonly problem?: string;
      /** bad rows, duplicates and values that were left out, the first hundred */
      readonly errors: readonly ({
        /** the row counts, in spite of it */
        readonly severity?: "warning";
        /** of the file, unpacked; the first is 1 */
        readonly line: number;
        readonly retailer_id?: string;
        readonly field?: string;
        readonly reason: string;
      })[];
    };
  };
  /** Lists the last hundred uploads of a feed, the newest first. */
  listFeedUploads: {
    query: {
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly feed: string;
        /** counts the uploads of the feed from 1 */
        readonly n: number;
        /** done: the feed holds these items alone; failed: it is as it was */
        readonly status: "receiving" | "pending" | "running" | "done" | "failed";
        readonly source: "file" | "url";
        readonly url?: string;
        readonly file_name?: string;
        readonly format?: "csv" | "tsv" | "xml" | "jsonl";
        /** the items of the file are added to those of the feed */
        readonly update_only?: true;
        /** as sent or fetched */
        readonly bytes: number;
        /** Unix seconds */
        readonly created_time: number;
        /** Unix seconds */
        readonly started_time?: number;
        /** Unix seconds */
        readonly ended_time?: number;
        /** all rows so far, good and bad */
        readonly rows: number;
        /** items that came of them */
        readonly items: number;
        /** whose retailer_id is new to the feed */
        readonly items_added: number;
        /** whose retailer_id the feed had */
        readonly items_replaced: number;
        /** that the feed had and the file has not */
        readonly items_removed: number;
        /** rows that are no items */
        readonly bad_rows: number;
        /** rows that replaced an earlier row of the file */
        readonly duplicates: number;
        /** why the file as a whole was refused */
        readonly problem?: string;
        /** bad rows, duplicates and values that were left out, the first hundred */
        readonly errors: readonly ({
          /** the row counts, in spite of it */
          readonly severity?: "warning";
          /** of the file, unpacked; the first is 1 */
          readonly line: number;
          readonly retailer_id?: string;
          readonly field?: string;
          readonly reason: string;
        })[];
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The report of an upload, while it runs or after its end. */
  readFeedUpload: {
    query: {
      /** how long to wait for the upload's end, in real time; not at all unless it is given */
      readonly within_ms?: number;
    };
    response: {
      readonly feed: string;
      /** counts the uploads of the feed from 1 */
      readonly n: number;
      /** done: the feed holds these items alone; failed: it is as it was */
      readonly status: "receiving" | "pending" | "running" | "done" | "failed";
      readonly source: "file" | "url";
      readonly url?: string;
      readonly file_name?: string;
      readonly format?: "csv" | "tsv" | "xml" | "jsonl";
      /** the items of the file are added to those of the feed */
      readonly update_only?: true;
      /** as sent or fetched */
      readonly bytes: number;
      /** Unix seconds */
      readonly created_time: number;
      /** Unix seconds */
      readonly started_time?: number;
      /** Unix seconds */
      readonly ended_time?: number;
      /** all rows so far, good and bad */
      readonly rows: number;
      /** items that came of them */
      readonly items: number;
      /** whose retailer_id is new to the feed */
      readonly items_added: number;
      /** whose retailer_id the feed had */
      readonly items_replaced: number;
      /** that the feed had and the file has not */
      readonly items_removed: number;
      /** rows that are no items */
      readonly bad_rows: number;
      /** rows that replaced an earlier row of the file */
      readonly duplicates: number;
      /** why the file as a whole was refused */
      readonly problem?: string;
      /** bad rows, duplicates and values that were left out, the first hundred */
      readonly errors: readonly ({
        /** the row counts, in spite of it */
        readonly severity?: "warning";
        /** of the file, unpacked; the first is 1 */
        readonly line: number;
        readonly retailer_id?: string;
        readonly field?: string;
        readonly reason: string;
      })[];
    };
  };
  /** Something happens to a business messaging account, or to one of its numbers: any field of the catalogue, with any value. */
  emitChatappEvent: {
    body: {
      readonly account: string;
      /** of the account, where the event belongs to one */
      readonly phone_number?: string;
      readonly field: "messages" | "message_echoes" | "calls" | "consumer_profile" | "messaging_handovers" | "group_lifecycle_update" | "group_participants_update" | "group_settings_update" | "group_status_update" | "smb_message_echoes" | "smb_app_state_sync" | "history" | "account_settings_update" | "message_template_status_update" | "message_template_quality_update" | "message_template_components_update" | "template_category_update" | "account_update" | "account_review_update" | "account_alerts";
      /** what the webhook carries */
      readonly value: { readonly [name: string]: unknown };
    };
    response: {
      readonly success: boolean;
    };
  };
  /** The account writes to itself in the app, which yields the echo. */
  sendInApp: {
    body: {
      readonly social_account: string;
      readonly text: string;
    };
    response: {
      readonly id: string;
    };
  };
  /** The account presses a button in a message to itself. */
  pressInApp: {
    body: {
      readonly social_account: string;
      /** of the button */
      readonly title: string;
      /** of the button */
      readonly payload: string;
      /** the message that the button stood in */
      readonly mid: string;
    };
    response: {
      readonly success: boolean;
    };
  };
  /** The account comments on a post, its own or another's. */
  commentInApp: {
    body: {
      /** the author of the comment */
      readonly social_account: string;
      /** on whose owner's post */
      readonly media: string;
      readonly text: string;
    };
    response: {
      readonly id: string;
    };
  };
  /** The account comments on a live video, its own or another's, or on a media as if it were one. */
  commentLiveInApp: {
    body: {
      /** the author of the comment */
      readonly social_account: string;
      /** on whose owner's post; either this or `live_video` */
      readonly media?: string;
      readonly text: string;
      /** a published one, of a page that has a social account */
      readonly live_video?: string;
    };
    response: {
      readonly id: string;
    };
  };
  /** The log of an app's events, newest first. With a filter a page may be short and still have a next one. */
  listAppEvents: {
    query: {
      /** of the event */
      readonly name?: string;
      /** arrived since: Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** rows of a page, 100 unless said otherwise */
      readonly limit?: number;
      /** as `paging.next` gave it */
      readonly after?: string;
    };
    response: {
      readonly data: readonly ({
        readonly id: string;
        /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
        readonly event: string;
        /** of custom events */
        readonly event_name?: string;
        readonly event_id?: string;
        /** Unix seconds */
        readonly event_time: number;
        /** Unix seconds */
        readonly received_time: number;
        /** decimal */
        readonly value_to_sum?: string;
        readonly parameters: { readonly [name: string]: unknown };
        readonly advertiser_id?: string;
        readonly attribution?: string;
        readonly ip?: string;
        readonly extinfo?: readonly (string)[];
        readonly application_tracking_enabled: 0 | 1;
        readonly advertiser_tracking_enabled: 0 | 1;
        readonly ud: { readonly [name: string]: string };
        /** values of user data that were not hashed */
        readonly dropped_user_data: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The log as JSON lines or as a Parquet file, newest first. */
  exportAppEvents: {
    query: {
      /** of the event */
      readonly name?: string;
      /** arrived since: Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** ndjson unless said otherwise */
      readonly format?: "ndjson" | "parquet";
    };
    response: {
      readonly id: string;
      /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
      readonly event: string;
      /** of custom events */
      readonly event_name?: string;
      readonly event_id?: string;
      /** Unix seconds */
      readonly event_time: number;
      /** Unix seconds */
      readonly received_time: number;
      /** decimal */
      readonly value_to_sum?: string;
      readonly parameters: { readonly [name: string]: unknown };
      readonly advertiser_id?: string;
      readonly attribution?: string;
      readonly ip?: string;
      readonly extinfo?: readonly (string)[];
      readonly application_tracking_enabled: 0 | 1;
      readonly advertiser_tracking_enabled: 0 | 1;
      readonly ud: { readonly [name: string]: string };
      /** values of user data that were not hashed */
      readonly dropped_user_data: number;
    };
  };
  /** The distinct event names of an app, with counts and exact sums. */
  listEventNames: {
    response: {
      readonly data: readonly ({
        readonly name: string;
        readonly standard: boolean;
        readonly active: boolean;
        readonly count: number;
        /** by currency, empty for none */
        readonly sums: { readonly [name: string]: string };
        /** Unix seconds */
        readonly first_time: number;
        /** Unix seconds */
        readonly last_time: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** Deactivates an event name: its place is free at once, and its events are refused from now on. */
  deactivateEventName: {
    response: {
      readonly success: boolean;
    };
  };
  /** Counts and exact sums of an app's events by day, name and currency. */
  listEventSums: {
    query: {
      /** Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** Unix seconds or ISO 8601 */
      readonly until?: number | string;
    };
    response: {
      readonly data: readonly ({
        /** UTC */
        readonly day: string;
        /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
        readonly event: string;
        readonly event_name?: string;
        /** empty for none */
        readonly currency: string;
        readonly count: number;
        /** decimal */
        readonly sum?: string;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** The latest events of the App channel, each with a verdict; with Accept: text/event-stream, live from now on. */
  readTestEvents: {
    response: {
      readonly data: readonly ({
        readonly channel: "App";
        readonly app: string;
        /** Unix seconds */
        readonly received_time: number;
        /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
        readonly event: string;
        readonly event_name?: string;
        readonly event_id?: string;
        readonly verdict: "accepted" | "duplicate" | "refused";
        /** why it was refused */
        readonly reason?: string;
        readonly dropped_user_data: number;
      })[];
      readonly paging: {
        readonly next?: string;
      };
    };
  };
  /** How long raw events are kept; counts and sums stay for good. */
  readEventRetention: {
    response: {
      /** that raw events are kept after they arrived; 0: for good */
      readonly days: number;
    };
  };
  /** Says for this world how long raw events are kept; older ones go within a day. */
  setEventRetention: {
    body: {
      /** that raw events are kept after they arrived; 0: for good */
      readonly days: number;
    };
    response: {
      /** that raw events are kept after they arrived; 0: for good */
      readonly days: number;
    };
  };
  /** Events due to ads by the model of ads reporting: 1-day view through 28-day click. */
  readAttributionReport: {
    query: {
      /** Unix seconds or ISO 8601 */
      readonly since?: number | string;
      /** Unix seconds or ISO 8601 */
      readonly until?: number | string;
    };
    response: {
      /** Unix seconds */
      readonly since: number;
      /** Unix seconds */
      readonly until: number;
      readonly data: readonly ({
        readonly ad_id: string;
        readonly campaign_id: string;
        /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
        readonly event: string;
        readonly event_name?: string;
        /** events due to a click of the 28 days before */
        readonly click_through: number;
        /** events due to an impression of the day before, where there was no click */
        readonly view_through: number;
        readonly cross_campaign: number;
        readonly cross_device: number;
        /** by currency, empty for none */
        readonly sums: { readonly [name: string]: string };
      })[];
    };
  };
  /** A device by one of its ids: clicks and impressions with their windows, its newest 200 events, and the touch that each is due to, as `app_attribution` with `consider_views` says. */
  readDevice: {
    query: {
      /** of the device */
      readonly advertiser_id?: string;
      /** the mobile cookie of the device, in its place */
      readonly attribution?: string;
    };
    response: {
      /** all that requests and touches tie together */
      readonly ids: readonly (string)[];
      /** of the device, its persons and their other devices, the oldest first */
      readonly touches: readonly ({
        readonly id: string;
        readonly kind: "click" | "impression";
        /** Unix seconds */
        readonly time: number;
        /** the end of its window, Unix seconds */
        readonly until: number;
        readonly ad_id: string;
        readonly campaign_id: string;
        readonly objective: string;
        /** the ad may claim events of this app */
        readonly claims: boolean;
      })[];
      /** the newest first */
      readonly events: readonly ({
        /** MOBILE_APP_INSTALL, CUSTOM_APP_EVENTS or DEFERRED_APP_LINK */
        readonly event: string;
        readonly event_name?: string;
        /** Unix seconds */
        readonly event_time: number;
        /** false: `advertiser_tracking_enabled` 0, so it is due to no ad */
        readonly tracked: boolean;
        /** the id of the touch; left out where there is none */
        readonly due_to?: string;
        readonly cross_campaign?: boolean;
        readonly cross_device?: boolean;
      })[];
    };
  };
  /** Records a click on an ad; the time is now unless it is given. */
  recordClick: {
    body: {
      readonly ad: string;
      readonly advertiser_id?: string;
      /** mobile cookie */
      readonly attribution?: string;
      /** hashed person keys: em, ph, external_id */
      readonly ud?: { readonly [name: string]: string };
      /** Unix seconds or ISO 8601 */
      readonly time?: number | string;
    };
    response: {
      readonly id: string;
    };
  };
  /** Records an impression of an ad; the time is now unless it is given. */
  recordImpression: {
    body: {
      readonly ad: string;
      readonly advertiser_id?: string;
      /** mobile cookie */
      readonly attribution?: string;
      /** hashed person keys: em, ph, external_id */
      readonly ud?: { readonly [name: string]: string };
      /** Unix seconds or ISO 8601 */
      readonly time?: number | string;
    };
    response: {
      readonly id: string;
    };
  };
}

/** The webhook fields of each object. */
export const webhookFields = {
  social: ["messages","comments","live_comments"],
  chatapp_business_account: ["messages","message_echoes","calls","consumer_profile","messaging_handovers","group_lifecycle_update","group_participants_update","group_settings_update","group_status_update","smb_message_echoes","smb_app_state_sync","history","account_settings_update","message_template_status_update","message_template_quality_update","message_template_components_update","template_category_update","account_update","account_review_update","account_alerts"],
  page: ["custom_labels","live_videos"],
  catalog: ["product_feed"],
} as const;
