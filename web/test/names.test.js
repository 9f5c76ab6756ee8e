import assert from "node:assert/strict";
import test from "node:test";
import { loginOf, nameOf } from "../static/app/core/state.js";
import { authorName } from "../static/app/words/author.js";
import { loadTexts } from "../testing/texts.js";

const named = (display_name, login = "", user_id = "7") => ({ display_name, login, user_id });

test("nameOf: the display name, else the login, else the ID", () => {
  assert.equal(nameOf(named("長い", "nagai")), "長い");
  assert.equal(nameOf(named("", "nagai")), "nagai");
  assert.equal(nameOf(named("", "", "check:7")), "7");
});

test("nameOf: invisible, turned and long names", () => {
  for (const name of ["\u200b", " \u00a0", "\u3164", "\u202e", "\u2800", "\ufeff\u200d"]) assert.equal(nameOf(named(name, "anna")), "anna", JSON.stringify(name));
  assert.equal(nameOf(named("\u200b", "\u200b")), "7");
  assert.equal(nameOf(named("\u202elive")), "live");
  assert.equal(nameOf(named("👩‍🚀 Ada")), "👩‍🚀 Ada");
  assert.equal(nameOf(named("x".repeat(200))), "x".repeat(50) + "…");
});

test("loginOf: only a login that the name doesn't say", () => {
  assert.equal(loginOf(named("長い", "nagai")), "nagai");
  assert.equal(loginOf(named("TinyCricket", "tinycricket")), "");
  assert.equal(loginOf(named("", "anna")), "");
});

test("authorName: where an author comes from", async () => {
  await loadTexts("words");
  for (const [author, name] of [
    ["owner", "owner"], ["anna", "anna"], ["chatguard", "chatguard"], ["twitch:anna", "anna on Twitch"], ["token:anna", "anna (token)"],
    ["link:token:anna", "token:anna (link)"], ["site:anna", "anna (site)"], ["link:owner", "owner (link)"], ["other:anna", "other:anna"], ["", ""],
  ]) assert.equal(authorName(author), name);
});
