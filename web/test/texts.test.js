import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";
import { commas, languages, list, loadTexts, rich, sentences, t, table } from "../static/text/text.js";

const folder = new URL("../static/text/", import.meta.url);
const partsOf = (tag) => readdirSync(new URL(tag + "/", folder)).filter((name) => name !== "server.json").sort(); // a test in Go checks that one
async function catalogue(tag, part) {
  const place = new URL(`${tag}/${part}`, folder);
  return part.endsWith(".json") ? JSON.parse(readFileSync(place, "utf8")) : (await import(place)).default;
}

const forms = (text) => (typeof text === "string" ? [text] : Object.values(text));
const placeholders = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test("texts: every language has every text, with the same placeholders", async () => {
  const parts = partsOf("en");
  for (const tag of Object.keys(languages)) {
    assert.deepEqual(partsOf(tag), parts, tag);
    const plural = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    for (const part of parts) {
      const [english, own] = [await catalogue("en", part), await catalogue(tag, part)];
      assert.deepEqual(Object.keys(own).sort(), Object.keys(english).sort(), `${tag}/${part}`);
      for (const [name, text] of Object.entries(english)) {
        const where = `${tag}/${part}: ${name}`;
        if (typeof text !== "string") assert.deepEqual(Object.keys(own[name]).sort(), [...plural].sort(), `${where}: plural categories`);
        else assert.equal(typeof own[name], "string", where);
        for (const form of forms(own[name])) {
          assert.ok(form.trim() !== "" || form === text, `${where} is empty`);
          const wanted = placeholders(forms(text).at(-1)).filter((name) => name !== "n");
          assert.deepEqual(placeholders(form).filter((name) => name !== "n"), wanted, `${where}: placeholders`);
        }
        assert.ok(forms(own[name]).some((form) => form.includes("{n}")) === forms(text).some((form) => form.includes("{n}")), `${where}: {n}`);
      }
    }
  }
});

const root = new URL("../static/", import.meta.url);
const modules = readdirSync(root, { recursive: true }).map(String).filter((name) => name.endsWith(".js") && !name.startsWith("vendor"));
const pages = modules.filter((name) => !name.startsWith("text/"));
const codeOf = (name) => readFileSync(new URL(name, root), "utf8").split("\n").filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).join("\n");

test("texts: every text is used", async () => {
  const code = pages.map(codeOf).join("\n");
  for (const part of partsOf("en").filter((name) => name.endsWith(".js"))) {
    for (const name of Object.keys(await catalogue("en", part))) {
      const key = `${part.replace(".js", "")}.${name}`;
      assert.ok(code.includes(`"${key}"`), `${key} isn't used`);
    }
  }
});

// reached returns the modules that a module imports at once or later, and itself.
function reached(name, found = new Set()) {
  if (found.has(name) || name.startsWith("vendor/")) return found;
  found.add(name);
  for (const [, path] of codeOf(name).matchAll(/(?:\bfrom\s*|\bimport\(?\s*)"(\.[^"]*)"/g)) reached(posix.join(posix.dirname(name), path), found);
  return found;
}

test("texts: the Lab loads those that its modules use", () => {
  const [, loaded] = /\bloadTexts\(([^)]*)\)/.exec(codeOf("lab/main.js"));
  const parts = partsOf("en").map((name) => name.replace(".js", "")), isKey = new RegExp(`"(${parts.join("|")})\\.[a-z0-9-]+"`, "g");
  for (const name of [...reached("lab/main.js")].filter((name) => !name.startsWith("text/"))) {
    for (const [key, part] of codeOf(name).matchAll(isKey)) assert.ok(loaded.includes(`"${part}"`), `${name} uses ${key}`);
  }
});

// templates returns the parts of html templates that aren't code, at any depth.
function templates(code) {
  const found = [], open = []; // open: templates and braces around the place
  for (let i = 0; i < code.length; i++) {
    const inside = open.at(-1);
    if (inside?.text !== undefined) {
      if (code[i] === "\\") i++;
      else if (code[i] === "`") open.pop();
      else if (code.startsWith("${", i)) open.push({}), i++, (inside.text += "\u0000");
      else inside.text += code[i];
    } else if (code[i] === "`") {
      const template = { text: "", isHTML: /html$/.test(code.slice(0, i)) };
      if (template.isHTML) found.push(template);
      open.push(template);
    } else if (code[i] === "{") open.push({});
    else if (code[i] === "}") open.pop();
    else if (code[i] === '"') while (code[++i] !== '"' && i < code.length) if (code[i] === "\\") i++;
  }
  return found.map(({ text }) => text);
}

// wordsIn returns the texts for people in a template: what stands between tags, and attributes. The
// name of chatguard is the same in all languages.
function wordsIn(template) {
  const text = template.replace(/<(code|kbd)\b[^>]*>[^<]*<\/\1>/g, "");
  const attributes = [...text.matchAll(/\b(?:title|label|alt|placeholder|about|aria-label|aria-description)="([^"]*)"/g)].map(([, value]) => value);
  return [...attributes, ...text.replace(/<[^>]*>/g, "\n").split("\n")].map((words) => words.replaceAll("\u0000", "").trim()).filter((words) => /\p{L}{2}/u.test(words) && words !== "chatguard");
}

test("texts: none is in the code", () => {
  for (const name of pages) assert.deepEqual(templates(codeOf(name)).flatMap(wordsIn), [], name);
});

test("texts: placeholders and plurals", async () => {
  await loadTexts("shell");
  assert.equal(t("shell.theme"), "Theme");
  const view = { link: true };
  assert.deepEqual(rich("shell.sign-in-link", { command: view }), ["Run ", view, " on chatguard’s server, then open the link that it prints."]);
  assert.throws(() => t("shell.nothing"), /isn't loaded/);
});

test("texts: lists of texts and views", () => {
  const view = { bold: true };
  assert.deepEqual([[], ["a"], ["a", "b"], ["a", "b", "c"]].map((values) => list(values).join("")), ["", "a", "a and b", "a, b and c"]);
  assert.deepEqual(list([view, "b"]), [view, " and ", "b"]);
});

test("texts: tables are read late", async () => {
  const access = table({ view: "shell.access-view", early: "shell.nothing" });
  await loadTexts("shell");
  assert.equal(access.view, "view only");
  assert.deepEqual(Object.keys(access), ["view", "early"]);
  assert.throws(() => access.early, /isn't loaded/);
});

test("texts: joined", () => {
  assert.equal(commas(["a", "", "b", false, "c"]), "a, b, c");
  assert.equal(sentences("One.", null, "Two."), "One. Two.");
});
