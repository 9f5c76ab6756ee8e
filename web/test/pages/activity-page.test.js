import assert from "node:assert/strict";
import test from "node:test";
import { advance, all, answer, button, click, find, goTo, open, refuse, requests, see, send, text, texts, usualAnswer } from "../../testing/page.js";

const noon = Date.parse("2026-11-03T12:00:00Z");

// rates are an hour whose first quarter is unknown. One message per step follows, with a peak of
// 155 messages, 10 of them throttled, at 11:40.
function rates({ observed = 4 } = {}) {
  const fill = (each) => Array.from({ length: 720 }, (_, i) => (i < 180 ? null : each(i)));
  const peak = (at, otherwise) => fill((i) => (i === 480 ? at : otherwise));
  return {
    from: new Date(noon - 3_600_000).toISOString(), step_seconds: 5, messages: peak(155, 1), throttled: peak(10, 0), observed: peak(observed, 0), low: fill(() => 0),
    peak: { at: "2026-11-03T11:40:00Z", messages: 166 },
  };
}

const unknown = { ...rates(), step_seconds: 60, messages: Array(1440).fill(null), throttled: Array(1440).fill(null), observed: Array(1440).fill(null), low: Array(1440).fill(null), peak: undefined };
const caption = () => text(".rates figcaption");
// press presses the button with a text, once it is there.
async function press(label) {
  await see(() => button(label));
  await click(button(label));
}

const wasAsked = (path) => requests.filter((request) => request.path === path).length;

test("chart: figures in words and in a table", async () => {
  answer("GET /rates", ({ query: { span } }) => (span === "day" ? unknown : rates({ observed: 0 })));
  await open();
  await press("Day");
  await see(() => caption() === "No data for the last day yet.");
  await press("Hour");
  await see(() => caption() === "Since 11:15: 694 messages, 10 throttled. Busiest minute: 166 messages at 11:40.");
  assert.equal(find(".chart [role=img]").getAttribute("aria-label"), `Messages and throttled messages. ${caption()}`);
  assert.equal(text(".spans [aria-pressed=true]"), "Hour");
  await click(".chart summary");
  await see(() => all(".chart thead th").length === 3);

  answer("GET /rates", rates());
  const before = wasAsked("/rates");
  await see(() => caption() === "Since 11:15: 694 messages, 6 throttled, 4 would have been throttled. Busiest minute: 166 messages at 11:40."); // by itself
  assert.equal(wasAsked("/rates"), before + 1);
  assert.deepEqual(texts(".chart thead th").slice(1), ["messages", "would be throttled", "throttled"]);
  const rows = texts(".chart tbody tr");
  assert.deepEqual([rows.length, rows[0], rows[5]], [9, "11:15:00 60 0 0", "11:40:00 214 4 6"]); // without the unknown quarter
});

test("chart: a late answer doesn't replace a newer one", async () => {
  await open();
  answer("GET /rates", unknown);
  await press("Day");
  await see(() => caption() === "No data for the last day yet.");
  let late;
  answer("GET /rates", () => new Promise((done) => (late = done)));
  await press("Hour");
  await see(() => late);
  answer("GET /rates", ({ query: { span } }) => (span === "day" ? unknown : rates()));
  await press("Day");
  await press("Hour");
  await see(() => caption().includes("694 messages"));
  late({ ...rates(), messages: rates().messages.map((count) => count && 0) });
  await advance(200);
  assert.match(caption(), /694 messages/);
});

test("chart: a refusal is shown below it", async () => {
  answer("GET /rates", refuse(503, "The database is failing."));
  await open();
  await see(() => text(".rates .error") === "The database is failing.");
});

test("chart: the stream, while the channel is live", async () => {
  const [channel] = usualAnswer("GET /channels").channels;
  const sendChannel = (changes) => send({ type: "status", channels: [{ ...channel, streams_known: true, ...changes }] });
  await open();
  assert.ok(!button("Stream"));
  sendChannel({});
  await see(() => button("Stream")?.disabled && button("Stream").title === "The channel isn't live");
  sendChannel({ live_since: "2026-11-03T11:00:00Z" });
  await press("Stream");
  await see(() => requests.some(({ path, query }) => path === "/rates" && query.span === "stream"));
  await press("This stream");
  await see(() => text(".top .muted") === "Nobody was throttled in this stream.");
  assert.equal(requests.findLast(({ path }) => path === "/channels/7/top").query.since, "stream");
});

const throttledUser = (id, changes) => ({ user_id: id, login: `user_${id}`, display_name: "", throttled: 0, observed: 0, timed_out: 0, banned: 0, ...changes });

test("top: who was throttled most, and how much was only observed", async () => {
  const usual = usualAnswer("GET /channels/7/top");
  const sum = (changes) => ({ ...usual, throttled: { ...usual.throttled, ...changes } });
  answer("GET /channels/7/top", sum({ users: 2, messages: 3, observed_messages: 2, top: [throttledUser("42", { throttled: 3, observed: 1, banned: 1 }), throttledUser("43", { observed: 1 })] }));
  await open();
  await see(() => text(".top .sum") === "5 messages throttled today (UTC), 2 of them only observed");
  assert.deepEqual(texts(".top li"), ["user_42was banned4 messages", "user_431 message"]);
  answer("GET /channels/7/top", sum({ observed_messages: 2 }));
  await see(() => text(".top .sum") === "2 messages would have been throttled today (UTC)");
  answer("GET /channels/7/top", refuse(503, "The database is failing."));
  await see(() => text(".top .error") === "The database is failing.");
});

test("summary: dismissed, and shown again", async () => {
  const usual = usualAnswer("GET /channels/7/summary");
  const top = [throttledUser("42", { display_name: "<img src=x>", throttled: 9 })];
  answer("GET /channels/7/summary", { ...usual, last: {
    ...usual.last, kind: "stream", from: "2026-11-02T20:00:00Z", until: "2026-11-02T23:10:00Z", throttled: { ...usual.last.throttled, users: 1, messages: 9, top },
    changes: [{ at: "2026-11-02T20:10:00Z", author: "link:berta", action: "policy" }], recorded: { messages: 1200, users: 30, in_force: { users: 1, messages: 4 } },
  } });
  await open();
  await see(() => text(".card.summary p") === "Last stream, Mon 2 Nov 20:00–23:10 (UTC): 1 person throttled. With the current limits, 1 would be throttled.");
  assert.equal(text(".card.summary .facts"), "Messages 1,200 by 30 users Throttled 9 messages Most throttled <img src=x> 9 Changes 1 change by berta (link)");
  await click(".summary .icon-only");
  await see(() => !find(".card.summary"));
  await click(".summary button");
  await see(() => find(".card.summary"));
});

test("nodes: a card of those that share limits", async () => {
  const noCounts = { swaps: 0, conflicts: 0, from_memory: 0, offline: 0, unreadable: 0, healed: 0, overdrawn: 0, exchanged: 0, assumed: 0, lost: 0, rows: 0, pending: 0 };
  const node = (name, changes) => ({ name, mode: "exact", number: 1, instance: name, self: false, offset_ns: 1e5, error_ns: 3e5, messages_per_second: 0, counts: noCounts, ...changes });
  const counts = { ...noCounts, swaps: 123_456, conflicts: 2100, from_memory: 98_765, offline: 16, unreadable: 1, healed: 3, pending: 2 };
  const nodes = {
    mode: "exact", up: true, server: "redis 7.0.15", round_trip_ns: 420_000, offset_ns: -1_500_000, skew_ns: 5_000_000, counts,
    nodes: [
      node("chat-1", { self: true, version: "0.1.0", address: "10.0.0.1:8080", started: "2026-11-03T11:50:00Z", offset_ns: -1_500_000, messages_per_second: 12.42, counts, overshoot: 0.014 }),
      node("chat-2"), node("chat-3", { mode: "synchronised", offset_ns: 91e9 }),
    ],
  };
  answer("GET /nodes", nodes);
  await open();
  send({ type: "status", status: { ...usualAnswer("frame").status, shared: { mode: "exact", up: true } } });
  await click('#states a[href*="nodes=1"]');
  await see(() => all(".nodes .line").length === 3 && document.activeElement.id === "nodes");
  assert.equal(text(".nodes p"), "3 nodes share one allowance over redis 7.0.15. A round trip takes 0.42 ms; the nodes’ clocks differ by at most 5 ms.");
  assert.deepEqual(texts(".nodes .line"), [
    "chat-1 this node 10.0.0.1:8080version 0.1.0up since 11:50clock 1.5 ms ahead ± 0.3 ms12.4/s messages98,765 from memory17 without store2 rows pending",
    "chat-2version –up since –clock 0.1 ms behind ± 0.3 ms0.0/s messages0 from memory0 without store0 rows pending",
    "chat-3 synchronisedversion –up since –clock 1 min 31 s behind ± 0.3 ms0.0/s messages0 from memory0 without store0 rows pending",
  ]);
  assert.equal(texts(".nodes p").at(-1), "This node has compared and updated rows in the shared store 123,456 times since its start. 2,100 updates failed because another node was faster. 3 rows were restored after the store had lost them. "
    + "1 message was decided without the store, because a row can’t be read. 1.4% of the messages that this node allowed in the last hour exceeded a limit.");
  answer("GET /nodes", { ...nodes, up: false, nodes: nodes.nodes.slice(0, 1) });
  await see(() => text(".nodes p") === "Only this node is listed: the shared store is away." && all(".nodes .line").length === 1);
  answer("GET /nodes", refuse(503, "The store is away."));
  await see(() => text(".nodes .error") === "The store is away. Showing earlier data.");
  await click(".nodes .icon-only");
  await see(() => !find(".nodes") && document.activeElement.id === "main");
  answer("GET /nodes", { mode: "off", nodes: [] });
  await goTo("now?nodes=1");
  await see(() => text(".nodes").endsWith("This chatguard works alone: its limits count only the messages that it sees itself. To share limits with other nodes, set [shared] in the configuration file."));
});
