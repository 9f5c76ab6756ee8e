import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { labAddress } from "../static/app/limits/lab-link.js";
import { draftOf, newLimit } from "../static/app/limits/draft.js";
import { errorsOf } from "../static/app/limits/draft-errors.js";
import { limitText, readLimit } from "../static/app/words/limit-text.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

const burst = { name: "burst", algorithm: "token-bucket", burst: 3, refill: "10m0s", roles: { vip: { burst: 5 } } };
const daily = { name: "daily", algorithm: "daily-window", messages: 300, reset_at: "04:30" };

test("limitText: what readLimit reads", () => {
  assert.equal(limitText(burst), "burst:token-bucket,burst=3,refill=10m");
  assert.equal(limitText({ ...daily, per: "channel", timezone: "Etc/GMT+1", count_throttled: true }),
    "daily:daily-window,messages=300,timezone=Etc/GMT%2B1,reset_at=04:30,per=channel,count_throttled=true");
  assert.match(limitText({ ...daily, period: "week", first_day: "sunday" }), /,reset_at=04:30,period=week,first_day=sunday$/);
  assert.equal(limitText({ name: "copies", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true, from_length: 20, strikes: true }),
    "copies:sliding-log,messages=3,every=30s,per=text,similar=true,from_length=20,strikes=true");
  assert.deepEqual(readLimit(limitText(daily)), { name: "daily", algorithm: "daily-window", values: [["messages", "300"], ["reset_at", "04:30"]], unread: [] });
});

test("readLimit: a name and an algorithm may be missing, and the rest is kept to be named", () => {
  assert.deepEqual(readLimit("burst: burst=2 ,refill=6s"), { name: "burst", algorithm: "", values: [["burst", "2"], ["refill", "6s"]], unread: [] });
  assert.deepEqual(readLimit("sliding-log,messages=3,reset_at=04:30"), { name: "", algorithm: "sliding-log", values: [["messages", "3"], ["reset_at", "04:30"]], unread: [] });
  assert.deepEqual(readLimit("a:b,c,d=e=f,,=g"), { name: "a", algorithm: "b", values: [["d", "e=f"], ["", "g"]], unread: ["c"] });
  assert.deepEqual(readLimit(""), { name: "", algorithm: "", values: [], unread: [] });
});

// address returns the Lab's address for a limit after a change of its draft.
function address(index, change = () => {}, timezone = "") {
  const policy = { mode: "enforce", timezone, exempt: [], limits: [burst, daily], penalties: { ladder: [], strike_every: "10s", forget_after: "30m0s" } };
  const draft = draftOf(policy);
  change(draft);
  return labAddress(draft.limits[index], index, { policy, draft, errors: errorsOf({ policy, draft }) }, "check:a b");
}

const traffic = "&traffic=recorded,channel=check%3Aa%20b,for=10m";

test("labAddress: the limit in force, and the draft if it differs", () => {
  assert.equal(address(0), `lab#lanes=burst:token-bucket,burst=3,refill=10m${traffic}`);
  assert.equal(address(0, ({ limits }) => (limits[0].texts.refill = "5 s")), `lab#lanes=burst:token-bucket,burst=3,refill=10m;burst:token-bucket,burst=3,refill=5s${traffic}`);
  assert.equal(address(0, ({ limits }) => (limits[0].texts.refill = "x")), `lab#lanes=burst:token-bucket,burst=3,refill=10m${traffic}`, "a wrong draft is left out");
});

test("labAddress: a new limit, and the channel's day", () => {
  const add = (draft) => draft.limits.push(newLimit("sliding-log", draft.limits));
  assert.equal(address(2, add), `lab#lanes=sliding-log:sliding-log,messages=10,every=30s${traffic}`);
  assert.equal(address(2, (draft) => (add(draft), (draft.limits[2].texts.every = ""))), "", "nothing to show");
  assert.match(address(1, () => {}, "Europe/Berlin"), /messages=300,timezone=Europe\/Berlin,reset_at=04:30&/);
});
