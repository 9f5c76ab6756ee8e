import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";
import { commas, languages, list, loadTexts, rich, sentences, t, table } from "../testing/texts.js";

const folder = new URL("../static/text/", import.meta.url);
const filesOf = (tag) => readdirSync(new URL(tag + "/", folder));
const partsOf = (tag) => filesOf(tag).filter((name) => name !== "server.json").sort(); // a test in Go checks that one
const read = (tag, part) => readFileSync(new URL(`${tag}/${part}`, folder), "utf8");

// catalogue returns the forms of each text: {now: {"": "Now"}, users: {one: "{{n}} user", other: "{{n}} users"}}.
function catalogue(tag, part) {
  const found = {};
  for (const [key, text] of Object.entries(JSON.parse(read(tag, part)))) {
    const [name, form = ""] = key.split("_");
    (found[name] ??= {})[form] = text;
  }
  return found;
}

const placeholders = (text) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

test("texts: every language has every text, with the same placeholders", () => {
  const parts = partsOf("en");
  for (const tag of Object.keys(languages)) {
    assert.deepEqual(partsOf(tag), parts, tag);
    const plural = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    for (const part of parts) {
      const [english, own] = [catalogue("en", part), catalogue(tag, part)];
      assert.deepEqual(Object.keys(own).sort(), Object.keys(english).sort(), `${tag}/${part}`);
      for (const [name, texts] of Object.entries(english)) {
        const where = `${tag}/${part}: ${name}`;
        assert.deepEqual(Object.keys(own[name]).sort(), "" in texts ? [""] : [...plural].sort(), `${where}: plural categories`);
        const [forms, wanted] = [Object.values(own[name]), Object.values(texts)];
        for (const form of forms) {
          assert.ok(form.trim() !== "" || form === texts[""], `${where} is empty`);
          assert.doesNotMatch(form.replace(/\{\{\w+\}\}/g, ""), /[{}]/, `${where}: braces`);
          assert.deepEqual(placeholders(form).filter((name) => name !== "n"), placeholders(wanted.at(-1)).filter((name) => name !== "n"), `${where}: placeholders`);
        }
        assert.ok(forms.some((form) => form.includes("{{n}}")) === wanted.some((form) => form.includes("{{n}}")), `${where}: {{n}}`);
      }
    }
  }
});

// So no key is twice in a file, and a translator's tool changes only the lines of the texts that it changes.
test("texts: the files are as JSON.stringify writes them", () => {
  for (const tag of Object.keys(languages)) {
    for (const part of filesOf(tag)) assert.equal(read(tag, part), JSON.stringify(JSON.parse(read(tag, part)), null, 2) + "\n", `${tag}/${part}`);
  }
});

const root = new URL("../static/", import.meta.url);
const modules = readdirSync(root, { recursive: true }).map(String).filter((name) => name.endsWith(".js") && !name.startsWith("vendor"));
const pages = modules.filter((name) => !name.startsWith("text/"));
const codeOf = (name) => readFileSync(new URL(name, root), "utf8").split("\n").filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)).join("\n");

const ofServer = ["chat.json", "document.json"];

test("texts: every text is used", () => {
  const code = pages.map(codeOf).join("\n");
  for (const part of partsOf("en").filter((name) => !ofServer.includes(name))) {
    for (const name of Object.keys(catalogue("en", part))) {
      const key = `${part.replace(".json", "")}.${name}`;
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
  const parts = partsOf("en").map((name) => name.replace(".json", "")), isKey = new RegExp(`"(${parts.join("|")})\\.[a-z0-9-]+"`, "g");
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

test("texts: each part is loaded once, and again if that failed", async () => {
  const { fetch } = globalThis;
  const asked = [];
  try {
    globalThis.fetch = async (address) => (asked.push(address.href.split("/").at(-1)), new Response("", { status: 500 }));
    await assert.rejects(loadTexts("device"), /device can't be loaded: 500/);
    globalThis.fetch = (address) => (asked.push(address.href.split("/").at(-1)), fetch(address));
    await Promise.all([loadTexts("device"), loadTexts("device", "entries")]);
    await loadTexts("device");
  } finally {
    globalThis.fetch = fetch;
  }
  assert.deepEqual(asked, ["device.json", "device.json", "entries.json"]);
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
