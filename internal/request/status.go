package request

// State is the overall state of a chatguard, such as OK.
type State string

// The states of a chatguard. The first three are those of GET /readyz.
const (
	OK          State = "ok"
	Degraded    State = "degraded"    // works, but something needs attention
	Unavailable State = "unavailable" // messages don't arrive, can't be acted on, or aren't saved
	NoAnswer    State = "no_answer"   // a process runs, but hasn't told its state
	NotRunning  State = "not_running"
)

// Status is the state of a chatguard, as `chatguard status --json` prints it. Its keys are part of
// the command's documented form. New keys may be added, but none is renamed or removed.
type Status struct {
	State State `json:"state"`
	// Problems are for people, one line each. The list is empty if State is OK, but never nil.
	Problems []string `json:"problems"`
	// Figures are nil if only the State is known.
	*Figures
}

// Figures are what a chatguard knows about itself.
type Figures struct {
	PID           int     `json:"pid"`
	Version       string  `json:"version"`
	UptimeSeconds float64 `json:"uptime_seconds"`
	MemoryBytes   int64   `json:"memory_bytes"`       // resident
	MemoryLimit   int64   `json:"memory_limit_bytes"` // what memory in the configuration allows
	Address       string  `json:"address"`            // of the dashboard, for people

	Channels    []Channel    `json:"channels"`
	Connections []Connection `json:"connections"`
	// TokenState is "valid", "missing", "refused", "unchecked", or "unneeded" if nothing needs one.
	TokenState string `json:"token_state"`

	ThrottledUsers     int     `json:"throttled_users"` // now
	MessagesPerSecond  float64 `json:"messages_per_second"`
	MessagesLastMinute uint64  `json:"messages_last_minute"`

	PendingActs     int     `json:"pending_acts"` // the bot's, pending or in progress
	WaitingWebhooks int     `json:"webhook_deliveries_waiting"`
	WaitingRecords  int     `json:"database_records_waiting"`
	DatabaseState   string  `json:"database_state"` // "ok", "failing" or "off"
	DatabaseLag     float64 `json:"database_lag_seconds"`
	DatabaseBytes   int64   `json:"database_bytes"`
}

// Channel is a served channel.
type Channel struct {
	ID    string `json:"id"` // empty until it is known
	Login string `json:"login"`
	// Mode is "enforce" or "observe": what the policy in force says. The bot may still be unable to
	// act; Connections then has a line about the channel.
	Mode string `json:"mode"`
	// Read is whether the channel's messages arrive. For a room of a server it is true.
	Read bool `json:"read"`
}

// Connection is a link between chatguard and a chat, or a channel with a state of its own.
type Connection struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // for people; may be empty
}
