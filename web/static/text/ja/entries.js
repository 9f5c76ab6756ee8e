// @ts-check
// Entries of the journal: throttled messages, and how to pardon them.

export default {
  // The button in a row, and what it did
  pardon: "恩赦",
  "pardon-of": "{who}のこのメッセージを恩赦",
  undo: "元に戻す",
  "undo-of": "{who}のこのメッセージの恩赦を取り消す",
  pardoned: "恩赦済み",
  "pardoned-by": "{by}、{time}",
  unsaved: "未保存",

  // The dialog with all details of an entry
  title: "{who}のメッセージ",
  "no-text": "本文は保存されていません。",
  sent: "送信",
  user: "ユーザー",
  id: "ID {id}",
  "login-id": "{login}、ID {id}",
  limit: "制限",
  "limit-cost": { other: "{limit}、コスト{n}" },
  "may-write": "次の投稿",
  never: "不可: コストが制限を超えています",
  strikes: "違反",
  penalty: "ペナルティ",
  action: "処置",
};
