import assert from "node:assert/strict";
import test from "node:test";
import { AuditWords, changeName } from "../static/app/words/audit.js";
import { ChangeList } from "../static/app/words/changes.js";
import { whyIdle } from "../static/app/words/idle.js";
import { OverrideWords } from "../static/app/words/overrides.js";
import { pardonWords, unpardonWords } from "../static/app/words/pardons.js";
import { outcomeWords, penaltyWords, rungName } from "../static/app/words/penalties.js";
import { reasonWords } from "../static/app/words/reasons.js";
import { capitalised, roleGroup, roleNames } from "../static/app/words/roles.js";
import { banWords, liftNames, liftQuestion, liftWords, silenceDone, silenceWords, timeoutsByLength, timeoutWords } from "../static/app/words/silence.js";
import { unsavedChange, unsavedLimits } from "../static/app/words/unsaved.js";
import { repeatsBrief, repeatsWords } from "../static/app/words/repeats.js";
import { loadTexts } from "../testing/texts.js";
import { at, viewText } from "../view-text.js";

await loadTexts("words", "rules");

test("penalties: what is to be done", () => {
  const words = { delete: "delete the message", warn: "delete and warn", "timeout 10m0s": "time out for 10 min", "timeout refill": "time out until they may write again",
    ban: "ban", drop: "block the message (chat servers only)", none: "do nothing" };
  for (const [penalty, text] of Object.entries(words)) assert.equal(penaltyWords(penalty), text);
});

test("penalties: how they went", () => {
  const went = (penalty, outcome) => Object.values(outcomeWords({ penalty, outcome })).join("|");
  assert.equal(went("timeout 30s", { action: "timeout", result: "done", reason: "" }), "timed out for 30 s|timed-out|");
  assert.equal(went("timeout 30s", { action: "delete", result: "done", reason: "no right" }), "deleted|deleted|no right");
  assert.equal(went("timeout refill", { action: "timeout", result: "done", reason: "" }), "timed out until they may write again|timed-out|");
  assert.equal(went("ban", { action: "ban", result: "observed", reason: "" }), "would be banned|observed|");
  assert.equal(went("timeout refill", { action: "none", result: "observed", reason: "" }), "would be timed out until they may write again|observed|");
  assert.equal(went("timeout 1m0s", { action: "none", result: "observed", reason: "" }), "would be timed out for 1 min|observed|");
  assert.equal(went("warn", { action: "warn", result: "failed", reason: "gone" }), "warning failed|failed|gone");
  assert.equal(went("ban", { action: "ban", result: "unknown", reason: "chatguard stopped" }), "ban: result unknown|failed|chatguard stopped");
  assert.equal(went("delete", { action: "delete", result: "skipped", reason: "too late" }), "delete skipped|skipped|too late");
  assert.equal(went("delete", { action: "delete", result: "pending", reason: "" }), "deleting…|pending|");
});

test("penalties: reasons in the page’s language", () => {
  const held = "Twitch accepts no more timeouts in this channel for 28 s; the message was only deleted";
  assert.equal(reasonWords(held), held);
  for (const same of ["", "too late: the request budget is used up", "queue full", "Twitch failed to carry out bans in this channel; the next one is tried in 9 s",
    "time out user: Twitch refused the request (Twitch: status 400); the message was only deleted",
    "no answer; the message was deleted", "chatguard stopped; whether it was carried out is unknown"]) assert.equal(reasonWords(same), same);
  assert.equal(reasonWords("Twitch takes no more timeouts for this channel for 28 s; the message was only deleted"), held); // of earlier versions
  assert.equal(reasonWords("too late: the chat's server was slow"), "too late: the chat’s server was slow");
});

test("penalties: as in the configuration", () => {
  for (const penalty of ["none", "delete", "warn", "timeout 10m0s", "timeout refill", "ban", "drop", "other"]) assert.equal(rungName(penalty), penalty);
});

test("roles: in falling order, without everyone", () => {
  assert.equal(roleNames(["everyone", "vip", "lead_moderator"]), "lead moderator, vip");
  assert.equal(roleNames(undefined), "");
  assert.equal(capitalised(roleGroup("first_timer")), "First-timers");
  assert.equal(roleGroup("new_role"), "new_role");
});

test("changes: a line each", () => {
  const told = (...changes) => viewText(ChangeList({ changes: changes.map(([key, from, to]) => ({ key, from, to })) }));
  assert.equal(told(["limit.burst.burst", 3, 5]), "burst: messages at once 3 → 5");
  assert.equal(told(["limit.burst.refill", "10m0s", "1m0s"]), "burst: one more every 10 minutes → 1 minute");
  assert.equal(told(["limit.burst.roles.vip.burst", null, 9]), "burst: messages at once for vip: same as everyone → 9");
  assert.equal(told(["limit.burst.roles.vip", null, {}]), "burst: no custom numbers for vip");
  assert.equal(told(["exempt", ["lead_moderator"], []]), "exempt roles: lead moderator → none");
  assert.equal(told(["mode", "observe", "enforce"]), "mode: observe → enforce");
  assert.equal(told(["limit.slow.queue", null, 4]), "slow: queue size 0 → 4");
  assert.equal(told(["limit.room.reserve", null, 4], ["limit.burst.extra_refill", "20s", "1m0s"]), "room: kept for normal priority 0 → 4burst: one more at low priority every 20 seconds → 1 minute");
  assert.equal(told(["limit.daily.timezone", null, "Asia/Tokyo"]), "daily: time zone same as the channel → Asia/Tokyo");
  assert.equal(told(["limit.slow.algorithm", "leaky-bucket", null], ["limit.slow.queue", 3, null]), "slow: removed (leaky bucket)");
  assert.equal(told(["limit.exact.algorithm", null, "sliding-log"], ["limit.exact.messages", null, 20], ["limit.exact.every", null, "30s"]),
    "exact: added (sliding log, messages 20, every 30 seconds)");
  assert.equal(told(["limit.copies.algorithm", null, "sliding-log"], ["limit.copies.messages", null, 3], ["limit.copies.per", null, "text"], ["limit.copies.similar", null, true]),
    "copies: added (sliding log, messages 3, the same message from anyone, count similar messages)");
  assert.equal(told(["limit.copies.per", null, "text"], ["limit.copies.similar", null, true], ["limit.copies.from_length", 20, null], ["limit.copies.count_emotes", true, null], ["limit.copies.strikes", null, true]),
    "copies: scope user → the same message from anyonecopies: count similar messages no → yescopies: from a length of 20 → 12copies: count messages of emotes only yes → nocopies: strikes no → yes");
  assert.equal(told(["order", ["burst", "daily_2"], ["daily_2", "burst"]]), "order of limits: burst, daily_2 → daily_2, burst");
  assert.equal(told(["limit.slow.algorithm", "leaky-bucket", "sliding-log"], ["limit.slow.messages", null, 4], ["limit.slow.queue", 3, null]),
    "slow: algorithm leaky bucket → sliding logslow: messages none → 4slow: queue size 3 → 0");
});

test("changes: a renamed limit takes a line", () => {
  const told = (...changes) => viewText(ChangeList({ changes: changes.map(([key, from, to]) => ({ key, from, to })) }));
  const renamed = [["limit.burst.algorithm", "token-bucket", null], ["limit.burst.burst", 3, null], ["limit.flood.algorithm", null, "token-bucket"]];
  assert.equal(told(...renamed, ["limit.flood.burst", null, 3]), "burst: renamed to flood");
  const order = ["order", ["burst", "daily"], ["flood", "daily"]];
  assert.equal(told(...renamed, ["limit.flood.burst", null, 5], order), "burst: renamed to floodflood: messages at once 3 → 5");
  assert.equal(told(...renamed, ["limit.flood.burst", null, 3], ["order", ["burst", "daily"], ["daily", "flood"]]), "burst: renamed to floodorder of limits: flood, daily → daily, flood");
  assert.equal(told(...renamed, ["limit.flood.burst", null, 5]), "burst: removed (token bucket)flood: added (token bucket, messages at once 5)");
  const other = [["limit.burst.algorithm", "token-bucket", null], ["limit.flood.algorithm", null, "sliding-log"]];
  assert.equal(told(...other, order), "burst: removed (token bucket)flood: added (sliding log)order of limits: burst, daily → flood, daily");
});

test("overrides: what a user has", () => {
  const words = (own) => viewText(OverrideWords({ own, zone: "UTC", none: "nothing" }));
  assert.equal(words({}), "nothing");
  assert.equal(words({ exempt: "always" }), "exempt from all limits");
  assert.equal(words({ exempt: "never", timezone: "Asia/Tokyo", limits: { burst: { burst: 5, refill: "1m0s" }, daily: { messages: 50 }, slow: { queue: 2 } } }),
    "never exempt; time zone Asia/Tokyo; burst: 5 at once, one more every 1 minute; daily: 50 messages; slow: queue of 2");
  at("2026-11-03T12:00:00Z", () => {
    assert.equal(words({ exempt: "always", exempt_until: "2026-11-03T13:00:00Z" }), "exempt from all limits until 13:00:00 UTC");
  });
});

const pardon = { id: 1, by: "berta", again: false, messages: 4, strikes_taken: 2, strikes_left: 0, dropped: 0, silence: "none", deleted: 0, has_older: false };

test("pardons: what they have done", () => {
  const said = (news) => pardonWords({ ...pardon, ...news }, "UTC").sentence;
  assert.equal(said({}), "Pardoned: 4 messages, 2 strikes removed.");
  assert.equal(said({ messages: 1, strikes_taken: 1, dropped: 1 }), "Pardoned: 1 message, 1 strike removed, 1 pending penalty cancelled.");
  assert.equal(said({ silence: "lifted", deleted: 2 }), "Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted. Deleted messages stay deleted.");
  assert.equal(said({ again: true }), "Already pardoned by berta: 4 messages, 2 strikes removed.");
  assert.equal(said({ again: true, id: 0, strikes_taken: 0 }), "These messages no longer count.");
  assert.equal(said({ silence: "lifting" }), "Pardoned: 4 messages, 2 strikes removed. A timeout or ban is being sent. It will be lifted right afterwards.");
});

test("pardons: what stays", () => {
  const word = (news) => pardonWords({ ...pardon, ...news }, "UTC");
  assert.deepEqual([word({}).word, word({}).isPartial], ["pardoned", false]);
  assert.equal(word({ strikes_left: 1 }).word, "partly pardoned");
  assert.equal(word({ strikes_left: 1 }).sentence, "Pardoned: 4 messages, 2 strikes removed. 1 strike from earlier messages remains.");
  assert.match(word({ has_older: true }).sentence, /Older messages are not pardoned: one pardon covers the newest 4\.$/);
  assert.match(word({ silence: "kept", kept: "unban user: no" }).sentence, /The timeout or ban remains: unban user: no\.$/);
});

test("pardons: which limit still throttles the user", () => {
  at("2026-11-03T12:00:00Z", () => {
    const held = (news) => pardonWords({ ...pardon, held: { limit: "burst", per: "user", never: false, ...news } }, "UTC");
    assert.match(held({ may_speak_at: "2026-11-03T12:00:30Z" }).sentence, / The limit “burst” allows the next message in 30 s\.$/);
    assert.equal(held({ may_speak_at: "2026-11-03T12:00:30Z" }).word, "pardoned");
    assert.equal(held({ may_speak_at: "2026-11-03T12:00:00Z" }).sentence, "Pardoned: 4 messages, 2 strikes removed.");
    assert.match(held({ may_speak_at: "2026-11-03T13:00:00Z" }).sentence, / The limit “burst” allows the next message at 13:00:00 UTC\. To let them write now, use Grant or Reset\.$/);
    assert.equal(held({ may_speak_at: "2026-11-03T13:00:00Z" }).word, "pardoned, still throttled");
    assert.match(held({ per: "channel", may_speak_at: "2026-11-03T13:00:00Z" }).sentence, / The limit “burst”, shared by everyone, allows the next message at 13:00:00 UTC\.$/);
    assert.match(held({ never: true }).sentence, / The limit “burst” allows no messages at all\.$/);
    assert.match(held({ per: "channel", never: true }).sentence, / The limit “burst”, shared by everyone, allows no messages at all\.$/);
  });
});

test("pardons: undone", () => {
  assert.equal(unpardonWords({ strikes_restored: 2, lifted: true, dropped: 1 }),
    "Pardon undone. 2 strikes restored. The timeout or ban is not repeated. Cancelled penalties stay cancelled.");
  assert.equal(unpardonWords({ strikes_restored: 0, lifted: false, dropped: 0 }), "Pardon undone.");
});

test("audit: a change that isn't confirmed", () => {
  const change = { action: "unconfirmed", detail: { action: "grant", detail: { limit: "daily", messages: 5 } } };
  assert.equal(changeName(change), "not confirmed: granted messages");
  assert.match(viewText(AuditWords({ state: {}, change })), /5 .*daily/);
  assert.equal(changeName({ action: "unconfirmed", detail: { action: "reset" } }), "not confirmed: reset");
});

test("unsaved: what a restart would do", () => {
  assert.equal(unsavedChange({ state: "off" }), "In force until the next restart: there is no database.");
  assert.equal(unsavedChange({ state: "failing" }), "In force, but not saved yet: a restart now would undo it.");
  assert.match(viewText(unsavedLimits({ state: "failing", detail: "disk full" })), /the database is failing \(disk full\)\./);
  assert.match(viewText(unsavedLimits({ state: "off" })), /^In force until the next restart\./);
});

test("silence: what a timeout, a ban and a lift did", () => {
  at("2026-11-03T12:00:00Z", () => {
    const until = "2026-11-03T12:10:00Z", mine = { banned: false, until, by: "me" }, theirs = { banned: true, by: "twitch:mo" };
    assert.equal(silenceWords(theirs), "a ban by mo on Twitch");
    assert.equal(timeoutWords({ silenced: mine }, "me", "UTC").sentence, "Timed out until 12:10:00 UTC.");
    assert.equal(timeoutWords({ silenced: mine, before: { ...mine, by: "ann" } }, "me", "UTC").sentence, "Timed out until 12:10:00 UTC. This replaces a timeout by ann until 12:10:00 UTC.");
    assert.equal(banWords({ silenced: { banned: true, by: "me" }, before: mine }, "me", "UTC").sentence, "Banned until somebody unbans them. This replaces a timeout until 12:10:00 UTC.");
    assert.equal(banWords({ already: true, silenced: theirs }, "me").sentence, "Nothing changed: they were already banned by mo on Twitch.");
    assert.equal(liftWords({ before: mine }, "me").sentence, "Timeout ended.");
    assert.equal(liftWords({ before: theirs }, "me").sentence, "Unbanned. The timeout or ban was given by mo on Twitch.");
    assert.equal(liftWords({}, "me").sentence, "Timeout or ban lifted.");
    assert.equal(liftWords({ already: true }, "me").sentence, "Nothing changed: they were neither timed out nor banned.");
  });
});

test("silence: what is in force, in a few words", () => {
  const timeout = { banned: false, at: "2026-11-03T12:00:00Z", until: "2026-11-03T12:10:00Z", by: "twitch:mo" };
  assert.equal(silenceDone(timeout), "timed out for 10 min by mo on Twitch");
  assert.equal(silenceDone({ ...timeout, at: "2026-11-03T12:00:01.2Z", by: "" }), "timed out for 10 min");
  assert.equal(silenceDone({ ...timeout, at: "2026-11-03T12:09:15.3Z" }), "timed out for 45 s by mo on Twitch");
  at("2026-11-03T12:05:00Z", () => assert.match(silenceDone({ ...timeout, at: undefined }), /^timed out until \d\d:10 by mo on Twitch$/));
  assert.deepEqual([silenceDone({ banned: true, by: "token:kim" }), silenceDone({ banned: true, by: "" })], ["banned by kim (token)", "banned"]);
});

test("silence: usual durations, and the question that ends a timeout or ban", () => {
  assert.deepEqual(timeoutsByLength(["10m0s", "1m30s", "24h0m0s", "10m0s"]).map(({ name }) => name), ["1 min 30 s", "10 min", "1 d"]);
  const timeout = { banned: false, until: "2026-11-03T12:10:00Z", by: "twitch:mo" };
  const asks = (silence) => viewText(liftQuestion(silence, "anna"));
  assert.deepEqual([asks(timeout), asks({ ...timeout, by: "" })], ["End the timeout of anna? The timeout was given by mo on Twitch.", "End the timeout of anna?"]);
  assert.deepEqual([asks({ banned: true, by: "mo" }), asks(null)], ["Unban anna? The ban was given by mo.", "Unban anna?"]);
  assert.deepEqual([liftNames(timeout).button, liftNames(timeout).about("anna")], ["End timeout", "End timeout of anna"]);
  assert.deepEqual([liftNames(null).button, liftNames(null).about("anna")], ["Unban", "Unban anna"]);
});

test("whyIdle: why an enforcing policy only observes", () => {
  const policy = { mode: "enforce", in_force: "observe" };
  const idle = (connections, news = {}) => whyIdle({ policy, channels: [{ id: "1", login: "here" }], channel: "1", status: { connections }, ...news });
  const token = { name: "Token", state: "missing", detail: "Not enforcing yet: the bot has no token. Run `chatguard login`." };
  const held = { name: "#here", state: "not enforcing", detail: "the bot is not a moderator" };
  assert.equal(idle([token]), token.detail);
  assert.equal(idle([{ name: "#there", state: "not enforcing", detail: "elsewhere" }, held, token]), "Not enforcing right now: the bot is not a moderator.");
  assert.equal(idle([held, { name: "#here", state: "paused", detail: "by anna" }]), "Not enforcing right now: the channel is paused by anna.");
  assert.equal(idle([], { channels: [{ id: "1", login: "here", paused_by: "ben" }] }), "Not enforcing right now: the channel is paused by ben.");
  assert.equal(idle([{ name: "Twitch", state: "disconnected", detail: "" }]), "Not enforcing right now: Twitch disconnected.");
  assert.equal(idle([]), "Not enforcing right now: the status of chatguard shows the reason.");
  assert.equal(idle([token], { policy: { mode: "observe", in_force: "observe" } }), "");
  assert.equal(idle([token], { policy: { mode: "enforce", in_force: "enforce" } }), "");
  assert.equal(idle([token], { policy: null, status: null }), "");
});

test("repeats: how often a text was written, and by how many", () => {
  assert.equal(repeatsWords({ times: 4, people: 37, window: "30s" }), "They wrote it 4 times in 30 seconds; 37 people did in 10 minutes");
  assert.equal(repeatsWords({ times: 2, people: 5, window: "10m0s" }), "They wrote it 2 times in 10 minutes; 5 people did");
  assert.equal(repeatsWords({ times: 1, people: 1200, window: "1m30s" }), "1,200 people wrote it in 10 minutes");
  assert.equal(repeatsWords({ times: 2, people: 1, window: "1m" }), "They wrote it 2 times in 1 minute");
  const brief = [[4, 37], [1, 1200], [2, 1], [1, 1]].map(([times, people]) => repeatsBrief({ times, people, window: "30s" }));
  assert.deepEqual(brief, ["4×, 37 people", "1,200 people", "2×", "1×"]);
});
