// The address bar: #/now and #/limits, with ?channel= where there are several.

export const pages = { now: "Now", limits: "Limits" };

// parse reads a fragment. code is that of a sign-in link, else empty.
export function parse(fragment) {
  if (fragment.startsWith("#signin=")) return { page: "now", channel: "", code: fragment.slice("#signin=".length) };
  const [path, query] = fragment.replace(/^#\/?/, "").split("?");
  return { page: path in pages ? path : "now", channel: new URLSearchParams(query).get("channel") ?? "", code: "" };
}

// fragment is the address of a page within the dashboard.
export function fragment(page, channel) {
  return "#/" + page + (channel ? "?" + new URLSearchParams({ channel }) : "");
}
