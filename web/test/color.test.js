import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { contrast, readable } from "../static/app/words/color.js";

const rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
const white = [255, 255, 255], black = [0, 0, 0];

test("contrast: as WCAG 2 defines it", () => {
  assert.equal(contrast(white, black), 21);
  assert.equal(contrast(black, white), 21);
  assert.equal(contrast(rgb("#777777"), rgb("#777777")), 1);
  assert.equal(contrast(rgb("#767676"), white).toFixed(2), "4.54");
});

test("readable: a colour that has enough contrast stays as it is", () => {
  assert.equal(readable("#0000ff", "light"), "#0000ff");
  assert.equal(readable("#ffff00", "dark"), "#ffff00");
});

test("readable: every other colour is mixed until it has, on the grounds of each theme", () => {
  const styles = ["app.css", "style/contrast.css"].map((file) => readFileSync(new URL(`../static/${file}`, import.meta.url), "utf8")).join("");
  const grounds = { light: [white], dark: [black] };
  for (const [, color] of styles.matchAll(/--(?:ground|raised|sunken|hover): (#[0-9a-f]{6});/g)) grounds[contrast(rgb(color), white) < 4.5 ? "light" : "dark"].push(rgb(color));
  assert.deepEqual([grounds.light.length, grounds.dark.length], [5, 6], "one of them is #fff");
  for (const color of ["#ff0000", "#00ff00", "#0000ff", "#ffff00", "#ffffff", "#000000", "#1e90ff", "#8a2be2", "#daa520", "#ff4500", "#7f7fff"]) {
    for (const [theme, all] of Object.entries(grounds)) {
      const shown = readable(color, theme);
      for (const ground of shown ? all : []) assert.ok(contrast(rgb(shown), ground) >= 4.5, `${color} is ${shown} in the ${theme} theme`);
    }
  }
});

test("a row can be read as soon as it arrives", () => {
  assert.match(readFileSync(new URL("../static/style/now.css", import.meta.url), "utf8"), /^@keyframes arrive { from { background: var\(--hover\); } }/m);
});

test("readable: no colour", () => {
  for (const color of ["", "red", "#fff", "#12345g", "url(x)", "#1e90ff;"]) assert.equal(readable(color, "light"), "", color);
});
