// Signing in and out.

import { request } from "./api.js";
import { state, update } from "./state.js";

// signIn posts {code} or {token}; what it returns says whether it worked.
export async function signIn(secret) {
  update((s) => (s.signIn = { busy: true, error: "" }));
  try {
    await request("POST", "/session", { body: secret });
    update((s) => (s.signIn = { busy: false, error: "" }));
    return true;
  } catch (problem) {
    update((s) => {
      s.signIn = { busy: false, error: problem.message };
      s.session = "out";
    });
    return false;
  }
}

export async function signOut() {
  update((s) => (s.problem = ""));
  try {
    await request("DELETE", "/session");
    signedOut("");
  } catch (problem) {
    if (!ifSignedOut(problem)) update((s) => (s.problem = `You are still signed in. ${problem.message}`));
  }
}

// revoked is for whoever was signed in, and hasn't signed out here.
const revoked = "You were signed out: the link or token that you came with was revoked, or has expired.";

// shutOut is signedOut for whoever didn't ask for it.
export function shutOut() {
  signedOut(revoked);
}

// signedOut shows the sign-in page, says there why, and forgets what only somebody signed in may see.
function signedOut(why, mounted = false) {
  update((s) => {
    if (s.session === "in") s.focus = "token";
    s.session = "out";
    s.signIn = { busy: false, error: "", why, mounted };
    s.me = { name: "", access: "" };
    s.problem = "";
    s.users = new Map();
    s.status = s.policy = s.form = s.preview = s.history = s.overrides = null;
    s.turned = s.drafts = {};
    s.people = s.journal = s.audit = s.entry = null;
    s.pardons = {};
  });
}

// ifSignedOut shows the sign-in page where that is what the problem means, and returns whether it was.
export function ifSignedOut(problem) {
  if (problem.status !== 401) return false;
  if (problem.mounted) signedOut(problem.message, true);
  else if (state.session === "in") shutOut();
  else if (state.session === "unknown") signedOut("");
  return true;
}
