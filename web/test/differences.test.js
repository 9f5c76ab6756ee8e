import assert from "node:assert/strict";
import test from "node:test";
import { differences, merge } from "../static/app/limits/differences.js";

const policy = (news = {}) => ({
  mode: "enforce", timezone: "", exempt: ["moderator"],
  limits: [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "10m0s", roles: { vip: { burst: 5 } } }, { name: "daily", algorithm: "daily-window", messages: 300 }],
  penalties: { ladder: ["delete"], strike_every: "10s", forget_after: "30m0s" },
  ...news,
});

// limits returns the policy's limits with changes to the first.
const limits = (news) => [{ ...policy().limits[0], ...news }, policy().limits[1]];

test("differences: none between equals", () => {
  assert.deepEqual(differences(policy(), policy()), []);
});

test("differences: keys are dotted, and lists are compared as wholes", () => {
  const to = policy({ exempt: [], limits: limits({ burst: 5, roles: undefined }) });
  delete to.limits[0].roles;
  assert.deepEqual(differences(policy(), to), [
    { key: "exempt", from: ["moderator"], to: [] },
    { key: "limit.burst.burst", from: 3, to: 5 },
    { key: "limit.burst.roles.vip.burst", from: 5, to: null },
  ]);
});

test("differences: an empty object counts as a value", () => {
  const to = policy({ limits: limits({ roles: { vip: { burst: 5 }, subscriber: {} } }) });
  assert.deepEqual(differences(policy(), to), [{ key: "limit.burst.roles.subscriber", from: null, to: {} }]);
});

test("merge: makes changes, and keeps the order of limits", () => {
  const mine = differences(policy(), policy({ limits: limits({ burst: 5 }) }));
  const theirs = policy({ mode: "observe", limits: [...policy().limits, { name: "new", algorithm: "sliding-log", messages: 5, every: "30s" }] });
  assert.deepEqual(merge(theirs, mine), { ...theirs, limits: [{ ...theirs.limits[0], burst: 5 }, ...theirs.limits.slice(1)] });
});

test("merge: a change of a limit that is gone brings nothing back", () => {
  const mine = differences(policy(), policy({ limits: limits({ burst: 5 }) }));
  const theirs = policy({ limits: [policy().limits[1]] });
  assert.deepEqual(merge(theirs, mine), theirs);
});

test("merge: a hostile name stays a name", () => {
  const from = policy(), to = policy({ limits: [...policy().limits, { name: "__proto__", algorithm: "sliding-log", messages: 5, every: "30s" }] });
  assert.deepEqual(differences(from, to).map(({ key }) => key).filter((key) => key.includes("algorithm")), ["limit.__proto__.algorithm"]);
});

// named returns a policy whose limits have these names, in this order. The limit "all" counts in
// all channels.
const named = (list) => policy({ limits: list.split(" ").filter(Boolean).map((name) => ({ name, algorithm: "daily-window", messages: 300, ...(name === "all" && { per: "user-everywhere" }) })) });
const namesOf = ({ limits }) => limits.map(({ name }) => name).join(" ");

// The same cases as in internal/control.
test("differences: an order is a change only if the other changes don't lead to it", () => {
  const cases = [["a b c", "a b c", ""], ["a b c", "c a b", "a b c → c a b"], ["a b c", "a c", ""], ["a b", "a b c d", ""], ["a b", "a b d c", "a b → a b d c"],
    ["a", "a b b-b", ""], ["a b", "c b", "a b → c b"], ["a all b", "b all a", "a b → b a"], ["a all b", "all a b", ""]];
  for (const [from, to, want] of cases) {
    const changes = differences(named(from), named(to));
    const order = changes.find(({ key }) => key === "order");
    assert.equal(order ? `${order.from.join(" ")} → ${order.to.join(" ")}` : "", want, `${from} to ${to}`);
    if (!to.startsWith("all")) assert.deepEqual(merge(named(from), changes), named(to));
  }
});

test("merge: the order of one side among the limits of the other", () => {
  const mine = differences(named("a b c"), named("c b a"));
  for (const [theirs, want] of [["a new b c", "c new b a"], ["b a", "b a"], ["a all c", "c all a"], ["", ""]]) assert.equal(namesOf(merge(named(theirs), mine)), want);
});
