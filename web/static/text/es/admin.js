// @ts-check
// The page Admin: tokens, sessions and roles.

export default {
  "owners-only": "Esta página requiere acceso de propietario al canal.",
};
