// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { state } from "../static/app/core/state.js";
import { weekAddress } from "../static/app/people/week.js";
import { basis, pointsOf, rows } from "../static/app/widgets/week-chart.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("rules");

const day = 86_400;
const from = Date.parse("2026-03-28T00:00:00Z") / 1000;
const at = (/** @type {number} */ seconds) => new Date((from + seconds) * 1000).toISOString();

/** @param {[number, number][]} points @returns {Api.getChannelsWeek} */
const week = (points) => ({
  limit: "crowd", capacity: 20, from: at(0), until: at(7 * day), points: points.map(([seconds, remaining]) => ({ at: at(seconds), remaining })),
});

test("week: the last point is the page's standing, or chatguard's", () => {
  const body = week([[0, 20], [900, 17], [7 * day, 16]]);
  const shown = (/** @type {ReturnType<typeof pointsOf>} */ points) => points.map(({ at, remaining }) => [at - from, remaining]);
  assert.deepEqual(shown(pointsOf(body)), [[0, 20], [900, 17], [7 * day, 16]]);
  const now = { at: at(7 * day + 3), remaining: 12, capacity: 20 };
  assert.deepEqual(shown(pointsOf(body, now)), [[0, 20], [900, 17], [7 * day + 3, 12]]);
  assert.deepEqual(shown(pointsOf(week([[7 * day, 20]]))), [[7 * day - 3600, null], [7 * day, 20]]);
  assert.deepEqual(pointsOf(week([])), []);
});

test("week: a row each six hours, with what was left then", () => {
  const points = pointsOf(week([[3600, 20], [6 * 3600, 17], [13 * 3600, 9], [18 * 3600 - 1, 8]]));
  assert.deepEqual(rows(points).map(({ at, values }) => [(at - from) / 3600, ...values]), [[6, 17], [12, 17]]);
});

test("week: what it is computed from", () => {
  const faster = "A limit that refills within a quarter hour looks emptier than it was.";
  assert.equal(basis(false, false), `Computed from the messages per quarter hour, with the current numbers. ${faster}`);
  assert.equal(basis(true, true), `Computed from the messages per quarter hour on this node, with the current numbers of users without roles. ${faster}`);
});

test("week: a shared limit has the channel's address", () => {
  state.channel = "check:a b";
  /** @param {Record<string, string>} scopes @param {string} limit @returns {any} */
  const person = (scopes, limit) => ({
    channel: state.channel, id: "41", week: { limit }, card: { limits: Object.entries(scopes).map(([name, per]) => ({ name, per })) },
  });
  const scopes = { crowd: "channel", daily: "user", total: "everywhere" };
  assert.equal(weekAddress(person(scopes, "")), "/channels/check%3Aa%20b/users/41/week");
  assert.equal(weekAddress(person(scopes, "daily")), "/channels/check%3Aa%20b/users/41/week?limit=daily");
  assert.equal(weekAddress(person(scopes, "crowd")), "/channels/check%3Aa%20b/week?limit=crowd");
  assert.equal(weekAddress(person(scopes, "total")), "/channels/check%3Aa%20b/week?limit=total");
  assert.equal(weekAddress(person({ crowd: "channel" }, "")), "/channels/check%3Aa%20b/week?limit=crowd");
});
