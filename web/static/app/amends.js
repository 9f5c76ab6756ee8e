// Changes of single users, as chatguard is asked for them. Each returns {saved}, and until where there is an end. Those of what a user has of their own
// return former, which they had before, and override_etag, the ETag of what they have now.

import { request } from "./api.js";
import { state } from "./state.js";

// userAddress is where the API has a user of the channel shown.
export const userAddress = (user) => `/channels/${encodeURIComponent(state.channel)}/users/${encodeURIComponent(user)}`;

async function ask(method, path, body, ifMatch) {
  return (await request(method, path, { body, ifMatch })).body;
}

// grant gives extra messages; an empty limit is the first that counts by days.
export const grant = (user, limit, messages) => ask("POST", userAddress(user) + "/grant", limit ? { limit, messages } : { messages });

// reset makes a user like one never seen.
export const reset = (user) => ask("POST", userAddress(user) + "/reset");

// exempt lets a user write without limits; an empty length means until somebody changes it.
export const exempt = (user, length) => ask("POST", userAddress(user) + "/exempt", length ? { for: length } : {});

// override gives a user numbers, a zone or an exemption of their own in place of those that have the ETag; an empty one takes them away.
export const override = (user, own, etag) =>
  Object.keys(own).length > 0 ? ask("PUT", userAddress(user) + "/override", own, etag) : ask("DELETE", userAddress(user) + "/override", undefined, etag);

// pardonUser forgives all that the user's row stands for; see pardonedUser in the API. unpardonUser undoes that.
export const pardonUser = (user) => ask("POST", userAddress(user) + "/pardon");
export const unpardonUser = (user, id) => ask("DELETE", `${userAddress(user)}/pardon/${id}`);

// pardon forgives a single throttled message.
export const pardon = (entry) => ask("POST", `/journal/${entry}/pardon`);
