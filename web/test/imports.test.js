import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";

// layers are the folders of the front end. A module may import its own folder and lower layers.
const layers = [["core"], ["words"], ["changes", "widgets"], ["start"], ["now", "limits", "people", "records", "admin"], ["shell"]];

// wholeState describes the state of all pages, so it names their types. It doesn't import their
// code.
const wholeState = "core/state.js";

const [app, lab, overlay, viewers] = ["app", "lab", "overlay", "viewers"].map((folder) => new URL(`../static/${folder}/`, import.meta.url));
const modulesOf = (folder) => readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".js"));
const modules = modulesOf(app);

// importsOf returns {code, types}: the modules that a module imports, and those in its comments.
function importsOf(module, folder = app) {
  const lines = readFileSync(new URL(module, folder), "utf8").split("\n");
  const isComment = (line) => /^\s*(\/\/|\/?\*)/.test(line);
  const named = (lines) => lines.flatMap((line) => [...line.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"]*)"/g)])
    .map(([, path]) => posix.join(posix.dirname(module), path)).filter((path) => !/^\.\.\/(vendor|text|overlay)\//.test(path));
  return { code: named(lines.filter((line) => !isComment(line))), types: named(lines.filter(isComment)) };
}

const folderOf = (module) => posix.dirname(module);
const layerOf = (module) => layers.findIndex((folders) => folders.includes(folderOf(module)));

test("imports: from a module's own folder or a lower layer", () => {
  for (const module of modules) {
    assert.notEqual(layerOf(module), -1, `${module} is in no layer`);
    const { code, types } = importsOf(module);
    for (const imported of module === wholeState ? code : [...code, ...types]) {
      assert.ok(modules.includes(imported), `${module} imports ${imported}, which doesn't exist`);
      assert.ok(folderOf(imported) === folderOf(module) || layerOf(imported) < layerOf(module), `${module} imports ${imported}`);
    }
  }
});

function hasNoCircle(modules, folder) {
  const done = new Set();
  /** @param {string} module @param {string[]} path */
  const visit = (module, path) => {
    assert.ok(!path.includes(module), `circle: ${[...path, module].join(" → ")}`);
    if (done.has(module)) return;
    for (const imported of importsOf(module, folder).code.filter((name) => !name.startsWith("../"))) visit(imported, [...path, module]);
    done.add(module);
  };
  for (const module of modules) visit(module, []);
  assert.equal(done.size, modules.length);
}

test("imports: without circles", () => {
  hasNoCircle(modules, app);
  hasNoCircle(modulesOf(lab), lab);
  hasNoCircle(modulesOf(overlay), overlay);
  hasNoCircle(modulesOf(viewers), viewers);
});

test("imports: the overlay and the page for viewers need nothing of the dashboard", () => {
  for (const folder of [overlay, viewers]) {
    for (const module of modulesOf(folder)) {
      for (const imported of importsOf(module, folder).code) assert.ok(modulesOf(folder).includes(imported), `${module} imports ${imported}`);
    }
  }
});

test("imports: only the Lab's engine asks the server", () => {
  for (const module of modulesOf(lab)) {
    const asks = importsOf(module, lab).code.some((name) => name.startsWith("../app/core/")) || /\bfetch\(/.test(readFileSync(new URL(module, lab), "utf8"));
    assert.equal(asks, module === "engine.js", module);
  }
});
