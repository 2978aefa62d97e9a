/** D-04: every origin may send requests; no cookie is ever read, so refusing an origin would protect nothing. */

export const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "x-pf-trace-id, pf-api-version, x-app-usage, x-business-use-case-usage, x-ad-api-version-warning, deprecation, link, etag, retry-after, www-authenticate",
} as const;

export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-methods": "GET, POST, DELETE, HEAD, OPTIONS",
  "access-control-allow-headers": "Authorization, Content-Type, X-API-Version, If-None-Match, X-Forwarded-For",
  // A day, the most that any browser keeps: the response never changes.
  "access-control-max-age": "86400",
};
