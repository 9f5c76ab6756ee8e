// The page of wschat. If the server drops or delays a message of the user, it sends chatguard's
// verdict, and the page shows a countdown. Messages of low priority are folded.

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const room = query.get("room") || "main";

const mostShown = 500; // messages
const mostText = 2048; // bytes of a message: the server accepts no more
const mostName = 32;
// After this many ms the user may try again, even if the wait is longer: a moderator may have
// changed the limits.
const patience = 60_000;

let name = query.get("name")?.trim() || sessionStorage.getItem("name");
let socket;
let attempts = 0;
let countdown; // the timer of the countdown's next second; null if no countdown runs
let unanswered = []; // sent messages without an answer so far
let waiting = []; // messages that the server holds until their turn: {text, at}
let turn; // the timer that updates the text about waiting messages

// Lines

function show({ from, text, priority }) {
  $("said").querySelector(".empty")?.remove();
  const atEnd = $("said").scrollHeight - $("said").scrollTop - $("said").clientHeight < 40;
  if (priority === "low") foldLine(from, text);
  else $("said").append(lineOf(from, text));
  dropOldest();
  if (atEnd) $("said").lastChild.scrollIntoView({ block: "end" });
  if (from !== name) return;
  answered(text);
  waiting = waiting.filter((w) => w.text !== text);
  tellTurns();
}

function lineOf(from, text) {
  const line = document.createElement("p");
  const who = document.createElement("b");
  who.textContent = from;
  line.className = from === name ? "mine" : "";
  line.append(who, text);
  return line;
}

// foldLine adds a message of low priority to the fold at the end, or to a new one if that isn't
// its author's.
function foldLine(from, text) {
  let fold = $("said").lastChild;
  if (fold?.dataset.from !== from) $("said").append(fold = newFold(from));
  const line = document.createElement("p");
  line.textContent = text;
  fold.append(line);
  count(fold);
}

// newFold returns an empty fold. It is open for the author, whose own text shouldn't disappear.
function newFold(from) {
  const fold = document.createElement("details");
  const summary = document.createElement("summary");
  const who = document.createElement("bdi"); // a name from right to left leaves the number alone
  const mine = from === name;
  who.textContent = mine ? "you" : from;
  summary.append("", " more from ", who, mine ? ", folded for others" : "");
  summary.onclick = () => requestAnimationFrame(() => fold.scrollIntoView({ block: "nearest" }));
  fold.dataset.from = from;
  fold.open = mine;
  fold.append(summary);
  return fold;
}

function count(fold) {
  fold.firstChild.firstChild.data = fold.children.length - 1;
}

// dropOldest removes the oldest message if there are too many, and its fold if that is then empty.
function dropOldest() {
  const lines = $("said").getElementsByTagName("p");
  if (lines.length <= mostShown) return;
  const fold = lines[0].closest("details");
  lines[0].remove();
  if (fold?.children.length === 1) fold.remove();
  else if (fold) count(fold);
}

function answered(text) {
  const at = unanswered.indexOf(text);
  if (at >= 0) unanswered.splice(at, 1);
}

// The countdown

function words(ms) {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 60) return `in ${seconds} s`;
  if (seconds < 3600) return `in ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const at = new Date(Math.ceil((Date.now() + ms) / 60_000) * 60_000);
  const day = ms < 6 * 86_400_000 ? { weekday: "long" } : { day: "numeric", month: "long" };
  return "from " + at.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}

function say(text, aloud = text) {
  $("wait").textContent = text;
  if (aloud) $("aloud").textContent = aloud; // once, not every second
}

// hold counts down from the verdict's arrival, because the server's clock may differ from this
// machine's.
function hold({ never, retry_after_ms: wait, limit }) {
  release();
  if (never) return say(`This message is more than the limit “${limit}” ever allows.`);
  const until = performance.now() + wait;
  const blocked = Math.min(wait, patience);
  const why = wait < 60_000 ? "Too fast" : "Used up";
  document.body.classList.add("throttled");
  $("send").setAttribute("aria-disabled", "true");
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
    $("bar").firstElementChild.animate([{ transform: "scaleX(1)" }, { transform: "scaleX(0)" }], wait);
  }
  const tick = () => {
    const left = until - performance.now();
    if (wait - left >= blocked) $("send").removeAttribute("aria-disabled");
    if (left <= 0) return release("You may write again.");
    say(`${why}: next message ${words(left)}.`, null);
    countdown = setTimeout(tick, Math.min(left % 1000 || 1000, left));
  };
  tick();
  $("aloud").textContent = `${why}: next message ${words(wait)}.`;
}

function release(text = "") {
  clearTimeout(countdown);
  countdown = null;
  document.body.classList.remove("throttled");
  $("send").removeAttribute("aria-disabled");
  for (const animation of $("bar").firstElementChild.getAnimations()) animation.cancel();
  say("", text);
  tellTurns();
}

// tellTurns shows when the server will deliver the last of the waiting messages.
function tellTurns(aloud = null) {
  clearTimeout(turn);
  if (countdown) return;
  const left = Math.max(0, ...waiting.map((w) => w.at)) - performance.now();
  if (left <= 0) return say("");
  say(waiting.length > 1 ? `${waiting.length} messages go out, the last ${words(left)}.` : `Your message goes out ${words(left)}.`, aloud);
  turn = setTimeout(tellTurns, Math.min(left % 1000 || 1000, left));
}

// The connection

function connect() {
  const url = new URL("chat", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone; // your day ends at midnight there
  url.search = new URLSearchParams({ name, room, timezone });
  socket = new WebSocket(url);
  socket.onopen = () => {
    attempts = 0;
    release();
  };
  socket.onmessage = ({ data }) => {
    const { from, text, priority, verdict } = JSON.parse(data);
    if (!verdict) return show({ from, text, priority });
    answered(text);
    if (!verdict.allowed) {
      putBack([text]);
      return hold(verdict);
    }
    waiting.push({ text, at: performance.now() + verdict.delay_ms });
    tellTurns(`Your message goes out ${words(verdict.delay_ms)}.`);
  };
  socket.onclose = () => {
    putBack([...waiting.map((w) => w.text), ...unanswered]);
    waiting = [];
    unanswered = [];
    release();
    say("Not connected. Trying again.");
    setTimeout(connect, Math.min(1000 * 2 ** attempts++, 30_000) * (0.5 + Math.random()));
  };
}

// putBack puts texts that weren't sent back into the input field.
function putBack(texts) {
  $("text").value = [...texts, $("text").value].filter(Boolean).join(" ");
}

$("write").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (!text || socket.readyState !== WebSocket.OPEN || $("send").ariaDisabled === "true") return;
  if (new TextEncoder().encode(text).length > mostText) return say("This is too long for one message: send it in parts.");
  release();
  socket.send(text);
  unanswered.push(text);
  $("text").value = "";
};

function enter() {
  $("enter").hidden = true;
  $("chat").hidden = false;
  $("where").textContent = `${name} in ${room}`;
  const empty = document.createElement("p");
  empty.className = "empty";
  empty.textContent = "Nobody has written anything since you came.";
  $("said").append(empty);
  $("text").focus();
  connect();
}

$("enter").onsubmit = (event) => {
  event.preventDefault();
  name = $("name").value.trim();
  if (!name) return;
  sessionStorage.setItem("name", name);
  enter();
};

if (name && name.length <= mostName) enter();
else {
  $("enter").hidden = false;
  $("name").focus();
}
