import assert from "node:assert/strict";
import test from "node:test";
import { advance, all, answer, click, find, goTo, hangUp, open, refuse, see, send, state, text, texts, usualAnswer } from "../../testing/page.js";

const [spammer] = usualAnswer("frame").users;
const row = ".row[data-user='42']:not(.leaving)";
const part = (name) => text(`${row} .${name}`);
const title = (name) => find(`${row} .${name}`).title;
const control = (name) => find(`#${name}-of-42`);
const slots = () => ["pardon", "timeout", "ban", "lift", "menu"].map((name) => (control(name).getAttribute("aria-disabled") === "true" ? "-" : name)).join(" ");
const tabs = () => texts(".tab-count").join("/");
const inSeconds = (seconds) => new Date(Date.now() + 1000 * seconds).toISOString();
const acts = (request, body) => answer(request.replace(" ", " /channels/7/users/42/"), body);

// tell sends a frame that says something else about the spammer than the usual one.
const tell = (changes = {}) => send({ type: "throttled", users: [{ ...spammer, ...changes }] });

// silencedBy is a row of a user who is timed out for some seconds, or banned.
function silencedBy(by, seconds, more = {}) {
  const until = seconds ? inSeconds(seconds) : undefined;
  return { silenced: { banned: !seconds, at: inSeconds(0), by, ...(until && { until }) }, may_speak_at: until ?? null, never: !until, ...more };
}
const did = (action, author, seconds = 0) => ({ act: { action, author, at: inSeconds(seconds) } });

async function openNow(users = [spammer], page = "now") {
  answer("frame", { ...usualAnswer("frame"), users });
  await open(page);
}

test("row: tells when the user may really write, and who decided that", async () => {
  await openNow();
  await see(() => part("left") === "writes again in 10 min");
  assert.equal(title("may-speak"), "Throttled by the limit burst");
  tell(silencedBy("token:anna", 3600));
  await see(() => part("left") === "writes again in 1 h" && part("deed") === "timed out by anna (token)");
  assert.equal(title("may-speak"), "timed out for 1 h by anna (token)");
  tell({ silenced: { banned: false, at: inSeconds(0), until: inSeconds(30), by: "chatguard" }, penalty: "timeout 30s", outcome: { ...spammer.outcome, action: "timeout", result: "done" } });
  await see(() => part("left").startsWith("writes again in 9 min") && title("may-speak") === "Throttled by the limit burst" && part("deed") === "timed out for 30 s");
  tell(silencedBy("twitch:kim"));
  await see(() => part("left") === "until unbanned" && title("may-speak") === "banned by kim on Twitch" && part("deed") === "banned by kim on Twitch");
  tell(silencedBy("", 60));
  await see(() => part("deed") === "timed out for 1 min");
});

test("row: for a repeated text, only the same message waits", async () => {
  await openNow();
  tell({ limit: "no-repeats", same_text: true });
  await see(() => part("left") === "same in 10 min" && !find(`${row} .refill`));
  assert.equal(title("may-speak"), "Only the same message waits, for the limit no-repeats; another one may pass.");
  tell({ limit: "no-repeats", same_text: true, repeats: { times: 4, people: 37, window: "30s" } });
  await see(() => title("may-speak").endsWith("another one may pass. They wrote it 4 times in 30 seconds; 37 people did in 10 minutes."));
  tell(silencedBy("token:anna", 3600, { limit: "no-repeats", same_text: true }));
  await see(() => part("left") === "writes again in 1 h" && title("may-speak") === "timed out for 1 h by anna (token)");
});

test("row: each action keeps its place, whatever the user’s state", async () => {
  await openNow();
  const order = () => all(`${row} .acts button`).map(({ id }) => id.split("-")[0]).join(" ");
  const steps = [
    [{}, "pardon timeout ban - menu"],
    [silencedBy("anna", 600), "pardon timeout ban lift menu"],
    [silencedBy("anna"), "pardon - - lift menu"],
    [silencedBy("twitch:kim", 600, { total: 0, count: 0, strikes: 0, limit: "", text: "", outcome: { ...spammer.outcome, entry: 0 } }), "- timeout ban lift menu"],
  ];
  for (const [changes, want] of steps) {
    tell(changes);
    await see(() => slots() === want);
    assert.equal(order(), "pardon timeout ban lift menu");
    for (const name of ["pardon", "timeout", "ban", "lift"]) assert.equal(Boolean(control(name).title) || name === "pardon", true, name);
  }
  assert.deepEqual([part("said"), part("count"), part("limit")], ["no throttled message", "", ""]);
  assert.equal(control("pardon").title, "nothing to pardon, because no message was throttled");
});

test("row: says what another person did, until the user writes again", async () => {
  await openNow();
  for (const [action, said, ended] of [
    ["pardon", "pardoned by anna (link)"], ["unpardon", "pardon undone by anna (link)"], ["grant", "granted messages by anna (link)"], ["exempt", "exempted by anna (link)"],
    ["reset", "reset by anna (link)"], ["override", "custom limits by anna (link)"], ["lift", "timeout or ban ended by anna (link)"], ["lift", "timeout ended by anna (link)", "timeout"], ["lift", "unbanned by anna (link)", "ban"],
    ["timeout", "timeout ended by anna (link)", "timeout"], ["timeout", "timed out by anna (link)"],
  ]) {
    tell({ act: { ...did(action, "link:anna").act, ...(ended && { ended }) } });
    await see(() => part("deed") === said);
  }
  tell({ act: { ...did("pardon", "link:anna").act, partial: true } });
  await see(() => part("deed") === "partly pardoned by anna (link)");
  const penalty = { penalty: "timeout 10m", outcome: { ...spammer.outcome, action: "timeout", result: "done" } };
  tell({ ...silencedBy("chatguard", 600), ...penalty, act: { ...did("pardon", "link:anna").act, partial: true } });
  await see(() => part("deed") === "timed out by chatguard" && title("deed") === "timed out for 10 min by chatguard; partly pardoned by anna (link)");
  tell({ ...silencedBy("twitch:mo", 600), ...did("pardon", "link:anna", -1) }); // the timeout is later
  await see(() => part("deed") === "timed out by mo on Twitch");
  tell({ ...silencedBy("twitch:mo", 600), ...did("pardon", "link:anna", 1) }); // it is still in force
  await see(() => part("deed") === "timed out by mo on Twitch" && title("deed") === "timed out for 10 min by mo on Twitch; pardoned by anna (link)");
  tell({ ...did("pardon", "link:anna"), at: inSeconds(1) });
  await see(() => part("deed") === "deleting…");
});

const timeout = (by, seconds) => ({ banned: false, at: inSeconds(0), until: inSeconds(seconds), by });

test("row: what this tab did doesn’t contradict what chatguard tells later", async () => {
  acts("POST timeout", () => ({ saved: true, already: false, silenced: timeout("owner", 600), undo: "timeout" }));
  await openNow();
  await click(control("timeout"));
  await see(() => part("deed").startsWith("timed out until") && slots() === "pardon timeout ban lift menu");
  tell({ at: inSeconds(-9) }); // sent before the timeout, which a frame tells a moment later
  await see(() => part("deed").startsWith("timed out until") && slots() === "pardon timeout ban lift menu");
  tell({ ...silencedBy("owner", 600), ...did("timeout", "owner") });
  await see(() => part("deed").startsWith("timed out until"));
  await advance(3000);
  tell({ ...silencedBy("twitch:kim"), at: inSeconds(-9) });
  await see(() => part("deed") === "banned by kim on Twitch" && slots() === "pardon - - lift menu");
  tell({ at: inSeconds(-9) }); // somebody has unbanned them on Twitch
  await see(() => part("deed") === "deleting…" && slots() === "pardon timeout ban - menu");
  await click(control("timeout"));
  await see(() => part("deed").startsWith("timed out until"));
  await advance(3000);
  tell({ ...did("lift", "token:anna"), at: inSeconds(-9) });
  await see(() => part("deed") === "timeout or ban ended by anna (token)" && slots() === "pardon timeout ban - menu");
});

for (const by of ["chatguard", "token:kim"]) {
  test(`row: an undo that restores a timeout by ${by}`, async () => {
    acts("POST timeout", () => ({ saved: true, already: false, silenced: timeout("owner", 3600), before: timeout(by, 600), undo: "timeout" }));
    acts("DELETE timeout", () => ({ saved: true, already: false, silenced: timeout(by, 600), before: timeout("owner", 3600) }));
    await openNow();
    await click(control("timeout"));
    const undo = () => all(".question button").find((button) => button.textContent === "Undo");
    await see(undo);
    await click(undo());
    const restored = () => text(".question").includes("The earlier timeout is in force again, until ") && part("deed").startsWith("timed out until");
    await see(restored);
    await advance(500);
    tell({ ...silencedBy(by, 600), act: { ...did("timeout", "owner").act, ended: "timeout" }, at: inSeconds(-9) });
    await advance(100);
    assert.ok(restored());
    await advance(3000);
    tell({ ...silencedBy(by), at: inSeconds(-9) });
    await see(() => part("deed").startsWith("banned by "));
  });
}

test("row: two moderators at the same moment", async () => {
  acts("POST timeout", () => {
    tell({ ...silencedBy("token:kim"), ...did("ban", "token:kim") });
    return refuse(422, "The user is banned, so a timeout changes nothing: unban them first.");
  });
  acts("POST ban", () => ({ saved: true, already: true, silenced: { banned: true, by: "token:kim" } }));
  await openNow();
  await click(control("timeout"));
  await see(() => text(".question .error").startsWith("The user is banned") && part("deed") === "banned by kim (token)" && slots() === "pardon - - lift menu");

  tell(); // unbanned
  await see(() => slots() === "pardon timeout ban - menu");
  await click(control("ban"));
  await click(".question .primary");
  await see(() => part("deed") === "already banned" && slots() === "pardon - - lift menu");
  tell(silencedBy("token:kim"));
  await see(() => part("deed") === "banned by kim (token)");
});

test("row: an act whose answer is lost is not confirmed until chatguard tells the truth", async () => {
  await openNow();
  for (const lost of [refuse(0), refuse(503, "The chat did not confirm in time.", { unconfirmed: true })]) {
    acts("POST timeout", lost);
    await click(control("timeout"));
    await see(() => part("deed").startsWith("not confirmed: ") && slots() === "pardon timeout ban - menu");
    tell({ at: inSeconds(-9) });
    await advance(2000);
    assert.match(part("deed"), /^not confirmed: /);
    tell({ ...silencedBy("owner", 600), at: inSeconds(-9) });
    await see(() => part("deed") === "timed out by owner" && slots() === "pardon timeout ban lift menu");
    tell({ at: inSeconds(-9) });
    await advance(100);
  }
});

test("row: while the feed is cut, what this tab did is what is known", async () => {
  acts("POST timeout", () => ({ saved: true, already: false, silenced: timeout("owner", 600), undo: "timeout" }));
  await openNow();
  answer("GET /channels", refuse(0));
  hangUp();
  await click(control("timeout"));
  await see(() => part("deed").startsWith("timed out until") && slots() === "pardon timeout ban lift menu");
});

test("now: the tabs list who is throttled, who is silenced, and who was throttled a short time ago", async () => {
  const user = (id, changes) => ({ ...spammer, user_id: String(id), login: `user_${id}`, display_name: "", ...changes });
  await openNow([
    user(1, { silenced: timeout("anna", 600), may_speak_at: inSeconds(600) }),
    user(2),
    user(3, { held: false, silenced: { banned: true, at: inSeconds(-7200), by: "twitch:kim" }, never: true, total: 0, count: 0, at: inSeconds(-7200) }),
    user(4, { observed: true, silenced: timeout("anna", 600) }),
    user(5, { observed: true }),
    user(6, { held: false, at: inSeconds(-599) }),
  ]);
  const shown = () => all(".row:not(.leaving)").map((one) => one.dataset.user).sort().join("");
  const figure = (name) => texts(".figures div").find((one) => one.startsWith(name));
  await see(() => tabs() === "4/3/5" && shown() === "1245" && figure("Users throttled now") === "Users throttled now 3" && figure("Observed only") === "Observed only 1");
  await goTo("now?tab=silenced");
  await see(() => shown() === "134" && text(".row[data-user='3'] .left") === "until unbanned");
  await goTo("now?tab=recent");
  await see(() => shown() === "12456");
  await advance(2000);
  await see(() => shown() === "1245" && tabs() === "4/3/4");
  await goTo("now?tab=silenced");
  send({ type: "throttled", users: [user(1), user(4)], gone: ["3"] });
  await see(() => text(".nobody").startsWith("Nobody is timed out, and nobody was banned in the last 24 hours."));
});

test("now: while limits only observe, a user may write unless they are timed out or banned", async () => {
  const usual = usualAnswer("frame"), [channel] = usual.channels;
  const user = (id, changes) => ({ ...spammer, user_id: String(id), login: `user_${id}`, display_name: "", ...changes });
  await openNow([
    user(1), user(2, { observed: true }), user(3, { never: true, may_speak_at: null }),
    user(4, { silenced: timeout("chatguard", 30) }), user(5, { observed: true, ...silencedBy("anna") }),
  ]);
  const left = () => [1, 2, 3, 4, 5].map((id) => text(`.row[data-user='${id}'] .left`)).join("|");
  const figures = () => texts(".figures div").filter((one) => /^(Users|Observed)/.test(one)).join(", ");
  const tab = () => text(".list-bar .tabs a");
  const enforced = /^writes again in (10|9) min.*\|may write now\|too long for this limit; a shorter message may pass\|writes again in (10|9) min.*\|until unbanned$/;
  const paused = /^may write now\|may write now\|may write now\|writes again in \d+ s\|until unbanned$/;
  await see(() => enforced.test(left()));
  assert.deepEqual([figures(), tab()], ["Users throttled now 4, Observed only 1", "Throttled or observed 5"]);
  assert.equal(all(".row[data-user='2'] :is(.refill, time)").length, 0);
  const policy = (in_force) => send({ type: "policy", policy: { ...usual.policy, in_force } });
  const pausedBy = (paused_by) => send({ type: "status", status: usual.status, channels: [{ ...channel, paused_by }] });
  for (const [begin, end] of [[() => policy("observe"), () => policy("enforce")], [() => pausedBy("owner"), () => pausedBy()]]) {
    begin();
    await see(() => paused.test(left()) && figures() === "Users throttled now 2, Observed only 3" && tab() === "Throttled or observed 5");
    await see(() => document.title.startsWith("(2) "));
    end();
    await see(() => enforced.test(left()));
  }
  policy("observe");
  send({ type: "throttled", users: [user(4, { silenced: timeout("chatguard", 1) })] });
  await advance(1000);
  await see(() => left() === "may write now|may write now|may write now|may write now|until unbanned");
});

test("now: the first tab has room for both its names", async () => {
  await openNow();
  const label = () => [text(".list-bar .label"), find(".list-bar .label").dataset.other].join("|");
  await see(() => find(row) && label() === "Throttled now|Throttled or observed");
  tell({ observed: true });
  await see(() => label() === "Throttled or observed|Throttled now");
  assert.deepEqual([title("limit"), title("count")], ["", ""], "no limit has throttled the user");
});

test("row: a row that stays in place after its user left the list says when they may write", async () => {
  await openNow([{ ...spammer, ...silencedBy("twitch:kim") }]);
  await see(() => find(row));
  control("name").focus();
  tell({ ...silencedBy("twitch:kim"), held: false }); // the ban is older than 10 minutes
  await see(() => tabs() === "0/1/1");
  assert.equal(part("left"), "until unbanned");
  tell({ held: false });
  await see(() => part("left") === "may write again");
});

test("row: a row that stays in place although the list has no room for it says that its user is banned", async () => {
  await openNow([{ ...spammer, ...silencedBy("twitch:kim") }]);
  await see(() => find(row));
  control("name").focus();
  send({ type: "throttled", users: [], gone: [spammer.user_id] });
  await see(() => tabs() === "0/0/0");
  assert.equal(part("left"), "until unbanned");
});

test("row: the row under the pointer stays in place while another one shows an answer", async () => {
  acts("POST pardon", { saved: true, id: 9, by: "owner", at: spammer.at, undo_until: "2026-11-03T12:05:00Z", again: false, first: 1, last: 2, since: spammer.at, messages: 4, has_older: false, deleted: 0, strikes_taken: 0, strikes_left: 0, dropped: 0, silence: "none" });
  const other = { ...spammer, user_id: "43", login: "other", display_name: "" };
  await openNow([other, spammer]);
  await see(() => find(".row[data-user='43']")?.dataset.index === "1");
  await click(control("pardon"));
  await see(() => find(".question"));
  const point = (element) => {
    const event = new Event("pointermove", { bubbles: true });
    element.dispatchEvent(Object.assign(event, { pointerType: "mouse" }));
  };
  point(find(".row[data-user='43'] .said"));
  const places = () => ["42", "43", "44", "45"].map((id) => find(`.row[data-user='${id}']`)?.dataset.index ?? "-").join("");
  send({ type: "throttled", users: ["44", "45"].map((user_id) => ({ ...other, user_id, login: user_id })) });
  await see(() => places() === "0132");
  assert.equal(state.held.asks, "answer");
  point(find(".question"));
  await see(() => places() === "0321");
});

test("row: what comes under a mouse at rest stays in place, and the list doesn't become lower", async () => {
  const users = ["43", "44", "45"].map((user_id) => ({ ...spammer, user_id, login: user_id, display_name: "" }));
  await openNow(users);
  const places = () => ["43", "44", "45", "46"].map((id) => find(`.row[data-user='${id}']:not(.leaving)`)?.dataset.index ?? "-").join("");
  await see(() => places() === "210-");
  const fire = (element, type) => element.dispatchEvent(Object.assign(new Event(type, { bubbles: true }), { pointerType: "mouse" }));
  fire(find(".row[data-user='44'] .said"), "pointerover");
  send({ type: "throttled", users: [{ ...users[0], user_id: "46", login: "46" }] });
  await see(() => places() === "3120");
  const height = find(".rows").style.height;
  send({ type: "throttled", users: [], gone: ["43", "45", "46"] });
  await see(() => places() === "-1--");
  assert.equal(find(".rows").style.height, height);
  fire(find(".rows"), "pointerleave");
  await see(() => places() === "-0--" && find(".rows").style.height !== height);
});

test("row: hostile names of moderators are only text", async () => {
  await openNow();
  tell(silencedBy("token:<b>anna</b>\u202e", 600));
  await see(() => part("deed").startsWith("timed out by <b>anna</b>"));
  assert.equal(all(`${row} b`).length, 0);
});

test("row: an undo never ends what another person has done since", async () => {
  await openNow();
  acts("POST timeout", () => ({ saved: true, already: false, silenced: { banned: false, at: inSeconds(0), until: inSeconds(600), by: state.me.author }, undo: "timeout" }));
  const undo = () => all(".question button").some((button) => button.textContent === "Undo");
  click(control("timeout"));
  await see(undo);
  tell(silencedBy(state.me.author, 600));
  await see(undo);
  advance(1);
  tell(silencedBy("token:anna", 3600));
  await see(() => find(".question") && !undo());
});

test("row: a question about a timeout that another person has ended says so", async () => {
  await openNow([{ ...spammer, ...silencedBy("token:anna", 600) }]);
  await click(control("lift"));
  await see(() => text(".question .primary") === "End timeout");
  tell(did("lift", "token:anna"));
  await see(() => text(".question").startsWith("neither timed out nor banned") && !find(".question .primary"));
});

test("row: an answer stays if a click elsewhere takes the focus", async () => {
  await openNow();
  document.hasFocus = () => true;
  acts("POST ban", () => ({ saved: true, already: false, silenced: { banned: true, at: inSeconds(0), by: state.me.author }, undo: "ban" }));
  await click(control("ban"));
  find("#first-of-42").focus();
  click(".question .primary");
  document.activeElement.blur(); // before the answer
  await see(() => state.held?.asks === "answer");
  document.activeElement.blur();
  await advance(100);
  assert.equal(all(".question button").some((button) => button.textContent === "Undo"), true);
  delete document.hasFocus;
});

test("row: an answer that isn't true any more says what is", async () => {
  await openNow();
  acts("POST timeout", () => ({ saved: true, already: false, silenced: { banned: false, at: inSeconds(0), until: inSeconds(600), by: state.me.author }, undo: "timeout" }));
  click(control("timeout"));
  await see(() => text(".question .outcome").startsWith("Timed out until"));
  await advance(2000);
  tell(silencedBy("token:anna", 3600));
  await see(() => text(".question .outcome") === "timed out by anna (token)");
});

test("row: an answer that arrives after another person’s act doesn’t hide that act", async () => {
  await openNow();
  acts("POST timeout", () => {
    const silenced = { banned: false, at: inSeconds(-3), until: inSeconds(597), by: state.me.author };
    tell({ ...silencedBy("token:anna", 3600), silenced: { banned: false, at: inSeconds(-1), until: inSeconds(3599), by: "token:anna" }, at: inSeconds(-9) });
    return { saved: true, already: false, silenced, undo: "timeout?given=x" };
  });
  await click(control("timeout"));
  await see(() => find(".question") && part("deed").endsWith("by anna (token)"));
  assert.equal(all(".question button").some((button) => button.textContent === "Undo"), false);
});

test("row: a timeout that would be shorter is asked about in words before its button", async () => {
  await openNow();
  acts("POST timeout", refuse(409, "the user is timed out, by link:mia", { silenced: { banned: false, until: inSeconds(3600), by: "link:mia" } }));
  await click(control("timeout"));
  await see(() => /In force now: a timeout by mia \(link\) until .* Yours would end sooner\.\s*Time out anyway/.test(text(".question")));
});

test("row: an open question follows what is in force", async () => {
  await openNow();
  const anyway = () => all(".question button").find((one) => text(one) === "Time out anyway"), isOff = (one) => one.getAttribute("aria-disabled") === "true";
  const said = (...words) => words.every((word) => text(".question").includes(word));
  acts("POST timeout", () => refuse(409, "the user is timed out", { silenced: timeout("anna", 3600) }));
  await click(control("timeout"));
  await see(() => said("In force now: a timeout by anna until", "Yours would end sooner.") && part("deed").startsWith("refused: In force now") && !isOff(anyway()));
  await advance(2000);
  tell(silencedBy("kim", 7200));
  await see(() => said("In force now: a timeout by kim until", "Yours would end sooner.") && !isOff(anyway()));
  tell(silencedBy("kim", 300));
  await see(() => said("In force now: a timeout by kim until", "Nothing was changed."));
  tell(silencedBy("anna"));
  await see(() => said("In force now: a ban by anna. Nothing was changed.") && isOff(anyway()) && anyway().title === "banned: unban them first");
  anyway().click();
  tell();
  await see(() => said("neither timed out nor banned") && !isOff(anyway()) && part("deed") === "deleting…");
  assert.equal(text(".question").includes("In force now"), false);
});

test("row: a refused timeout says nothing of another’s that has ended since", async () => {
  await openNow();
  acts("POST timeout", () => refuse(409, "the user is timed out", { silenced: timeout("anna", 5) }));
  await click(control("timeout"));
  await see(() => text(".question").includes("In force now: a timeout by anna until") && slots() === "pardon timeout ban lift menu");
  await advance(6000);
  await see(() => text(".question").includes("neither timed out nor banned") && slots() === "pardon timeout ban - menu");
});

test("row: no question is about what isn’t possible any more", async () => {
  await openNow([{ ...spammer, ...silencedBy("anna", 600) }]);
  const isOver = () => text(".question") === "In force now: a ban by kim. Close";
  for (const ask of [() => click(control("ban")), () => click(control("lift")), () => click(control("menu")).then(() => click("#other-of-42"))]) {
    tell(silencedBy("anna", 600));
    await ask();
    await see(() => find(".question .primary"));
    tell(silencedBy("kim"));
    await see(isOver);
    await click("#first-of-42");
  }
  await click(control("lift"));
  await see(() => text(".question .primary") === "Unban");
  tell(silencedBy("anna", 600));
  await see(() => text(".question").startsWith("In force now: a timeout by anna until") && !find(".question .primary"));
});
