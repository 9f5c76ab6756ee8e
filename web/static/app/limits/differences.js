// @ts-check
// The differences between two policies, by dotted key as in the configuration (limit.burst.refill).
// Revisions describe their changes in the same form.

import { inOrder, orderChange, orderKey } from "../words/order.js";
import { isAcrossChannels } from "../words/scopes.js";

/** @typedef {Record<string, any>} Leaves values by their dotted key */

// differences returns [{key, from, to}]; null stands for a missing value.
/** @param {Api.Policy} from @param {Api.Policy} to */
export function differences(from, to) {
  const before = leavesOf(from), after = leavesOf(to);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const values = keys
    .map((key) => ({ key, from: before[key] ?? null, to: after[key] ?? null }))
    .filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
  return [...values, ...orderChange(ownNames(from), ownNames(to))].sort((a, b) => (a.key < b.key ? -1 : 1));
}

// ownNames returns the names of the limits that a channel can change, in order.
/** @param {Api.Policy} of */
const ownNames = ({ limits }) => limits.filter((limit) => !isAcrossChannels(limit)).map(({ name }) => name);

// merge returns a policy with changes applied. Limits keep their order unless a change states
// another one, and new limits come last, by name.
/** @param {Api.Policy} policy @param {Api.Change[]} changes */
export function merge(policy, changes) {
  const leaves = leavesOf(policy);
  /** @type {string[]} */
  let order = [];
  for (const { key, to } of changes) {
    if (key === orderKey) order = /** @type {string[]} */ (to);
    else if (to === null) delete leaves[key];
    else leaves[key] = to;
  }
  const { limit = {}, ...merged } = treeOf(leaves);
  const names = [...new Set([...policy.limits.map(({ name }) => name), ...Object.keys(limit).sort()])];
  /** @type {(name: string) => boolean} */
  const isWhole = (name) => limit[name]?.algorithm; // a changed number doesn't bring a removed limit back
  return /** @type {Api.Policy} */ ({ ...merged, limits: inOrder(names.filter(isWhole), order).map((name) => ({ name, ...limit[name] })) });
}

/** @param {Api.Policy} of */
function leavesOf({ limits, ...policy }) {
  const limit = Object.fromEntries(limits.map(({ name, ...rest }) => [name, rest]));
  const leaves = Object.create(null);
  collect({ ...policy, limit }, "", leaves);
  return leaves;
}

/** @param {object} tree @param {string} prefix @param {Leaves} leaves */
function collect(tree, prefix, leaves) {
  for (const [key, value] of Object.entries(tree)) {
    const isBranch = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
    if (isBranch) collect(value, `${prefix}${key}.`, leaves);
    else leaves[prefix + key] = value;
  }
}

/** @param {Leaves} leaves */
function treeOf(leaves) {
  /** @type {Record<string, any>} */
  const tree = {};
  for (const [key, value] of Object.entries(leaves)) {
    const path = key.split(".");
    const last = path.pop();
    let branch = tree;
    for (const step of path) branch = branch[step] = branch[step] ?? {};
    branch[last] = value;
  }
  return tree;
}
