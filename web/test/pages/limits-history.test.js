import assert from "node:assert/strict";
import test from "node:test";
import { all, answer, button, click, find, goTo, hangUp, pick, press, refuse, requests, see, text, texts, usualAnswer, write } from "../../testing/page.js";
import { isIdle, openLimits, save, serveLimits } from "../../testing/limits.js";

const teatime = { name: "teatime", algorithm: "sliding-log", messages: 5, every: "1m" };
const headline = () => text(".preview .verdict");

async function openHistory() {
  find(".history").open = true;
  await see(() => find(".history .buttons"));
}

// revisions are the texts of the history's rows, without times.
const revisions = () => texts(".revisions > li").map((row) => row.replace(/\d\d:\d\d:\d\d/, "TIME"));

// gate returns an answer that comes only after its go is called.
function gate(give) {
  let go;
  const opened = new Promise((done) => (go = done));
  const held = async (request) => {
    held.asked = true;
    await opened;
    return give(request);
  };
  return Object.assign(held, { go, asked: false });
}

// previewOf is an answer of the preview.
function previewOf(change) {
  const preview = usualAnswer("POST /channels/7/preview");
  change(preview);
  return preview;
}

test("limits: a save is undone, and its note closed", async () => {
  const kept = serveLimits();
  await openLimits();
  await write("#burst-0", "2");
  await save();
  assert.match(text(".note.good"), /^Saved by anna, [\d:]+\. Applies from the next message on\. Undo$/);
  await goTo("now");
  await goTo("limits");
  await click(".note button");
  await see(() => find("#burst-0").value === "3" && kept.policy.limits[0].burst === 3);
  await press("Escape");
  await see(() => !find(".note"));
});

test("limits: what the server refuses is said, and the draft stays", async () => {
  serveLimits();
  answer("PUT /channels/7/policy", refuse(422, "limit burst: burst × refill is too long"));
  answer("POST /channels/7/preview", refuse(422, "limit burst: burst × refill is too long"));
  await openLimits();
  await write("#burst-0", "2147483647");
  await see(() => text(".preview [role=alert]") === "limit burst: burst × refill is too long");
  await click("#save");
  await see(() => text(".finish .note.bad") === "limit burst: burst × refill is too long" && find("#burst-0").value === "2147483647");
});

test("limits: the field of a refused value is marked and gets the focus", async () => {
  serveLimits((policy) => {
    policy.limits.splice(0, 0, { name: "gone", algorithm: "fixed-window", messages: 9, every: "1m" });
    policy.limits[1].roles = { vip: { burst: 2 } };
  });
  await openLimits();
  await click("#remove-0"); // a removed limit keeps its place on the page
  const refused = async (mistake) => {
    answer("PUT /channels/7/policy", refuse(422, "…", { mistake: { ...mistake, problem: "It is too much." } }));
    await write("#burst-1", find("#burst-1").value === "8" ? "9" : "8");
    await click("#save");
    await see(() => find("#save").getAttribute("aria-disabled") === "true" && !find(".mode").disabled);
  };
  for (const [field, mistake] of Object.entries({
    "burst-1": { limit: "burst", parameter: "burst", value: "8" },
    "reserve-1": { limit: "burst", parameter: "reserve" },
    "burst-1-vip": { limit: "burst", role: "vip", parameter: "burst" },
    "reset_at-2": { limit: "daily", parameter: "reset_at" },
    zone: { parameter: "timezone" },
    strike_every: { parameter: "penalties.strike_every" },
    "rung-0-action": { parameter: "penalties.ladder[0]", value: "delete" },
    "rung-3": { parameter: "penalties.ladder[3]", value: "timeout 30s" },
  })) {
    await refused(mistake);
    await see(() => text(`#${field}-error`) === "It is too much." && document.activeElement.id === field);
    assert.equal(find(`#${field}`).getAttribute("aria-invalid"), "true", field);
    assert.ok(find(`#${field}`).getAttribute("aria-describedby").includes(`${field}-error`), field);
    assert.deepEqual([all("[aria-invalid=true]").length, text(".buttons .bad"), find(".finish .note.bad")], [1, "Fix 1 field above.", null], field);
  }
  await write("#burst-1", "5"); // any edit may be the fix
  await see(() => !find("[aria-invalid=true]") && find("#save").getAttribute("aria-disabled") === "false");

  for (const mistake of [{ limit: "burst", parameter: "per" }, { limit: "burst", parameter: "algorithm" }, { limit: "other", parameter: "burst" }, { parameter: "limits" }, {}]) {
    answer("PUT /channels/7/policy", refuse(422, "That is too much.", { mistake: { ...mistake, problem: "It is too much." } }));
    await write("#burst-1", find("#burst-1").value === "8" ? "9" : "8");
    await click("#save");
    await see(() => text(".finish .note.bad") === "That is too much.");
    assert.equal(find("[aria-invalid=true]"), null);
  }
});

test("limits: another person's change is shown, or is a conflict if something is typed", async () => {
  const kept = serveLimits();
  await openLimits();
  assert.ok(text(".origin").includes("Same as the configuration file."));
  kept.change((policy) => (policy.limits[0].burst = 7));
  await see(() => find("#burst-0").value === "7" && text(".origin").startsWith("Changed by owner, "));
  await write("#burst-0", "8");
  kept.change((policy) => {
    policy.mode = "observe";
    policy.limits[1].messages = 200;
  });
  await see(() => text(".note.bad") === "owner changed these limits while you were editing." && find("#save").getAttribute("aria-disabled") === "true");
  assert.deepEqual(texts(".mode label"), ["Observe only (current)", "Enforce"]);
  assert.ok(!text(".origin").includes("Changed by"));
  await click(".theirs");
  await see(() => find("#burst-0").value === "7" && find("#messages-1").value === "200" && find("input[value=observe]").checked);
});

test("limits: a save that comes too late is a conflict", async () => {
  serveLimits();
  answer("PUT /channels/7/policy", refuse(412, "Someone else changed the limits: try again."));
  await openLimits();
  await write("#burst-0", "8");
  await click("#save");
  await see(() => text(".note.bad") === "Someone else changed these limits while you were editing." && find("#burst-0").value === "8");
});

test("limits: the changes of two moderators are compared and combined", async () => {
  const kept = serveLimits();
  await openLimits();
  await write("#burst-0", "8");
  kept.change(({ limits }) => {
    limits[0].burst = 2;
    limits[1].messages = 200;
  }, "link:ben");
  await click(".compare");
  await see(() => text(".sides") === "ben (link) changed burst: messages at once 3 → 2 daily: messages 300 → 200 You changed burst: messages at once 3 → 8");
  await click(".both");
  await see(() => find("#burst-0").value === "8" && find("#messages-1").value === "200" && !find(".compare"));
  assert.match(text(".origin"), /^Changed by ben \(link\), /);
  assert.equal(kept.policy.limits[0].burst, 2);
  await save();
  assert.deepEqual([kept.policy.limits[0].burst, kept.policy.limits[1].messages], [8, 200]);
});

test("limits: both sides' new limits and order are combined", async () => {
  const kept = serveLimits();
  await openLimits();
  await click("#add-limit");
  await click(".chooser button[value=user-window]");
  await pick("#role-0", "vip");
  await write("#burst-0-vip", "9");
  kept.change(({ limits }) => limits.splice(1, 1, teatime));
  await click(".compare");
  await click(".both");
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name }) => name), ["burst", "teatime", "user-window"]);
  assert.equal(kept.policy.limits[0].roles.vip.burst, 9);
  await click("#limit-0-down");
  kept.change(({ limits }) => (limits[0].burst = 5));
  await click(".compare");
  await see(() => text(".sides").endsWith("You changed order of limits: burst, teatime, user-window → teatime, burst, user-window"));
  await click(".both");
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name, burst }) => `${name} ${burst}`), ["teatime undefined", "burst 5", "user-window undefined"]);
});

test("limits: of two answers, the one that was asked for last is shown", async () => {
  const kept = serveLimits();
  await openLimits();
  const [first, second] = [5, 7].map((burst) => gate(() => ({ ...kept.policy, limits: [{ ...kept.policy.limits[0], burst }] })));
  for (const [held, burst] of [[first, 5], [second, 7]]) {
    answer("GET /channels/7/policy", held);
    kept.change((policy) => (policy.limits[0].burst = burst));
    await see(() => held.asked);
  }
  second.go();
  await see(() => find("#burst-0").value === "7");
  first.go();
  await press("Shift");
  assert.equal(find("#burst-0").value, "7");
});

// serveTwo serves two channels, and returns the limits of the first.
function serveTwo() {
  const [channel] = usualAnswer("GET /channels").channels;
  const channels = ["7", "8"].map((id) => ({ ...channel, id, login: `channel${id}` }));
  answer("GET /channels", { channels });
  serveLimits(undefined, { channel: "8", channels });
  return serveLimits(undefined, { channels });
}

test("limits: while they are saved they can't be edited, and another channel can be shown", async () => {
  const kept = serveTwo();
  let go;
  kept.until = new Promise((done) => (go = done));
  await openLimits();
  await write("#burst-0", "5");
  await click("#save");
  await see(() => find("#burst-0").readOnly && find(".mode").disabled);
  await pick("header select", "8");
  await see(() => find("#burst-0")?.value === "3" && !find("#burst-0").readOnly);
  go();
  await see(() => kept.policy.limits[0].burst === 5);
  await press("Shift");
  assert.deepEqual([find("#burst-0").value, find(".finish .note")], ["3", null]);
  await pick("header select", "7");
  await see(() => find("#burst-0")?.value === "5" && !find("#burst-0").readOnly);
});

test("limits: a draft for each channel", async () => {
  const kept = serveTwo();
  const isWarned = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
  await openLimits();
  assert.equal(isWarned(), false);
  await write("#burst-0", "5");
  assert.equal(isWarned(), true);
  await pick("header select", "8");
  await see(() => find("#burst-0")?.value === "3" && isIdle());
  assert.equal(isWarned(), true, "with a draft for another channel");
  await pick("header select", "7");
  await see(() => find("#burst-0")?.value === "5" && !isIdle());
  await pick("header select", "8");
  await see(() => find("#burst-0")?.value === "3");
  kept.change((policy) => (policy.limits[0].burst = 9));
  await pick("header select", "7");
  await see(() => text(".note.bad").endsWith("changed these limits while you were editing.") && find("#burst-0").value === "5");
  await click(".compare");
  await see(() => text(".note.bad") === "owner changed these limits while you were editing.");
  await click(".theirs");
  await see(() => find("#burst-0").value === "9");
  assert.equal(isWarned(), false);
});

test("history: revisions are listed and restored", async () => {
  const kept = serveLimits();
  kept.change(({ limits }) => Object.assign(limits[0], { burst: 5, refill: "1m" }));
  kept.change(({ limits }) => {
    limits[0].roles = { vip: { burst: 9 } };
    limits.push({ name: "teatime", algorithm: "user-window", messages: 30, every: "1h" });
  });
  await openLimits();
  await openHistory();
  assert.deepEqual(revisions().map((row) => row.split(" ").sort().join(" ")), [
    "2 owner TIME in force burst: messages at once for vip: same as everyone → 9 teatime: added (user window, every 1 hour, messages 30)",
    "1 owner TIME burst: messages at once 3 → 5 burst: one more every 10 minutes → 1 minute Restore",
  ].map((row) => row.split(" ").sort().join(" ")));
  await click(`button[aria-label="Restore revision 1"]`);
  await see(() => revisions().length === 3 && !find("#messages-2") && isIdle());
  assert.match(revisions()[0], /^3 anna TIME in force .*teatime: removed \(user window\)/);
  assert.deepEqual([kept.policy.limits.length, kept.policy.limits[0].burst, kept.policy.limits[0].roles], [2, 5, undefined]);
  await click(".note button"); // undo
  await see(() => revisions().length === 4 && find("#messages-2"));
  await click(".to-file");
  await see(() => text(".origin").startsWith("Same as the configuration file.") && text(".history").includes("No differences.") && find("#burst-0").value === "3");
  assert.match(revisions()[0], /Restored from the configuration file\./);
  assert.deepEqual(kept.policy, usualAnswer("GET /channels/7/policy"));
});

test("history: nothing is restored over a draft", async () => {
  const kept = serveLimits();
  kept.change((policy) => (policy.limits[0].burst = 5));
  await openLimits();
  await openHistory();
  assert.ok(find(".to-file"));
  await write("#burst-0", "7");
  await see(() => text(".history").includes("To restore a revision, first save or discard your changes.") && !find(".revisions button, .to-file"));
});

test("history: revisions that are not saved yet or change nothing, and ten at first", async () => {
  const kept = serveLimits();
  for (let n = 0; n < 12; n++) kept.change((policy) => (policy.limits[0].burst = 10 + n));
  kept.revisions[0].saved = false;
  kept.revisions[1].difference = [];
  Object.assign(kept.revisions[2], { difference: [], discarded: true });
  await openLimits();
  await openHistory();
  assert.match(revisions()[0], /^12 owner TIME in force not saved yet/);
  assert.deepEqual(revisions().slice(1, 3), ["11 owner TIME No difference. Restore", "10 owner TIME Restored from the configuration file. Restore"]);
  assert.equal(revisions().length, 10);
  kept.revisions[11].unreadable = "it is too long";
  await click(button("Load older"));
  await see(() => revisions().length === 12 && !button("Load older"));
  assert.match(revisions()[11], /^1 owner TIME This change can no longer be read\..*\d$/);
});

test("history: limits are exported and copied", async () => {
  const kept = serveLimits();
  kept.change((policy) => (policy.limits[0].burst = 5));
  answer("GET /channels/7/policy/export", "# enforce\n");
  await openLimits();
  await openHistory();
  assert.match(text(".history"), /Value in the file → current value: burst: messages at once 3 → 5/);
  assert.equal(find(".history a[download]").getAttribute("href"), "api/v1/channels/7/policy/export");
  let copied;
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (copied = text) }, configurable: true });
  await click(button("Copy"));
  await see(() => copied === "# enforce\n" && text(".history [role=status]") === "Copied.");
  answer("GET /channels/7/policy/export", refuse(503, "The database is failing."));
  await click(button("Copy"));
  await see(() => text(".history [role=status]") === "Copying failed. Use Export as TOML.");
});

test("preview: today, and a change beside it", async () => {
  serveLimits();
  const usual = previewOf(({ candidate }) => (candidate.by_limit = { burst: 2, daily: 1 }));
  answer("POST /channels/7/preview", ({ body }) => (body.policy.limits[0].burst === 3 ? { ...usual, candidate: usual.in_force, changed: [] } : usual));
  await openLimits();
  await see(() => headline() === "These limits would have throttled 2 messages from 1 user.");
  const figures = () => texts(".tally > div, .preview tbody tr");
  assert.deepEqual(figures(), ["Messages throttled 2", "Users throttled 1", "Messages throttled, by limit", "burst 2", "Penalties", "deleted 2"]);
  await write("#burst-0", "2");
  await see(() => headline() === "The change would have throttled 1 more message.");
  assert.deepEqual(requests.at(-1).body.policy.limits[0].burst, 2);
  assert.deepEqual(figures(), ["Messages throttled 3 +1 2 now", "Users throttled 1 same 1 now", "Messages throttled, by limit", "burst 2 2 same", "daily 0 1 +1", "Penalties", "deleted 2 3 +1", "Spammer 2 3 +1"]);
  assert.match(text(".preview .basis"), /^Based on 7 messages from 2 users /);
  assert.ok(find(".changed a[href='#/people?user=42']"));
});

test("preview: messages without a text are named below the headline", async () => {
  serveLimits();
  for (const without of [3, 0]) {
    answer("POST /channels/7/preview", () => previewOf(({ in_force: present }) => Object.assign(present, without > 0 && { without_text: without })));
    await openLimits();
    const want = without > 0 ? "3 messages have no text, or none on record: limits on repeated text don’t count them." : undefined;
    await see(() => headline().startsWith("These limits") && texts("#without-text")[0] === want);
  }
});

test("preview: what a change does, in a sentence", async () => {
  serveLimits();
  const cases = [
    ["The change would have throttled 1 fewer message.", ({ candidate }) => (candidate.throttled_messages = 1)],
    ["The change would have throttled 2 more messages.", ({ candidate }) => (candidate.throttled_messages = 4)],
    ["The change would have made no difference.", (body) => Object.assign(body, { candidate: body.in_force, changed: [] })],
    ["Same number of messages throttled, but from different users.", (body) => (body.candidate = body.in_force)],
    ["No messages recorded yet. For previews, messages are kept for 48 hours, without their text.", (body) => (body.messages = 0)],
  ];
  await openLimits();
  for (const [i, [sentence, change]] of cases.entries()) {
    answer("POST /channels/7/preview", previewOf(change));
    await write("#burst-0", String(10 + i));
    await see(() => headline() === sentence);
    if (i === 0) assert.equal(text(".tally dd"), "1 −1 2 now");
  }
  assert.equal(find(".preview table"), null);
  answer("POST /channels/7/preview", previewOf(({ in_force }) => (in_force.throttled_messages = 0)));
  await click(".discard");
  await see(() => headline() === "These limits would have throttled nobody.");
});

test("preview: a question that is out of date is withdrawn", async () => {
  serveLimits();
  await openLimits();
  await see(() => headline().startsWith("These limits"));
  answer("POST /channels/7/preview", () => new Promise(() => {}));
  await write("#burst-0", "2");
  const asked = () => requests.filter(({ path }) => path === "/channels/7/preview");
  await see(() => asked().at(-1).body.policy.limits[0].burst === 2 && headline() === "Counting…");
  const old = asked().at(-1);
  answer("POST /channels/7/preview", usualAnswer("POST /channels/7/preview"));
  await write("#burst-0", "1");
  await see(() => old.signal.aborted && headline() === "The change would have throttled 1 more message.");
});

test("preview: without an answer it says why, and comes back", async () => {
  serveLimits();
  answer("POST /channels/7/preview", refuse(503, "The limits can't be tried now: the database is failing."));
  await openLimits();
  await see(() => text(".preview [role=alert]") === "The limits can't be tried now: the database is failing.");
  answer("POST /channels/7/preview", usualAnswer("POST /channels/7/preview"));
  await write("#burst-0", "0");
  await see(() => headline() === "Fix the highlighted field to update the preview." && !find(".preview [role=alert]"));
  await write("#burst-0", "4");
  await see(() => headline() === "The change would have throttled 1 more message.");
  answer("GET /session", refuse(0));
  hangUp();
  await see(() => headline() === "Connection lost. The preview updates after reconnecting.");
  answer("GET /session", usualAnswer("GET /session"));
  await see(() => headline() === "The change would have throttled 1 more message.");
});
