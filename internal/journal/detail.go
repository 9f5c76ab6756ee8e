package journal

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
)

// Detail is what a record of the audit says besides who acted where: one of the types below, or a
// StoredDetail. Each type's fields are in the order of their names in JSON, as they are stored.
type Detail interface{ isDetail() }

// StoredDetail is a detail as it is stored, in JSON. DetailOf reads it.
type StoredDetail string

// MarshalJSON writes the detail with sorted keys and exact numbers. It writes a text if the detail
// isn't JSON, because somebody edited the database by hand.
func (d StoredDetail) MarshalJSON() ([]byte, error) {
	decoder := json.NewDecoder(strings.NewReader(string(d)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		value = string(d)
	}
	return json.Marshal(value)
}

// DetailOf returns the detail of a record. ok is false if it has another type or can't be read.
func DetailOf[T Detail](a Audit) (d T, ok bool) {
	switch known := a.Detail.(type) {
	case T:
		return known, true
	case StoredDetail:
		err := json.Unmarshal([]byte(known), &d)
		return d, err == nil
	}
	return d, false
}

// PolicyDetail is the detail of PolicyChanged and PolicyDiscarded. Only its Revision is stored; the
// rest is for those who watch changes.
type PolicyDetail struct {
	Revision   int            `json:"revision"`
	Mode       chatguard.Mode `json:"-"` // after the change
	Difference []Change       `json:"-"` // from the previous policy
}

// GrantDetail is the detail of UserGranted.
type GrantDetail struct {
	Limit    string    `json:"limit"`
	Messages int       `json:"messages"`
	Until    time.Time `json:"until,omitzero"` // zero if Unconfirmed
}

// PardonDetail is the detail of UserPardoned for a run of messages.
type PardonDetail struct {
	Dropped  int               `json:"dropped"`
	First    chatguard.EntryID `json:"first"`
	Last     chatguard.EntryID `json:"last"`
	Messages int               `json:"messages"`
	Pardon   int64             `json:"pardon"`
	Silence  SilenceResult     `json:"silence"`
	Strikes  int               `json:"strikes"`
	Partial  bool              `json:"-"` // Pardon.IsPartial, for those who watch changes
}

// EntryPardonDetail is the detail of UserPardoned for one message. Earlier versions stored no ID of
// the pardon.
type EntryPardonDetail struct {
	Entry   chatguard.EntryID `json:"entry"`
	Pardon  int64             `json:"pardon"`
	Partial bool              `json:"-"` // as in PardonDetail
}

// UnpardonDetail is the detail of UserUnpardoned.
type UnpardonDetail struct {
	First    chatguard.EntryID `json:"first"`
	Last     chatguard.EntryID `json:"last"`
	Messages int               `json:"messages"`
	Pardon   int64             `json:"pardon"`
	Strikes  int               `json:"strikes"`
}

// Replaced is the detail of UserOverridden and SettingsChanged: the value before and after.
type Replaced[T any] struct {
	From T `json:"from"`
	To   T `json:"to"`
}

// ExemptDetail is the detail of UserExempted, unless the exemption is permanent.
type ExemptDetail struct {
	Until time.Time `json:"until"`
}

// NoteDetail is the detail of UserNoted and NoteDeleted. It doesn't contain the note's text.
type NoteDetail struct {
	By   string `json:"by"` // the note's author
	Note int64  `json:"note"`
}

// RaidDetail is the detail of RaidSwitched if raid mode is on.
type RaidDetail struct {
	MessagesPerSecond float64   `json:"messages_per_second,omitempty"` // why it started by itself
	Until             time.Time `json:"until"`
}

// TimeoutDetail is the detail of UserTimedOut. Former is the timeout or ban that it replaced.
// Restored says that an act was undone that had replaced this timeout. By is then who gave it, as in
// Silence; the author of the change is who undid the act.
type TimeoutDetail struct {
	By       string    `json:"by,omitempty"`
	Former   *Silence  `json:"former,omitempty"`
	Length   string    `json:"length"`
	Reason   string    `json:"reason,omitempty"`
	Restored bool      `json:"restored,omitempty"`
	Until    time.Time `json:"until"`
}

// BanDetail is the detail of UserBanned. Former is the timeout that the ban replaced.
type BanDetail struct {
	Former *Silence `json:"former,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// LiftDetail is the detail of UserLifted. Former is what was lifted.
type LiftDetail struct {
	Banned bool     `json:"banned"` // false for a timeout
	Former *Silence `json:"former,omitempty"`
}

// LoginDetail is the detail of BotConnected.
type LoginDetail struct {
	Account string `json:"account"`
}

// WebhookDetail is the detail of WebhookChanged.
type WebhookDetail struct {
	Delivered  *bool    `json:"delivered,omitempty"`  // whether a test was
	Deliveries *int     `json:"deliveries,omitempty"` // that a deleted webhook still had
	Did        string   `json:"did"`                  // "added", "changed", "deleted", "tested", "sent again" or "discarded"
	Event      string   `json:"event,omitempty"`      // that was sent again or discarded
	Events     []string `json:"events,omitempty"`     // of an added or changed webhook, as are Format, Host and NewSecret
	Format     string   `json:"format,omitempty"`
	Host       string   `json:"host,omitempty"`
	Name       string   `json:"name"`
	NewSecret  bool     `json:"new_secret,omitempty"`
}

// UnconfirmedDetail is the detail of Unconfirmed: the change that may have been made.
type UnconfirmedDetail struct {
	Action AuditAction     `json:"action"`
	Detail json.RawMessage `json:"detail,omitempty"` // the action's own
}

// TokenDetail is the detail of TokenMade and LinkMade.
type TokenDetail struct {
	Expires time.Time `json:"expires,omitzero"`
	Name    string    `json:"name"`
	Role    string    `json:"role"`
}

// RevokedDetail is the detail of TokenEnded: how many links, sessions and tokens were ended.
type RevokedDetail struct {
	Links    int64  `json:"links"`
	Name     string `json:"name"`
	Sessions int64  `json:"sessions"`
	Tokens   int64  `json:"tokens"`
}

// SignInDetail is the detail of LinkEnded and SessionEnded.
type SignInDetail struct {
	From string `json:"from"`
	Name string `json:"name"`
	Role string `json:"role"`
}

func (StoredDetail) isDetail()      {}
func (PolicyDetail) isDetail()      {}
func (GrantDetail) isDetail()       {}
func (PardonDetail) isDetail()      {}
func (EntryPardonDetail) isDetail() {}
func (UnpardonDetail) isDetail()    {}
func (Replaced[T]) isDetail()       {}
func (ExemptDetail) isDetail()      {}
func (NoteDetail) isDetail()        {}
func (RaidDetail) isDetail()        {}
func (TimeoutDetail) isDetail()     {}
func (BanDetail) isDetail()         {}
func (LiftDetail) isDetail()        {}
func (LoginDetail) isDetail()       {}
func (WebhookDetail) isDetail()     {}
func (UnconfirmedDetail) isDetail() {}
func (TokenDetail) isDetail()       {}
func (RevokedDetail) isDetail()     {}
func (SignInDetail) isDetail()      {}
func (ChatModesChange) isDetail()   {}
