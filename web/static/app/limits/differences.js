// @ts-check
// The differences between two policies, by dotted key as in the configuration (limit.burst.refill).
// Revisions describe their changes in the same form.

/** @typedef {Record<string, any>} Leaves values by their dotted key */

// differences returns [{key, from, to}]; null stands for a missing value.
/** @param {Api.Policy} from @param {Api.Policy} to */
export function differences(from, to) {
  const before = leavesOf(from), after = leavesOf(to);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .map((key) => ({ key, from: before[key] ?? null, to: after[key] ?? null }))
    .filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
}

// merge returns a policy with changes applied. Limits keep their order; new ones come last.
/** @param {Api.Policy} policy @param {Api.Change[]} changes */
export function merge(policy, changes) {
  const leaves = leavesOf(policy);
  for (const { key, to } of changes) {
    if (to === null) delete leaves[key];
    else leaves[key] = to;
  }
  const { limit = {}, ...merged } = treeOf(leaves);
  const names = [...new Set([...policy.limits.map(({ name }) => name), ...Object.keys(limit)])];
  /** @type {(name: string) => boolean} */
  const isWhole = (name) => limit[name]?.algorithm; // a changed number doesn't bring a removed limit back
  return /** @type {Api.Policy} */ ({ ...merged, limits: names.filter(isWhole).map((name) => ({ name, ...limit[name] })) });
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
