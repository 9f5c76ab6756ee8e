// @ts-check
// The page Admin: tokens, sessions and roles.

export default {
  "owners-only": "このページにはチャンネルのオーナー権限が必要です。",
};
