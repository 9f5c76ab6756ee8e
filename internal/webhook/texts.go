package webhook

// catalogue holds the sentences about events in a language. A placeholder in braces stands for a
// value. Every sentence works with any number.
type catalogue map[string]string

// english is the only language so far.
var english = catalogue{
	"by-chatguard": "chatguard",
	"in-channel":   "#{channel}: {title}",
	"list":         "{first}, {second}",

	"raid-on":           "Raid mode is on",
	"raid-on-by":        "{who} started raid mode. It ends {until}.",
	"raid-on-by-itself": "It started by itself, at {rate} messages per second. It ends {until}.",
	"raid-off":          "Raid mode is over",
	"raid-off-by":       "{who} ended raid mode. The usual limits apply again.",
	"raid-off-itself":   "It ended by itself. The usual limits apply again.",

	"paused":     "Paused",
	"paused-by":  "{who} paused chatguard. Nobody is throttled until somebody resumes.",
	"resumed":    "Resumed",
	"resumed-by": "{who} resumed chatguard. The limits apply again.",

	"failing":        "{name} fails",
	"failing-since":  "{state}, since {since}.",
	"failing-reason": "{detail}",
	"works":          "{name} works again",
	"works-since":    "It failed from {since} until {until}.",

	"limits":            "The limits have changed",
	"limits-by":         "{who} changed the limits (revision {revision}).",
	"limits-file":       "The configuration was loaded again.",
	"limits-enforced":   "The limits are enforced.",
	"limits-observed":   "The limits only observe.",
	"limits-change":     "{key}: {from} → {to}",
	"limits-more":       "Further changes: {n}",
	"limits-no-changes": "Nothing differs from before.",

	"banned":         "Banned",
	"perhaps-banned": "Perhaps banned",
	"banned-by":      "{user}, by {who}",
	"banned-reason":  "{ban}: {reason}",
	"banned-limit":   "{ban}, after strikes in the limit {limit}",
	"banned-unknown": "{ban}; whether Twitch carried it out is unknown",
	"user-named":     "{name} ({login})",

	"summary":           "The stream is over",
	"summary-span":      "From {from} until {until}.",
	"summary-messages":  "Messages: {messages}. Users: {users}.",
	"summary-throttled": "Throttled messages: {messages}. Throttled users: {users}.",
	"summary-observed":  "Messages that would have been throttled: {messages}.",
	"summary-sanctions": "Timed out: {timeouts}. Banned: {bans}. Pardoned: {pardons}.",
	"summary-top":       "Throttled most: {users}.",
	"summary-user":      "{user} ({messages})",

	"test":      "Test",
	"test-says": "This is a test of this webhook. Nothing has happened.",
}
