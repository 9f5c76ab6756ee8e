// @ts-check
// The theme and the density of the page. This script is no module, because it must run before the
// page is drawn the first time. It runs again at every "appearance" event.

{
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // apply writes the chosen theme and density to the page: data-theme is "light" or "dark",
  // data-density is "comfortable" or "compact".
  const apply = () => {
    /** @type {Record<string, unknown>} */
    let chosen = {};
    try {
      chosen = JSON.parse(localStorage.getItem("chatguard")) ?? {};
    } catch {
      // The browser keeps nothing, or something else. The defaults apply.
    }
    const { dataset } = document.documentElement;
    const isDark = chosen.theme === "dark" || (chosen.theme !== "light" && dark.matches);
    dataset.theme = isDark ? "dark" : "light";
    dataset.density = chosen.density === "compact" ? "compact" : "comfortable";
    dispatchEvent(new Event("themechange"));
  };

  dark.addEventListener("change", apply);
  addEventListener("storage", apply); // chosen in another window
  addEventListener("appearance", apply);
  apply();
}
