// The page of cluster: it sends messages to the load balancer, and shows which node answers what.

const $ = (id) => document.getElementById(id);

const every = 500; // ms between two looks at the nodes
const mostShown = 100; // messages

const meanings = {
  off: "Each node has limits of its own. With n nodes, a user gets n times the allowance.",
  exact: "A node asks Redis before it allows a message. All nodes together allow exactly what one alone would. Most refusals come from memory.",
  synchronised: "A node decides in memory, and compares with Redis every 500 ms. A burst over all nodes can pass; then the user waits for longer.",
};

const rows = [
  ["allowed", "Allowed"],
  ["throttled", "Throttled"],
  ["swaps", "Swaps in Redis"],
  ["conflicts", "Conflicts"],
  ["from_memory", "Decided from memory"],
  ["overdrawn", "Overdrawn, paid back"],
  ["offline", "Without Redis"],
];

let user;
let count = 0;
let allowed = 0;
let busy = false; // a change is in progress

// newUser begins with a full allowance.
function newUser() {
  user = "user-" + (1000 + Math.floor(Math.random() * 9000));
  count = allowed = 0;
  $("user").textContent = user;
  $("sent").replaceChildren();
  sum();
}

function sum() {
  $("sum").textContent = count ? `${count} sent: ${allowed} allowed, ${count - allowed} throttled.` : "Nothing sent yet. Send 9, and count.";
}

// ask sends a request and returns the answer's JSON. It shows a problem, and then returns nothing.
async function ask(method, path, body, accepted = []) {
  try {
    const response = await fetch(path, { method, body });
    if (!response.ok && !accepted.includes(response.status)) throw new Error((await response.text()) || `The answer is ${response.status}. Try again.`);
    $("problem").textContent = "";
    return await response.json();
  } catch (error) {
    $("problem").textContent = error.message;
  }
}

async function send(text) {
  const number = ++count;
  const to = user;
  const answer = await ask("POST", "messages", new URLSearchParams({ user, text }), [429]);
  if (to !== user) return;
  if (!answer) {
    count--;
    return;
  }
  const { node, verdict } = answer;
  if (verdict.allowed) allowed++;
  const item = document.createElement("li");
  const result = verdict.allowed ? "allowed" : "throttled";
  const wait = verdict.allowed ? "" : `, wait ${(verdict.retry_after_ms / 1000).toFixed(1)} s`;
  const degraded = verdict.degraded ? ", without Redis" : "";
  for (const [kind, value] of [["number", number], ["node", node], ["text", text], [result, result + wait + degraded]]) {
    const part = document.createElement("span");
    part.className = kind;
    part.textContent = value;
    item.append(part);
  }
  $("sent").prepend(item);
  if ($("sent").children.length > mostShown) $("sent").lastChild.remove();
  sum();
}

function show({ share, nodes }) {
  $("share").elements.share.value = share;
  $("meaning").textContent = meanings[share];
  nodes.forEach((node, i) => {
    const card = $("nodes").children[i] ?? addNode(i);
    card.className = node.up ? "" : "stopped";
    card.querySelector("h2").textContent = node.name;
    card.querySelector(".status").textContent = node.up ? "running" : "stopped";
    const button = card.querySelector("button");
    button.textContent = node.up ? "Stop" : "Start";
    button.ariaLabel = `${button.textContent} ${node.name}`;
    for (const [key] of rows) card.querySelector(`dd.${key}`).textContent = node[key].toLocaleString();
    card.querySelector(".problem").textContent = node.problem ?? "";
  });
}

function addNode(i) {
  const card = $("node").content.firstElementChild.cloneNode(true);
  for (const [key, name] of rows) {
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = name;
    value.className = key;
    card.querySelector("dl").append(term, value);
  }
  const button = card.querySelector("button");
  button.onclick = () => change(`nodes/${i + 1}/${button.textContent.toLowerCase()}`);
  $("nodes").append(card);
  return card;
}

async function change(path) {
  busy = true;
  const controls = document.querySelectorAll("button, fieldset");
  for (const control of controls) control.disabled = true;
  const state = await ask("PUT", path);
  for (const control of controls) control.disabled = false;
  busy = false;
  if (state) show(state);
}

async function look() {
  if (!document.hidden && !busy) {
    const response = await fetch("state").catch(() => null);
    if (response?.ok && !busy) show(await response.json());
  }
  setTimeout(look, every);
}

$("share").onchange = async ({ target }) => {
  await change("share/" + target.value);
  newUser();
};
$("another").onclick = newUser;
$("write").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (text) send(text);
  $("text").value = "";
};
$("nine").onclick = async () => {
  for (let i = 1; i <= 9; i++) await send(`message ${i}`);
};

newUser();
look();
