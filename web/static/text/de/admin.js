// @ts-check
// The page Admin: tokens, sessions and roles.

export default {
  "owners-only": "Diese Seite ist nur für die Leitung des Kanals.",
};
