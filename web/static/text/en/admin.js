// @ts-check
// The page Admin: tokens, sessions and roles.

export default {
  "owners-only": "This page needs own access to the channel.",
};
