package web

import (
	"time"

	"github.com/chatguard/chatguard"
)

// checkForm is a message as POST /check documents it.
type checkForm struct {
	Channel     string          `json:"channel" jsonschema:"The ID of the room, up to 250 bytes; a longer one is replaced by its hash. Limits count per channel."`
	UserID      string          `json:"user_id" jsonschema:"The author's ID, up to 250 bytes; a longer one is replaced by its hash. It must never change for an account."`
	ID          string          `json:"id,omitempty" jsonschema:"The message's ID for the journal, cut after 256 bytes."`
	Login       string          `json:"login,omitempty" jsonschema:"The author's name for the dashboard, cut after 200 bytes."`
	DisplayName string          `json:"display_name,omitempty" jsonschema:"The name as shown, cut after 200 bytes."`
	Roles       chatguard.Roles `json:"roles,omitempty" jsonschema:"The author's roles in this channel. Unknown ones are ignored."`
	Timezone    string          `json:"timezone,omitempty" jsonschema:"The IANA name of the zone of the author's days, weeks and months, such as Asia/Tokyo. Default: the limits' zone, also for an unknown name."`
	Text        string          `json:"text,omitempty" jsonschema:"For limits on repeated text, and for the journal; cut after 8192 bytes."`
	Kind        string          `json:"message_kind,omitempty" jsonschema:"Why the message isn't ordinary: a kind of the policy's exempt_messages, or emotes if it consists of emotes only. Several are separated by commas. Unknown ones are ignored."`
	Cost        int             `json:"cost,omitempty" jsonschema:"How many messages it counts as. Default: 1."`
	At          checkedTime     `json:"at,omitzero" jsonschema:"When it was sent: RFC 3339, or milliseconds since 1970. Default: now. More than a minute ago counts as a minute ago."`
	UpTo        bool            `json:"up_to,omitempty" jsonschema:"Spend as much of the cost as the limits allow. The verdict's taken says how much that is."`
}

// checkedTime is a time in either of its two forms.
type checkedTime any

// batchForm is what POST /check/batch documents.
type batchForm struct {
	Messages []checkForm `json:"messages" jsonschema:"Up to 1000 messages, judged in order."`
}

// refundForm is what POST /check/refund documents.
type refundForm struct {
	Channel string    `json:"channel"`
	UserID  string    `json:"user_id"`
	At      time.Time `json:"at" jsonschema:"The verdict's time."`
	Spent   int       `json:"spent,omitempty" jsonschema:"How much to give back. Default, if the rest of the verdict is there: 0."`
	LateNS  int64     `json:"late_ns,omitempty" jsonschema:"The verdict's."`
	Print   string    `json:"text_print,omitempty" jsonschema:"The verdict's. Without it, limits on repeated text get nothing back."`
}

// rateHeaders are the headers of a verdict, if there are limits and the author is not exempt.
var rateHeaders = []string{"RateLimit-Policy", "RateLimit"}

// verdict is the JSON form of chatguard.Verdict.
type verdict struct {
	At           time.Time          `json:"at"`
	Channel      string             `json:"channel"`
	UserID       string             `json:"user_id"`
	Allowed      bool               `json:"allowed"`
	Limit        string             `json:"limit"`
	Remaining    *int               `json:"remaining"`
	RetryAfterMS *int64             `json:"retry_after_ms"`
	DelayMS      int64              `json:"delay_ms"`
	ResetAt      *time.Time         `json:"reset_at"`
	Never        bool               `json:"never"`
	Observed     bool               `json:"observed"`
	Penalty      chatguard.Penalty  `json:"penalty"`
	WouldBe      chatguard.Penalty  `json:"would_be,omitempty"`
	Tightest     string             `json:"tightest,omitempty"`
	Exempt       bool               `json:"exempt,omitempty"`
	Degraded     bool               `json:"degraded,omitempty"`
	Priority     chatguard.Priority `json:"priority,omitempty"`
	Entry        chatguard.EntryID  `json:"entry,omitempty"`
	Strikes      int                `json:"strikes,omitempty"`
	NewStrike    bool               `json:"new_strike,omitempty"`
	Spent        int                `json:"spent,omitempty"`
	Roles        chatguard.Roles    `json:"roles,omitempty"`
	LateNS       int64              `json:"late_ns,omitempty"`
	Counted      int                `json:"counted,omitempty"`
	Series       uint8              `json:"series,omitempty"`
	Print        string             `json:"text_print,omitempty" jsonschema:"A keyed hash of the text, if the channel has limits on repeated text. POST /check/refund needs it."`
	Taken        int                `json:"taken,omitempty" jsonschema:"For a message with up_to: how much of its cost may be shown."`
	Changed      []string           `json:"changed,omitempty" jsonschema:"Keys of the message whose values were cut, cleaned or, for IDs, replaced by a hash."`
	Missing      []string           `json:"missing,omitempty" jsonschema:"text, if the message has none and the channel has limits on repeated text. They didn't count it."`
	UnknownRoles []string           `json:"unknown_roles,omitempty" jsonschema:"The message's roles that the channel's policy doesn't name, up to 8. They are ignored."`
	UnknownKinds []string           `json:"unknown_kinds,omitempty" jsonschema:"The kinds of message_kind that are unknown, up to 8. They are ignored."`
	UnknownZone  string             `json:"unknown_timezone,omitempty" jsonschema:"The message's timezone, if it is unknown. The limits' zone applies instead."`
}

// batchVerdict is a verdict, or a failedForm.
type batchVerdict struct{}

// failedForm is what a batch answers about a message that can't be judged.
type failedForm struct {
	Error struct {
		Status int    `json:"status" jsonschema:"What POST /check would answer about the message."`
		Detail string `json:"detail"`
	} `json:"error"`
}
