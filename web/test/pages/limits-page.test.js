import assert from "node:assert/strict";
import test from "node:test";
import { all, answer, click, find, goTo, open, pick, press, refuse, requests, see, send, text, texts, usualAnswer, write } from "../../testing/page.js";
import { isIdle, openLimits, save, serveLimits } from "../../testing/limits.js";

const everywhere = { name: "total", algorithm: "user-window", messages: 1000, every: "24h", per: "user-everywhere", roles: { vip: { messages: 2000 } } };

// everyAlgorithm has limits of the algorithms that the usual limits lack, with every setting that a
// limit can have.
const everyAlgorithm = [
  { name: "slow", algorithm: "leaky-bucket", every: "1.5s", queue: 3, roles: { subscriber: { queue: 9 }, vip: {} } },
  { name: "unqueued", algorithm: "leaky-bucket", every: "1h30m", mode: "observe" },
  { name: "crowd", algorithm: "fixed-window", per: "channel", messages: 600, every: "1m" },
  { name: "evening", algorithm: "user-window", messages: 100, every: "12h", count_throttled: true },
  { name: "month", algorithm: "sliding-window", messages: 6_000_000, every: "720h", mode: "observe" },
  { name: "exact", algorithm: "sliding-log", messages: 20, every: "1m30s" },
  everywhere,
];

const add = (...limits) => (policy) => policy.limits.push(...structuredClone(limits));
const hasFocus = (id) => () => document.activeElement.id === id;
const card = (name) => all(".limit").find((one) => text(one.querySelector("legend bdi")) === name);
const names = () => texts(".limit .name").join(" ");

// described is what a card says: its title, its fields, what is ticked, and its notes.
function described(name) {
  const of = (selector) => [...card(name).querySelectorAll(selector)];
  const fields = of(".fields .field:has(.unit), .role-row .field").filter((field) => !field.closest(".kind"));
  return [
    `${text(of(".rule")[0])} ${of(".labels > *").map(text).join(" ")}`, ...fields.map((field) => `${text(field.querySelector("label"))} [${field.querySelector("input").value}] ${text(field.querySelector(".unit"))}`.trim()),
    ...of(".choice").filter((one) => one.querySelector("input").checked).map((one) => `[x] ${text(one)}`), ...of("fieldset.limit > p:not(.overrides)").map(text),
  ];
}

test("limits: every limit in words", async () => {
  serveLimits(add(...everyAlgorithm));
  await openLimits();
  const wanted = {
    burst: ["3 messages, then one every 10 minutes burst token bucket per user", "Messages at once [3] messages", "Then one more every [10 minutes]",
      "Long-term rate: 6 per hour. A full burst of 3 refills in 30 minutes."],
    daily: ["300 messages a day, until midnight UTC daily daily window per user", "Messages per period [300] messages", "Ends at [00:00]", "Time zone []"],
    slow: ["One message every 1.5 seconds, with 3 more waiting slow leaky bucket per user", "One message every [1.5 seconds]", "Queue size [3] messages",
      "Queue size, subscriber [9] messages", "Queue size, vip [] messages",
      "Long-term rate: 40 per minute. If 4 arrive at once, the last waits 4.5 seconds. On Twitch, messages are never delayed, only throttled when the queue is full."],
    unqueued: ["One message every 1 hour 30 minutes unqueued leaky bucket per user", "One message every [1 hour 30 minutes]", "Queue size [0] messages",
      "[x] Observe only Reports messages over this limit, but throttles nobody.",
      "Long-term rate: 16 per day. A message less than 1 hour 30 minutes after the previous one is throttled."],
    crowd: ["600 messages every minute by the clock crowd fixed window shared by everyone", "Messages per window [600] messages", "Window length [1 minute]",
      "Long-term rate: 600 per minute. Windows follow the UTC clock. Up to 1,200 messages can pass in a row when one window ends and the next begins.",
      "Messages over this limit are removed without a strike."],
    evening: ["100 messages in 12 hours, from the first one on evening user window per user", "Messages per window [100] messages", "Window length [12 hours]",
      "[x] Throttled messages also count Trying again while throttled makes the wait longer.",
      "Long-term rate: 200 per day. A window begins with its first message and resets 12 hours later."],
    month: ["About 6,000,000 messages in any 30 days month sliding window per user", "Messages per window [6000000] messages", "Window length [30 days]",
      "[x] Observe only Reports messages over this limit, but throttles nobody.",
      "Long-term rate: 200,000 per day. Estimated: the messages of the previous window are assumed to be evenly spread."],
    exact: ["20 messages in any 1 minute 30 seconds exact sliding log per user", "Messages per window [20] messages", "Window length [1 minute 30 seconds]",
      "Long-term rate: 800 per hour. Each message counts for exactly 1 minute 30 seconds."],
    total: ["1,000 messages in 1 day, from the first one on total user window per user, across all channels", "Messages per window [1000] messages", "Window length [1 day]",
      "Messages per window, vip [2000] messages", "Long-term rate: 1,000 per day. A window begins with its first message and resets 1 day later.",
      "Applies across all channels. Change it in the configuration file."],
  };
  for (const [name, lines] of Object.entries(wanted)) assert.deepEqual(described(name), lines);
  assert.equal(text(".role-row[aria-label=subscriber] .role-rule"), "Subscribers: one message every 1.5 seconds, with 9 more waiting");
  assert.ok(find("#messages-8").readOnly && !find("#remove-8") && !find("#role-8"), "a limit across all channels can't be changed");
});

test("limits: every number can be changed, and the others stay to the letter", async () => {
  const kept = serveLimits(add(...everyAlgorithm));
  kept.policy.limits[3].every = "2400h0m0.000000001s"; // more digits than a JavaScript number holds
  const wanted = structuredClone(kept.policy);
  await openLimits();
  const typed = { "#refill-0": "0.5", "#queue-2": "0", "#queue-2-vip": "0", "#queue-3": "1", "#messages-4": "700", "#every-5": "1h", "#messages-6": "5", "#every-7": "60", "#messages-7": "1024" };
  for (const [field, value] of Object.entries(typed)) await write(field, value);
  await save();
  Object.assign(wanted.limits[0], { refill: "500ms" });
  Object.assign(wanted.limits[2], { queue: 0, roles: { subscriber: { queue: 9 }, vip: { queue: 0 } } });
  Object.assign(wanted.limits[3], { queue: 1 });
  Object.assign(wanted.limits[4], { messages: 700 });
  Object.assign(wanted.limits[5], { every: "1h" });
  Object.assign(wanted.limits[6], { messages: 5 });
  Object.assign(wanted.limits[7], { messages: 1024, every: "1m" });
  assert.deepEqual(kept.policy, wanted);
});

test("limits: a rule follows its numbers, and a wrong one can't be saved", async () => {
  const kept = serveLimits();
  await openLimits();
  await write("#burst-0", "1");
  await see(() => text(".limit .rule") === "One message every 10 minutes");
  await write("#burst-0", "0");
  await see(() => text(".limit .rule") === "Fix the highlighted field." && text("#burst-0-error") === "Enter a whole number, 1 or more." && text(".finish .bad") === "Fix 1 field above.");
  assert.equal(find("#save").getAttribute("aria-disabled"), "true");
  await click(".discard");
  await see(() => find("#burst-0").value === "3" && !find(".columns [aria-invalid=true]"));
  await click("input[value=observe]");
  await see(() => text("#save") === "Save and observe" && text(".effect") === "Nobody is throttled; the journal shows who would be.");
  await save();
  assert.equal(kept.policy.mode, "observe");
  await see(() => text("header").includes("Observing"));
  await click("input[value=enforce]");
  await see(() => text("#save") === "Save and enforce");
});

test("limits: an action of the program stays on the ladder", async () => {
  const kept = serveLimits((policy) => (policy.penalties.ladder = ["delete", "mute", "ban"]));
  await openLimits();
  assert.deepEqual(all(".rung select").map((select) => select.value), ["delete", "mute", "ban"]);
  assert.deepEqual([texts("#rung-0-action option").includes("mute"), texts("#rung-1-action option").at(-1)], [false, "mute"]);
  await write("#burst-0", "7");
  await save();
  assert.deepEqual(kept.policy.penalties.ladder, ["delete", "mute", "ban"]);
});

test("limits: durations as people type them", async () => {
  const kept = serveLimits();
  await openLimits();
  assert.equal(find("#refill-0").value, "10 minutes");
  await write("#refill-0", "1h30", { leave: false });
  await see(() => text("#refill-0-unit") === "= 1 hour 30 minutes");
  await write("#refill-0", "soon");
  await see(() => text("#refill-0-error") === "Enter a duration, such as 30m, 1h30 or 90 seconds." && find("#refill-0").value === "soon");
  await write("#refill-0", "90");
  await see(() => find("#refill-0").value === "1 minute 30 seconds" && text("#refill-0-unit") === "");
  await write("#forget_after", "0", { leave: false });
  await see(() => text("#forget_after-unit") === "= never");
  await write("#forget_after", "2d");
  await write("#rung-4", "15d");
  await see(() => text("#rung-4-error") === "Enter at most 14 days.");
  await write("#rung-4", "15m");
  await see(() => find("#rung-4").value === "15 minutes");
  await save();
  const { limits, penalties } = kept.policy;
  assert.deepEqual([limits[0].refill, penalties.forget_after, penalties.ladder.at(-1)], ["1m30s", "48h", "timeout 15m"]);
  await write("#refill-0", "1.5 min"); // the same
  await see(() => isIdle() && find("#refill-0").value === "1 minute 30 seconds");
});

test("limits: the end of a day, and time zones", async () => {
  const kept = serveLimits();
  await openLimits();
  for (const [field, wrong] of [["reset_at-1", "24:00"], ["timezone-1", "Europe/Nowhere"], ["zone", "there"]]) await write(`#${field}`, wrong);
  await see(() => all(".columns [aria-invalid=true]").length === 3);
  for (const [field, right] of [["reset_at-1", "04:30"], ["timezone-1", "America/New_York"], ["zone", "Europe/Berlin"]]) await write(`#${field}`, right);
  await see(() => text(card("daily")).includes("300 messages a day, until 04:30 in America/New_York"));
  await save();
  assert.deepEqual([kept.policy.limits[1].reset_at, kept.policy.limits[1].timezone, kept.policy.timezone], ["04:30", "America/New_York", "Europe/Berlin"]);
});

test("limits: a week and a month", async () => {
  const kept = serveLimits();
  await openLimits();
  assert.ok(!find("#first_day-1"), "a day has no first day");
  await pick("#period-1", "week");
  await pick("#first_day-1", "sunday");
  await see(() => text(card("daily")).includes("300 messages a week, until Sunday at midnight UTC"));
  await save();
  assert.deepEqual([kept.policy.limits[1].period, kept.policy.limits[1].first_day], ["week", "sunday"]);
  await see(() => isIdle() && find("#first_day-1").value === "sunday");
  await pick("#period-1", "month");
  await see(() => !find("#first_day-1") && text(card("daily")).includes("300 messages a month, until the 1st at midnight UTC"));
  await save();
  assert.deepEqual([kept.policy.limits[1].period, kept.policy.limits[1].first_day], ["month", undefined]);
});

test("limits: numbers of roles", async () => {
  const kept = serveLimits();
  await openLimits();
  await pick("#role-0", "vip");
  await see(hasFocus("burst-0-vip"));
  await write("#burst-0-vip", "0");
  await see(() => text("#burst-0-vip-error") === "Enter a whole number, 1 or more. Leave empty to inherit.");
  await write("#burst-0-vip", "5");
  await write("#refill-0-vip", "2.5s");
  await see(() => text(".role-row[aria-label=vip] .role-rule") === "VIPs: 5 messages, then one every 2.5 seconds");
  await pick("#role-0", "first_timer");
  await save();
  assert.deepEqual(kept.policy.limits[0].roles, { vip: { burst: 5, refill: "2.5s" }, first_timer: {} });
  await write("#refill-0-vip", ""); // same as everyone's
  await click(`button[aria-label="Remove first-timer from burst"]`);
  await see(hasFocus("role-0"));
  await save();
  assert.deepEqual(kept.policy.limits[0].roles, { vip: { burst: 5 } });
});

test("limits: numbers of an exempt role do nothing", async () => {
  serveLimits();
  await openLimits();
  assert.ok(text("#role-0 option[value=moderator]") === "moderator (exempt)" && !find("#role-0 option[value=everyone]"));
  await pick("#role-0", "moderator");
  await write("#burst-0-moderator", "50");
  await see(() => text(".role-row").includes("Moderators are exempt: these numbers have no effect."));
  await click(".useless button");
  await see(hasFocus("exempt-moderator"));
  await click("#exempt-moderator");
  await see(() => text(".role-row").includes("Moderators: 50 messages, then one every 10 minutes") && !find(".useless"));
});

test("limits: add and remove", async () => {
  const kept = serveLimits();
  await openLimits();
  await click("#add-limit");
  await click(".chooser button[value=sliding-log]");
  await see(hasFocus("name-2"));
  await write("#name-2", "burst");
  await see(() => text("#name-2-error") === "Another limit has this name. Enter a different one." && find("#save").getAttribute("aria-disabled") === "true");
  await write("#name-2", "teatime");
  await write("#messages-2", "7");
  await pick("#per-2", "channel");
  await click("#observes-2");
  await click("#counts-2");
  await save();
  assert.deepEqual(kept.policy.limits[2], { name: "teatime", algorithm: "sliding-log", per: "channel", messages: 7, every: "30s", mode: "observe", count_throttled: true });
  await click("#remove-0");
  await see(hasFocus("keep-0"));
  assert.equal(text(".removed p"), "Saving removes burst and clears its usage.");
  await click("#keep-0");
  await see(() => find("#burst-0") && isIdle());
  await click("#remove-0");
  await save();
  assert.equal(names(), "daily teatime");
  await click("#add-limit");
  await click(".chooser button[value=token-bucket]");
  await click("#remove-2"); // never saved
  await see(() => hasFocus("add-limit")() && !find("#name-2") && isIdle());
});

test("limits: one of every algorithm can be added", async () => {
  const kept = serveLimits();
  await openLimits();
  await click("#add-limit");
  const kinds = all(".chooser li button").map((one) => one.value);
  await press("Escape");
  await see(() => !find(".chooser li") && hasFocus("add-limit")());
  for (const [i, kind] of kinds.entries()) {
    await click("#add-limit");
    await click(`.chooser button[value=${kind}]`);
    await see(hasFocus(`name-${i + 2}`));
  }
  await save();
  assert.deepEqual(kept.policy.limits.slice(2).map(({ algorithm }) => algorithm).sort(), usualAnswer("GET /algorithms").algorithms.map(({ name }) => name).sort());
});

const kinds = (of) => texts(`${of} strong`).map((rule, i) => `${rule} (${texts(`${of} strong + .muted`)[i]})`);

test("limits: kinds are rules in words, with the numbers of the limit", async () => {
  const kept = serveLimits();
  await openLimits();
  await click("#unfold-kind-0");
  const rules = [
    "3 messages, then one every 10 minutes (token bucket)", "3 messages in any 30 minutes (sliding log)", "144 messages a day, until midnight UTC (daily window)",
    "3 messages in 30 minutes, from the first one on (user window)", "3 messages every 30 minutes by the clock (fixed window)", "About 3 messages in any 30 minutes (sliding window)",
    "One message every 10 minutes, with 2 more waiting (leaky bucket)", "3 messages, then one every 10 minutes; at low priority 2 more, then one every 20 seconds (cascade)",
  ];
  assert.deepEqual(kinds("#kind-of-0"), rules);
  await click("[name=algorithm-0][value=daily-window]");
  await see(() => find("#messages-0").value === "144");
  assert.deepEqual(kinds("#kind-of-0"), rules, "a look at another kind changes no kind's numbers");
  await click("[name=algorithm-0][value=user-window]");
  await see(() => find("#messages-0").value === "3");
  await write("#messages-0", "5");
  assert.deepEqual(kinds("#kind-of-0").slice(1, 4), ["5 messages in any 30 minutes (sliding log)", "240 messages a day, until midnight UTC (daily window)", "5 messages in 30 minutes, from the first one on (user window)"]);
  await write("#messages-0", "many");
  assert.ok(kinds("#kind-of-0").every((rule) => !rule.includes("NaN")), "a wrong number is in no rule");
  await write("#messages-0", "6");
  await save();
  assert.deepEqual(kept.policy.limits[0], { name: "burst", algorithm: "user-window", messages: 6, every: "30m" });
  await click("#add-limit");
  assert.deepEqual(kinds(".chooser").slice(0, 3), ["3 messages, then one every 4 seconds (token bucket)", "10 messages in any 30 seconds (sliding log)", "300 messages a day, until midnight UTC (daily window)"]);
});

test("limits: a name for viewers", async () => {
  const kept = serveLimits((policy) => (policy.limits[1].title = "per day"));
  await openLimits();
  assert.deepEqual([find("#title-0").value, find("#title-0").placeholder, find("#title-1").value], ["", "burst", "per day"]);
  for (const [title, problem] of [["x".repeat(65), "Enter at most 64 characters."], ["/ban", "A message that begins with “/” is a chat command. Begin with something else."], ["a\u202eb", "Enter letters, digits and punctuation in one line."], ["a\u200db", "Enter letters, digits and punctuation in one line."]]) {
    await write("#title-0", title);
    await see(() => text("#title-0-error") === problem && find("#unfold-name-0").getAttribute("aria-expanded") === "true");
  }
  await write("#title-0", "👨\u200d👩🏽\u200d👧 🏳\ufe0f\u200d🌈");
  await see(() => find("#title-0").getAttribute("aria-invalid") !== "true");
  await write("#title-0", " in a row ");
  await write("#title-1", "");
  await see(() => !find(".starts-over"));
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name, title }) => [name, title]), [["burst", "in a row"], ["daily", undefined]]);
  find(".history").open = true;
  await see(() => text(".history").includes("name for viewers none → in a row") && text(".history").includes("name for viewers per day → none"));
});

test("limits: a save leaves unfolded what is unfolded", async () => {
  const kept = serveLimits();
  let go;
  kept.until = new Promise((done) => (go = done));
  await openLimits();
  for (const part of ["#unfold-kind-1", "#unfold-name-1"]) await click(part);
  await click("#add-limit");
  await click(".chooser button[value=token-bucket]");
  await click("#limit-1-up");
  await write("#name-0", "perday");
  const unfolded = () => all(".limit .parts").map((parts) => [...parts.children].map((one) => one.getAttribute("aria-expanded")).join());
  const wanted = ["true,true", "false,false", "false,true"];
  assert.deepEqual(unfolded(), wanted);
  await click("#save");
  await see(() => find("#name-0").readOnly);
  assert.deepEqual(unfolded(), wanted, "while it is saved");
  go();
  await see(() => find(".note.good") && isIdle() && names() === "perday burst token-bucket");
  assert.deepEqual(unfolded(), wanted);
  kept.change(({ limits }) => limits.shift());
  await see(() => names() === "burst token-bucket");
  assert.deepEqual(unfolded(), wanted.slice(1), "another person's change, too");
  await click("#unfold-name-1");
  assert.deepEqual(unfolded(), ["false,false", "false,false"]);
});

test("limits: one number for all limits of a role", async () => {
  const kept = serveLimits(add(everyAlgorithm[0], everyAlgorithm[5], everywhere));
  await openLimits();
  const shown = () => ["vip", "subscriber", "first_timer"].map((role) => find(`#times-${role}`).value);
  assert.deepEqual([shown(), find("#times-moderator")], [["1", "1", "1"], null], "a moderator is exempt");
  assert.deepEqual(texts(".times > p").slice(1), ["Not multiplied, because the pace is the same for all roles: slow.", "Not multiplied, because they apply across all channels: total."]);
  await write("#times-subscriber", "2");
  await see(() => text(".role-row[aria-label=subscriber] .role-rule") === "Subscribers: 6 messages, then one every 5 minutes");
  await write("#times-vip", "1.5");
  await write("#messages-3", "30"); // the roles follow
  await save();
  assert.deepEqual(kept.policy.limits.slice(0, 4).map(({ roles }) => roles), [
    { subscriber: { burst: 6, refill: "5m" }, vip: { burst: 4, refill: "6m40s" } }, { subscriber: { messages: 600 }, vip: { messages: 450 } },
    { subscriber: { queue: 9 }, vip: {} }, { subscriber: { messages: 60 }, vip: { messages: 45 } },
  ]);
  await see(() => isIdle() && shown().join() === "1.5,2,1");
  await write("#messages-3-subscriber", "61");
  await see(() => shown().join() === "1.5,,1" && find("#times-subscriber").placeholder === "mixed");
  await write("#burst-0", "4");
  assert.deepEqual([find("#burst-0-vip").value, find("#burst-0-subscriber").value], ["6", "6"], "mixed numbers stay");
  await write("#times-subscriber", "0");
  await see(() => text("#times-subscriber-error") === "Enter a number from 0.1 to 100." && find("#save").getAttribute("aria-disabled") === "true");
  await write("#times-subscriber", "1");
  await write("#times-vip", "");
  await see(() => find("#save").getAttribute("aria-disabled") === "false");
  await save();
  assert.deepEqual(kept.policy.limits.slice(0, 4).map(({ roles }) => roles), [{ vip: { burst: 6, refill: "6m40s" } }, { vip: { messages: 450 } }, { subscriber: { queue: 9 }, vip: {} }, { vip: { messages: 45 } }]);
  await see(() => isIdle() && shown().join() === "1.5,1,1");
  await click("#add-limit");
  await click(".chooser button[value=fixed-window]");
  await see(() => find("#messages-5-vip").value === String(Math.floor(1.5 * Number(find("#messages-5").value))));
});

test("limits: renamed, or with another algorithm, usage starts again", async () => {
  const kept = serveLimits();
  answer("GET /channels/7/overrides", { users: [{ user_id: "51", login: "clara", override: { limits: { burst: { burst: 9 } } } }], more: false, by_limit: { burst: 1 } });
  await openLimits();
  await see(() => find(".overrides a"));
  await write("#name-0", "daily");
  await see(() => text("#name-0-error") === "Another limit has this name. Enter a different one." && find("#unfold-name-0").getAttribute("aria-expanded") === "true");
  await write("#name-0", "flood");
  await see(() => text(".starts-over") === "Saving resets the usage of this limit to zero. It was “burst” before. The custom numbers of 1 user for “burst” will no longer apply.");
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name, burst }) => `${name} ${burst}`), ["flood 3", "daily undefined"]);
  await click("#unfold-kind-0");
  await click("[name=algorithm-0][value=sliding-log]");
  await see(() => find("#messages-0").value === "3" && find("#every-0").value === "30 minutes" && text(".starts-over") === "Saving resets the usage of this limit to zero.");
  await click("[name=algorithm-0][value=token-bucket]");
  await see(() => isIdle() && !find(".starts-over"));
  await click("[name=algorithm-0][value=sliding-log]");
  await pick("#per-0", "channel");
  await save();
  assert.deepEqual(kept.policy.limits[0], { name: "flood", algorithm: "sliding-log", per: "channel", messages: 3, every: "30m" });
});

test("limits: their order changes around a limit of all channels", async () => {
  const kept = serveLimits(add(everywhere, everyAlgorithm[5]));
  await openLimits();
  assert.equal(names(), "burst daily total exact");
  await click("#limit-3-up");
  await see(() => names() === "burst exact total daily" && hasFocus("limit-1-up")());
  await click("#limit-1-up");
  await see(() => names() === "exact burst total daily" && hasFocus("limit-0-down")());
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name }) => name), ["exact", "burst", "total", "daily"]);
  await click(".note button"); // undo
  await see(() => names() === "burst daily total exact");
});

test("limits: penalties, exempt roles and messages", async () => {
  const kept = serveLimits();
  await openLimits();
  assert.equal(text(".steps"), "delete→delete→warn→30 s→10 min");
  await click("#rung-2-up");
  await see(hasFocus("rung-1-up"));
  await click("#rung-1-up"); // to the top
  await see(hasFocus("rung-0-action"));
  await click("#add-rung");
  await see(hasFocus("rung-5-action"));
  await write("#rung-5", "1h");
  await pick("#rung-3-action", "timeout refill");
  await write("#strike_every", "20");
  await click("#exempt-moderator");
  await click("#exempt-vip");
  assert.equal(find("label:has(#exempt-emotes)").textContent.trim(), "messages of emotes only");
  await click("#exempt-emotes");
  await click("#exempt-resub");
  await click("#exempt-bits");
  await save();
  assert.deepEqual(kept.policy.penalties, { ladder: ["warn", "delete", "delete", "timeout refill", "timeout 10m", "timeout 1h"], strike_every: "20s", forget_after: "30m" });
  assert.deepEqual(kept.policy.exempt.sort(), ["broadcaster", "lead_moderator", "vip"]);
  assert.deepEqual(kept.policy.exempt_messages, ["bits", "resub", "emotes"]);
});

test("limits: another server's dashboard offers the kinds of messages that its policy exempts", async () => {
  answer("GET /session", { ...usualAnswer("GET /session"), mounted: true });
  const kept = serveLimits((policy) => (policy.exempt_messages = ["announcement"]));
  await openLimits();
  assert.deepEqual(all("[id^=exempt-]").map(({ id }) => id).slice(-2), ["exempt-first_timer", "exempt-announcement"]);
  assert.ok(!text("main").includes("single Bit"));
  kept.change((policy) => (policy.exempt_messages = []));
  await see(() => !text("main").includes("Exempt messages"));
});

test("limits: a ladder of 32 steps has no room for another", async () => {
  serveLimits((policy) => Object.assign(policy.penalties, { ladder: Array(32).fill("delete") }));
  await openLimits();
  await see(() => find("#rung-31-action"));
  assert.ok(!find("#add-rung"));
});

const chosen = () => all(".presets [aria-pressed=true]").map(({ id }) => id.replace("preset-", "")).join();
const presetNote = () => text(".presets > [role=status]").replace(" Nothing changes until you save.", "");

test("limits: presets fill the form, and are undone one by one", async () => {
  const kept = serveLimits(), before = structuredClone(kept.policy), ids = ["gentle", "busy", "raid-proof", "subscribers-first"];
  const isFilled = /** @param {string} id */ (id) => () => chosen() === id && presetNote() === `The limits and penalties of “${text(`#preset-${id} strong`)}” are filled in.`;
  await openLimits();
  await write("#burst-0", "4");
  for (const id of ids) {
    await click(`#preset-${id}`);
    await see(isFilled(id));
    assert.deepEqual(kept.policy, before);
  }
  await click("#preset-subscribers-first"); // is chosen already
  assert.equal(text(".role-row[aria-label=vip] .role-rule"), "VIPs: 5 messages, then one every 3 seconds");
  for (const id of ids.slice(0, -1).reverse()) {
    await click("#undo-preset");
    await see(isFilled(id));
  }
  await click("#undo-preset");
  await see(() => hasFocus("preset-gentle")() && chosen() === "" && presetNote() === "" && find("#burst-0").value === "4" && !find("#undo-preset"));
  await click("#preset-raid-proof");
  await see(() => find("#undo-preset"));
  await write("#burst-0", "9"); // then undoing the preset would undo this, too
  await see(() => !find("#undo-preset"));
  await click(".discard");
  await see(() => find("#burst-0").value === "3" && all(".limit").length === 2 && isIdle());
});

test("limits: a known limit fills the limits, and keeps the penalties", async () => {
  const kept = serveLimits(), { penalties } = structuredClone(kept.policy);
  await openLimits();
  await click("#preset-rapidity");
  await see(() => text(".presets > [role=status]") === "The limits of “Rapidity: five windows” are filled in. Nothing changes until you save." && all(".limit:not(.removed)").length === 5);
  assert.match(text("#preset-rapidity"), /80 bytes of state per user/);
  await save();
  assert.deepEqual(kept.policy.limits[4], { name: "month", algorithm: "user-window", messages: 6_000_000, every: "720h" });
  assert.deepEqual([kept.policy.limits.length, kept.policy.penalties], [5, penalties]);
});

test("limits: a preset on repeated messages adds a limit, which says in a sentence what it allows", async () => {
  const kept = serveLimits(), before = structuredClone(kept.policy.limits);
  await openLimits();
  await click("#preset-copy-paste");
  await see(() => text(".presets > [role=status]") === "“Copy-paste raid” is added to your limits. Nothing changes until you save." && all(".limit").length === before.length + 1);
  const card = all(".limit")[before.length];
  assert.equal(text(card.querySelector("legend")), "The same message 3 times in any 30 secondscopy-pastesliding logthe same message from anyonesimilar ones, too");
  await save();
  assert.deepEqual(kept.policy.limits, [...before, { name: "copy-paste", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true }]);
});

test("limits: presets on repeated messages are chosen while their limits are in the form as they made them", async () => {
  const kept = serveLimits();
  await openLimits();
  const rules = () => texts(".limit:not(.removed) .rule").filter((rule) => rule.startsWith("The same message")).join();
  await click("#preset-no-repeats");
  await click("#preset-gentle");
  await see(() => chosen() === "gentle,no-repeats" && rules() === "The same message once in any 30 seconds");
  await click("#undo-preset");
  await see(() => chosen() === "no-repeats" && presetNote() === "“No repeats” is added to your limits." && hasFocus("preset-gentle")());
  await save();
  await see(() => chosen() === "no-repeats" && !find("#undo-preset"));
  await write("#messages-2", "2");
  await see(() => chosen() === "");
  await click("#preset-no-repeats");
  await see(() => chosen() === "no-repeats" && presetNote() === "“No repeats” has its own numbers again, in place of yours." && rules() === "The same message once in any 30 seconds");
  await click("#undo-preset");
  await see(() => chosen() === "" && rules() === "The same message 2 times in any 30 seconds");
  await write("#messages-2", "1");
  await see(() => chosen() === "no-repeats");
  await click("#preset-no-repeats");
  await see(() => chosen() === "" && presetNote() === "“No repeats” is removed from your limits." && rules() === "" && text(".removed p") === "Saving removes no-repeats and clears its usage.");
  await click("#undo-preset");
  await see(() => chosen() === "no-repeats" && !find(".removed"));
  assert.equal(kept.policy.limits.length, 3);
});

test("limits: only a limit on repeated text has what these have, and no leaky bucket is one", async () => {
  const kept = serveLimits();
  await openLimits();
  const fields = () => ["from_length", "similar", "count_emotes", "strikes"].filter((name) => find(`#${name}-0`));
  await click("#unfold-name-0");
  assert.deepEqual([fields(), texts("#per-0 option")], [[], ["per user", "shared by everyone", "the same message from one person", "the same message from anyone"]]);
  await pick("#per-0", "user-text");
  await see(() => fields().join() === "from_length,similar,count_emotes" && text(".limit legend .rule") === "The same message 3 times, then once every 10 minutes");
  await pick("#per-0", "text");
  await see(() => fields().join() === "from_length,similar,count_emotes,strikes");
  assert.equal(text(find("#strikes-0").closest("label")), "Gives strikes Otherwise, messages over this limit are only removed, because others have written them before.");
  await click("#unfold-kind-0");
  await see(() => all("#kind-of-0 input").length === 7 && !find("#kind-of-0 input[value=leaky-bucket]"));
  await write("#from_length-0", "0");
  await see(() => text("#from_length-0-error") === "Enter a whole number from 1 to 500." && text(".limit legend .rule") === "Fix the highlighted field.");
  const about = () => texts(".limit p.muted").includes("Shorter messages never count.");
  assert.equal(about(), false);
  await write("#from_length-0", "20");
  await see(about);
  await click("#similar-0");
  await click("#strikes-0");
  await save();
  const { per, from_length, similar, count_emotes, strikes } = kept.policy.limits[0];
  assert.deepEqual([per, from_length, similar, count_emotes, strikes], ["text", 20, true, undefined, true]);
  await see(() => text(".limit legend").endsWith("similar ones, too") && find("#from_length-0").value === "20" && find("#similar-0").checked);
  await pick("#per-0", "user");
  await see(() => fields().length === 0);
});

test("limits: after a change, presets are folded away", async () => {
  serveLimits().change((policy) => (policy.limits[0].burst = 5));
  await openLimits();
  assert.equal(find(".presets"), null);
  await click("#choose-preset");
  await see(() => all(".presets > ul button").length === 6);
});

test("limits: fields are those that the API lists, also of an unknown algorithm", async () => {
  const { algorithms } = usualAnswer("GET /algorithms");
  algorithms[0].parameters[0].most = 7;
  algorithms.push({ ...algorithms[0], name: "new-one", parameters: [{ ...algorithms[0].parameters[0], name: "big_steps", kind: "count", least: 2, most: 9, suggested: 4 }] });
  answer("GET /algorithms", { algorithms });
  serveLimits();
  await openLimits();
  await write("#burst-0", "8");
  await see(() => text("#burst-0-error") === "Enter a whole number from 1 to 7.");
  await write("#burst-0", "7");
  await see(() => text("#burst-0-error") === "");
  await click("#add-limit");
  await click(".chooser button[value=new-one]");
  await see(() => find("#big_steps-2")?.value === "4" && text("label[for=big_steps-2]") === "Big steps");
  await write("#big_steps-2", "1");
  await see(() => text("#big_steps-2-error") === "Enter a whole number from 2 to 9.");
});

test("limits: a reserve, and a cascade", async () => {
  const kept = serveLimits();
  await openLimits();
  await write("#reserve-0", "2");
  await see(() => text(".limit .rule") === "3 messages, then one every 10 minutes; keeps 2 for normal priority");
  await click("#add-limit");
  await click(".chooser button[value=cascade]");
  await write("#extra_refill-2", "30s");
  await see(() => text(card("cascade").querySelector(".rule")) === "3 messages, then one every 4 seconds; at low priority 2 more, then one every 30 seconds");
  await save();
  assert.deepEqual([kept.policy.limits[0].reserve, kept.policy.limits[2]], [2, { name: "cascade", algorithm: "cascade", burst: 3, refill: "4s", extra_burst: 2, extra_refill: "30s" }]);
  assert.ok(find("details.rare").open);
});

test("limits: numbers from the Lab fill the draft", async () => {
  const kept = serveLimits();
  await openLimits(`?try=${encodeURIComponent("burst:burst=2,refill=6s,rate=9;slow:sliding-log,messages=5,every=30s")}`);
  await see(() => find("#burst-0")?.value === "2" && find("#refill-0").value === "6 seconds" && find("#messages-2").value === "5" && location.hash === "#/limits");
  assert.equal(text(".tried > div"), "Numbers from the Lab: filled in burst, added slow. Nothing changes until you save. Not filled in: burst: “rate” is not a number of a token bucket.");
  assert.equal(kept.policy.limits[0].burst, 3);
  await click("#dismiss-tried");
  await see(() => !find(".tried") && find("#burst-0").value === "2");
  await save();
  assert.deepEqual(kept.policy.limits.map(({ name }) => name), ["burst", "daily", "slow"]);
  await goTo(`limits?try=${encodeURIComponent("<img src=x>:token-bucket")}`);
  await see(() => text(".tried") === "Not filled in: “<img src=x>:token-bucket” doesn’t name a limit." && isIdle());
});

test("limits: a user with view access changes nothing", async () => {
  serveLimits(add(...everyAlgorithm, { name: "sliced", algorithm: "sliding-window", messages: 60, every: "1m", slices: 6 }));
  answer("GET /session", { ...usualAnswer("GET /session"), access: "view", all: "view" });
  answer("POST /session", { ...usualAnswer("GET /session"), access: "view", all: "view" });
  await openLimits(`?try=${encodeURIComponent("burst:burst=2")}`);
  await see(() => text(".tried").includes("Not filled in: Your access does not allow changing limits.") && find("#burst-0").value === "3");
  await click("#dismiss-tried");
  await see(() => !find(".tried") && text(".preview .verdict").startsWith("These limits") && text(".origin").includes("Enforced."));
  find(".history").open = true;
  await see(() => text(".history").includes("No changes yet. The limits are those of the configuration file."));
  const controls = all("main button, main select, main input").filter((one) => one.localName === "button" || !(one.readOnly || one.disabled));
  assert.deepEqual(controls.map(text), ["Copy", "Show details"]);
  assert.ok(find("#try-0") && find("nav a[href=lab]"));
  assert.match(text(card("unqueued")), /Observe only: reports messages over the limit, but throttles nobody\./);
  assert.match(text(card("evening")), /Throttled messages also count\./);
  assert.ok(card("sliced").querySelector("details.rare").open && !card("month").querySelector("details.rare"), "rare numbers are shown if they count");
});

test("limits: the link to the Lab has the limit in force and, if it differs, the draft", async () => {
  serveLimits();
  await openLimits();
  const lane = "burst:token-bucket,burst=3,refill=10m", traffic = "&traffic=recorded,channel=7,for=10m";
  assert.equal(find("#try-0").getAttribute("href"), `lab#lanes=${lane}${traffic}`);
  await write("#burst-0", "5");
  await see(() => find("#try-0").getAttribute("href") === `lab#lanes=${lane};burst:token-bucket,burst=5,refill=10m${traffic}`);
});

test("limits: users with custom limits are named", async () => {
  serveLimits();
  const hostile = `<img src=x onerror="document.title='broken'">`;
  answer("GET /channels/7/overrides", { users: [["51", "clara"], ["52", hostile]].map(([user_id, login]) => ({ user_id, login, override: { limits: { burst: { burst: 1200, refill: "1m" } } } })), more: false, by_limit: { burst: 2 } });
  await openLimits();
  await see(() => text(".overrides") === `Custom limits: clara 1,200, one every 1 minute, ${hostile} 1,200, one every 1 minute`);
  assert.ok(find(".overrides a[href='#/people?user=51']") && !find(".overrides img"));
  await click("#unfold-name-0");
  await pick("#per-0", "text");
  await see(() => !find(".overrides")); // users' numbers have no effect
});

test("limits: custom numbers that don't fit another kind of limit say so", async () => {
  serveLimits();
  answer("GET /channels/7/overrides", { users: [{ user_id: "51", login: "clara", override: { limits: { burst: { messages: 9 } } } }], more: false, by_limit: { burst: 1 } });
  await openLimits();
  await see(() => text(".overrides") === "Custom limits: clara (no longer fits)");
});

test("limits: of many users with custom limits, some are named", async () => {
  serveLimits();
  answer("GET /channels/7/overrides", { users: [{ user_id: "51", login: "clara", display_name: "Clara", override: { limits: { burst: { burst: 9 } } } }], more: true, by_limit: { burst: 731 } });
  await openLimits();
  await see(() => text(".overrides") === "Custom limits: Clara 9 and 730 more");
});

test("limits: none at all", async () => {
  serveLimits((policy) => Object.assign(policy, { limits: [], exempt: [], penalties: { ...policy.penalties, ladder: [] } }));
  await openLimits();
  await see(() => text(".rules .none") === "No limits: nobody is throttled.");
});

test("limits: why chatguard doesn't enforce yet", async () => {
  serveLimits();
  const { status, policy, ...frame } = usualAnswer("frame");
  const detail = "Not enforcing yet: the bot has no token. Run `chatguard login`.";
  answer("frame 7", { ...frame, status: { ...status, connections: [{ name: "Token", state: "missing", detail }] }, policy: { ...policy, etag: '"0"', in_force: "observe" } });
  await openLimits();
  await see(() => text(".effect") === "Messages over the limits are throttled. Not enforcing yet: the bot has no token. Run chatguard login.");
  assert.equal(text(".effect code"), "chatguard login");
});

// A room has 20 messages a day. Three days ago 5 of them were written, yesterday 2, and today 1.
const room = { name: "room", algorithm: "daily-window", per: "channel", messages: 20, reset_at: "00:00", timezone: "UTC" };
const server = { ...room, name: "server", per: "everywhere" };
const week = {
  limit: "room", capacity: 20, from: "2026-10-27T12:00:00Z", until: "2026-11-03T12:00:00Z",
  points: [["10-31T12:00", 18], ["10-31T13:00", 16], ["10-31T14:00", 15], ["11-01T00:00", 20], ["11-02T12:00", 19], ["11-02T13:00", 18], ["11-03T00:00", 20], ["11-03T12:00", 19]]
    .map(([at, remaining]) => ({ at: `2026-${at}:00Z`, remaining })),
};
const isDrawn = () => find(".chart").getAttribute("aria-label") === "Messages left for everyone in room" &&
  text(".chart figcaption").startsWith("room: 19 of 20 messages left now. Fewest in the last 7 days: 15 at ");

test("limits: the week of a limit that everyone shares", async () => {
  serveLimits(add(room, server));
  answer("GET /channels/7/week", week);
  await openLimits();
  assert.deepEqual(all("details.week").map((one) => text(one.closest(".limit").querySelector(".name"))), ["room", "server"]);
  assert.ok(!find(".chart") && !requests.some(({ path }) => path.endsWith("/week")), "before it is opened");
  find(".week").open = true;
  await see(isDrawn);
  assert.deepEqual(requests.find(({ path }) => path.endsWith("/week")).query, { limit: "room" });
  find(".chart details").open = true;
  await see(() => find(".chart tbody td"));
  assert.equal(texts(".chart tbody td").join(), "18,15,20,20,20,20,20,20,19,18,20,20,19");
  find(".week").open = false;
  await see(() => !find(".chart"));
  answer("GET /channels/7/week", refuse(503, "The week can't be read now: the database is failing."));
  find(".week").open = true;
  await see(() => isDrawn() && text(".week [role=alert]") === "The week can't be read now: the database is failing.");
});

test("card: the week of a limit that everyone shares", async () => {
  const card = usualAnswer("GET /channels/7/users/42");
  card.limits.push(...[room, server].map(({ name, per }) => ({ ...card.limits[1], name, per, capacity: 20, remaining: 19 })));
  answer("GET /channels/7/users/42", card);
  answer("GET /channels/7/users/42/week", { ...week, limit: "daily" });
  answer("GET /channels/7/week", week);
  await open("people?user=42");
  await see(() => find("#week ~ label option"));
  assert.deepEqual(texts("#week ~ label option"), ["burst", "daily", "room, shared by everyone", "server, shared by everyone, across all channels"]);
  await pick("#week ~ label select", "room");
  await see(isDrawn);
  card.limits.splice(0, 2);
  await open("people?user=42");
  await see(isDrawn);
});
