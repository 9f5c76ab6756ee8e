// @ts-check
// The pages Journal and Audit.

export default {
  // Both pages: filters, the export, and older records
  user: "ユーザー（名前・ID）",
  all: "すべて",
  export: "CSVで書き出す",
  time: "時刻",
  "load-older": "以前の記録を読み込む",
  "no-older": "これより古い記録はありません。",

  // The journal: filters and outcomes
  "filter-journal": "抑制ログを絞り込む",
  result: "結果",
  "result-done": "完了",
  "result-failed": "失敗",
  "result-unknown": "不明",
  "result-skipped": "省略",
  "result-observed": "監視のみ",
  "result-pending": "保留中",
  "only-failures": "失敗のみ",
  "one-message": "1件のメッセージを表示しています。",
  "all-messages": "すべてのメッセージを表示",

  // The journal: its entries
  messages: "抑制されたメッセージ（新しい順）",
  "show-new": { other: "新着{n}件を表示" },
  "show-more-new": { other: "{n}件を超える新着を表示" },
  "no-messages": "抑制されたメッセージはまだありません。ここに1件ずつ、行った処置とともに表示されます。",
  "no-message-matches": "このフィルターに一致する抑制されたメッセージはありません。",

  // The audit. of-channel and of-all stand in the column of users.
  "filter-audit": "監査を絞り込む",
  author: "実行者",
  details: "詳細",
  changes: "変更（新しい順）",
  "of-channel": "チャンネル",
  "of-all": "全チャンネル",
  "no-changes": "変更はまだありません。恩赦、制限の変更、メモがここに実行者とともに表示されます。",
  "no-change-matches": "このフィルターに一致する変更はありません。",
};
