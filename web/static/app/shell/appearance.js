// @ts-check
// The theme and the density of the page. This script is no module, because it must run before the
// page is drawn the first time.

{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const forced = matchMedia("(forced-colors: active)"); // pictures then need the theme that fits the system's colours

  // contrast.css is loaded only for those who need it.
  const contrast = matchMedia("(forced-colors: active), (prefers-contrast: more)");
  const base = /** @type {HTMLScriptElement} */ (document.currentScript).src;
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", media: contrast.media, href: new URL("../../style/contrast.css", base).href });
  const load = () => contrast.matches && !style.isConnected && document.head.append(style); // a second time would load it again

  const stored = () => {
    try {
      return JSON.parse(localStorage.getItem("chatguard")) ?? {};
    } catch {
      return {}; // the browser keeps nothing, or something else
    }
  };

  /** @type {{theme?: unknown, density?: unknown}} */
  let chosen = {};

  // apply writes the theme and the density to the page: data-theme is "light" or "dark",
  // data-density is "comfortable" or "compact".
  /** @param {{theme?: unknown, density?: unknown}} news */
  const apply = (news) => {
    chosen = news;
    const theme = forced.matches ? "system" : chosen.theme;
    const isDark = theme === "dark" || (theme !== "light" && dark.matches);
    const { dataset } = document.documentElement;
    dataset.theme = isDark ? "dark" : "light";
    dataset.density = chosen.density === "compact" ? "compact" : "comfortable";
    dispatchEvent(new Event("themechange"));
  };

  contrast.addEventListener("change", load);
  load();
  for (const one of [dark, forced]) one.addEventListener("change", () => apply(chosen));
  addEventListener("storage", () => apply(stored())); // chosen in another window
  addEventListener("appearance", (event) => apply(/** @type {CustomEvent} */ (event).detail));
  apply(stored());
}
