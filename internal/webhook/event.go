package webhook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
)

// Kind is what an event is about.
type Kind string

// The kinds of events.
const (
	Raid    Kind = "raid"    // raid mode begins or ends
	Pause   Kind = "pause"   // a channel is paused or resumed
	Failure Kind = "failure" // something that chatguard needs fails, or works again
	Limits  Kind = "limits"  // the limits of a channel have changed
	Ban     Kind = "ban"     // users were banned
	Summary Kind = "summary" // a stream has ended
	Test    Kind = "test"    // a person tests a hook
)

// Kinds are the kinds that a hook can have. Every hook can be tested.
var Kinds = []Kind{Raid, Pause, Failure, Limits, Ban, Summary}

// CheckKinds returns an error, as a sentence for people, unless a hook can have these kinds.
func CheckKinds(kinds []Kind) error {
	for i, kind := range kinds {
		switch {
		case !slices.Contains(Kinds, kind):
			names := make([]string, len(Kinds))
			for i, known := range Kinds {
				names[i] = string(known)
			}
			return fmt.Errorf("%q is not an event: choose from %s", hostile.Clip(string(kind), maxName), strings.Join(names, ", "))
		case slices.Contains(kinds[:i], kind):
			return fmt.Errorf("%q is listed twice", kind)
		}
	}
	return nil
}

// Event is something that happened. The field of its kind is set; a Test has none. Its JSON form is
// that of the format Signed.
type Event struct {
	// ID is the same in every try and for every hook, so that a receiver recognizes a repetition.
	// Send sets it.
	ID      string    `json:"id"`
	Kind    Kind      `json:"type"`
	At      time.Time `json:"at"`
	Channel *Channel  `json:"channel,omitempty"` // nil if the event belongs to no channel
	Node    string    `json:"node,omitempty"`    // the node that sends it, if there are several
	Text    string    `json:"text"`              // the event in English; see Sender.Send

	Raid    *RaidChange    `json:"raid,omitempty"`
	Pause   *PauseChange   `json:"pause,omitempty"`
	Failure *FailureChange `json:"failure,omitempty"`
	Limits  *LimitsChange  `json:"limits,omitempty"`
	Bans    []BannedUser   `json:"bans,omitempty"` // at most MaxBans
	Summary *StreamSummary `json:"summary,omitempty"`

	Test bool `json:"test,omitempty"`
}

// Channel is the channel to which an event belongs.
type Channel struct {
	ID    string `json:"id"`
	Login string `json:"login"` // or a room's name
}

// RaidChange says that raid mode has begun or ended.
type RaidChange struct {
	On    bool      `json:"on"`
	Until time.Time `json:"until,omitzero"` // when it ends by itself; zero if it is off
	// By is who switched it. It is empty if chatguard did.
	By string `json:"by,omitempty"`
	// Rate is the number of messages per second at which it began by itself, or 0.
	Rate float64 `json:"messages_per_second,omitempty"`
}

// PauseChange says that a channel was paused or resumed. A paused channel only observes.
type PauseChange struct {
	Paused bool   `json:"paused"`
	By     string `json:"by"`
}

// FailureChange says that a connection, the database or the shared store fails or works again.
type FailureChange struct {
	Over   bool      `json:"over"`
	Name   string    `json:"name"`             // what fails: "Twitch", "database"
	State  string    `json:"state,omitempty"`  // in a word: "disconnected"
	Detail string    `json:"detail,omitempty"` // one line: the reason, with the fix
	Since  time.Time `json:"since"`            // when it began to fail
	Until  time.Time `json:"until,omitzero"`   // when it worked again; zero unless Over
}

// LimitsChange says that the limits of a channel have changed.
type LimitsChange struct {
	Revision int    `json:"revision,omitempty"` // 0 if the configuration has changed
	By       string `json:"by,omitempty"`       // empty if the configuration has changed
	Mode     string `json:"mode"`               // of the policy now: "observe" or "enforce"
	// Changes are what differs from the limits before, at most MaxChanges.
	Changes []ChangedKey `json:"changes"`
	More    int          `json:"more,omitempty"` // changes that aren't listed
}

// ChangedKey is a key of the policy with another value, or a new or removed one.
type ChangedKey struct {
	Key  string `json:"key"` // dotted, as in the configuration: limit.burst.refill
	From string `json:"from"`
	To   string `json:"to"`
}

// BannedUser is a user who was banned.
type BannedUser struct {
	UserID      string    `json:"user_id"`
	Login       string    `json:"login"`
	DisplayName string    `json:"display_name,omitempty"`
	At          time.Time `json:"at"`
	By          string    `json:"by,omitempty"` // empty if chatguard did
	Reason      string    `json:"reason,omitempty"`
	Limit       string    `json:"limit,omitempty"` // whose strikes led to the ban, if chatguard did
	// Unknown means that chatguard doesn't know whether the ban was carried out: the chat didn't
	// answer, or chatguard was killed.
	Unknown bool `json:"unknown,omitempty"`
}

// StreamSummary sums up a stream that has ended.
type StreamSummary struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Messages and Users are nil if the messages aren't recorded any more.
	Messages       *int `json:"messages,omitempty"`
	Users          *int `json:"users,omitempty"`
	ThrottledUsers int  `json:"throttled_users"`
	Throttled      int  `json:"throttled_messages"`
	Observed       int  `json:"observed_messages"` // would have been throttled
	TimedOut       int  `json:"timed_out_users"`
	Banned         int  `json:"banned_users"`
	Pardoned       int  `json:"pardoned_users"`
	// Top are the users who were throttled most, at most MaxTop.
	Top []TopUser `json:"top"`
}

// TopUser is a user with throttled messages.
type TopUser struct {
	UserID    string `json:"user_id"`
	Login     string `json:"login"`
	Throttled int    `json:"throttled_messages"`
}

// Maximum lengths of an event's lists. The maker of an event counts the elements that don't fit, or
// makes several events.
const (
	MaxBans    = 20
	MaxChanges = 20
	MaxTop     = 5
)

// Maximum lengths of an event's texts, in characters.
const (
	mostName   = 100
	mostValue  = 150
	mostDetail = 300
)

// clean makes all texts of an event fit for other programs: one line each, without control
// characters and without those that change the writing direction, and not too long. Names come from
// a chat.
func (e *Event) clean() {
	each := func(most int, texts ...*string) {
		for _, text := range texts {
			*text = hostile.OneLine(hostile.Visible(*text), most)
		}
	}
	each(mostName, &e.Node)
	if e.Channel != nil {
		own := *e.Channel // other events may share it
		e.Channel = &own
		each(mostName, &e.Channel.Login)
	}
	if e.Raid != nil {
		each(mostName, &e.Raid.By)
	}
	if e.Pause != nil {
		each(mostName, &e.Pause.By)
	}
	if e.Failure != nil {
		each(mostName, &e.Failure.Name, &e.Failure.State)
		each(mostDetail, &e.Failure.Detail)
	}
	if e.Limits != nil {
		each(mostName, &e.Limits.By)
		for i := range e.Limits.Changes {
			c := &e.Limits.Changes[i]
			each(mostValue, &c.Key, &c.From, &c.To)
		}
	}
	for i := range e.Bans {
		b := &e.Bans[i]
		each(mostName, &b.Login, &b.DisplayName, &b.By, &b.Limit)
		each(mostDetail, &b.Reason)
	}
	if e.Summary != nil {
		for i := range e.Summary.Top {
			each(mostName, &e.Summary.Top[i].Login)
		}
	}
}
