// @ts-check
// The page Admin: tokens, sessions and roles.

export default {
  "owners-only": "Esta página requer acesso de dono ao canal.",
};
