// The address bar: the page, with ?channel= where there are several, and with what the page itself keeps there: #/people?user=7.

export const pages = { now: "Now", limits: "Limits", people: "People", journal: "Journal", audit: "Audit" };

// parse reads a fragment. code is that of a sign-in link, else empty; query has everything behind the question mark but the channel.
export function parse(fragment) {
  if (fragment.startsWith("#signin=")) return { page: "now", channel: "", query: {}, code: fragment.slice("#signin=".length) };
  const [path, search] = fragment.replace(/^#\/?/, "").split("?");
  const { channel = "", ...query } = Object.fromEntries(new URLSearchParams(search));
  return { page: Object.hasOwn(pages, path) ? path : "now", channel, query, code: "" };
}

// fragment is the address of a page within the dashboard. What is empty in the query is left out.
export function fragment(page, channel, query = {}) {
  const kept = Object.entries({ channel, ...query }).filter(([, value]) => value);
  return "#/" + page + (kept.length > 0 ? "?" + new URLSearchParams(kept) : "");
}

// linkTo is the address of a page that shows the same channel. It names that where there are several.
export function linkTo({ channels, channel }, page, query) {
  return fragment(page, channels.length > 1 ? channel : "", query);
}
