// What differs between two policies, key by key, dotted as in the configuration (limit.burst.refill), as chatguard itself tells it in a revision.

// differences returns [{key, from, to}]; null stands for what isn't there.
export function differences(from, to) {
  const before = leavesOf(from), after = leavesOf(to);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .map((key) => ({ key, from: before[key] ?? null, to: after[key] ?? null }))
    .filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
}

// merge returns a policy with the changes made to it. Limits keep their order; new ones come last.
export function merge(policy, changes) {
  const leaves = leavesOf(policy);
  for (const { key, to } of changes) {
    if (to === null) delete leaves[key];
    else leaves[key] = to;
  }
  const { limit = {}, ...merged } = treeOf(leaves);
  const names = [...new Set([...policy.limits.map(({ name }) => name), ...Object.keys(limit)])];
  const isWhole = (name) => limit[name]?.algorithm; // a limit that the other side has removed is no limit for having a number changed
  return { ...merged, limits: names.filter(isWhole).map((name) => ({ name, ...limit[name] })) };
}

function leavesOf({ limits, ...policy }) {
  const limit = Object.fromEntries(limits.map(({ name, ...rest }) => [name, rest]));
  const leaves = Object.create(null);
  collect({ ...policy, limit }, "", leaves);
  return leaves;
}

function collect(tree, prefix, leaves) {
  for (const [key, value] of Object.entries(tree)) {
    const isBranch = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
    if (isBranch) collect(value, `${prefix}${key}.`, leaves);
    else leaves[prefix + key] = value;
  }
}

function treeOf(leaves) {
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
