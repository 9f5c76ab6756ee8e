// @ts-check
// Parts of all pages and of the Lab: the head of a page, notes, charts and dialogs. And what the
// page says if chatguard doesn't answer, or has ended the session.

export default {
  // Requests to chatguard, and the session
  "no-answer": "chatguardが応答しません。動作しているか確認してください。",
  "failed-answer": "chatguardがステータス{status}を返しました。もう一度試してください。",
  "still-in": "まだログインしたままです。",
  "signed-out": "ログアウトしました: リンクまたはトークンが取り消されたか、期限切れです。もう一度ログインしてください。",

  // The head of a page, and dialogs
  "times-in": "時刻は{zone}",
  close: "閉じる",

  // Before a user's name, for screen readers
  "role-before": "{role}: ",

  // A button that copies a text
  copy: "コピー",
  copied: "コピー済み",
  "copy-refused": "選択してコピーしてください",

  // Charts and their tables; {step} is such as "every 5 minutes"
  "chart-label": "{label}。{summary}",
  "show-table": "表で表示",
  "table-label": "表: {label}",
  "table-caption": "{label}、{step}",
  "table-from": "開始",
  unknown: "不明",

  // The note about the database; {lead} is emphasised
  "database-failing-lead": "データベースに障害が起きています",
  "database-failing": "{lead}。モデレーションはメモリ上で続きます。",
  "database-failing-detail": "{lead}: {detail}。モデレーションはメモリ上で続きます。",
  "database-limits": "変更した制限は有効ですが、保存されていません: 今再起動すると元に戻ります。",
  "database-off-lead": "何も保存されません",
  "database-off": "{lead}: chatguardはデータベースなしで動作しています。再起動すると全員の使用量がリセットされます。",
  "database-since": "障害は{time}続いています。",
  "database-queued": { other: "{n}件の記録が保留中です。" },
  "database-dropped": { other: "保留が多すぎるため{n}件を破棄しました。" },
  "database-lag": "今クラッシュすると直近{time}の記録が失われます。",

  // The note about the store that nodes share; {lead} is emphasised
  "shared-away-lead": "共有ストアが応答しません",
  "shared-away": "{lead}。各ノードが単独で判定します。通過したメッセージは復旧後に数えられます。",
  "shared-away-since": "{time}から{lead}。各ノードが単独で判定します。通過したメッセージは復旧後に数えられます。",
  "shared-refusing-lead": "共有ストアが変更を拒否しています",
  "shared-refusing": "{lead}。各ノードが単独で判定します。通過したメッセージは、ストアが再び変更を受け付けてから数えられます。",
};
