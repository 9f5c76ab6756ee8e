package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/state"
)

// lineKinds are all exported tables, in export order: every table except those of sign-ins and of
// webhooks, which have secrets. Summaries of the timeline are kept longer than the timeline, so
// they are exported too. The export also contains the position up to which the timeline is
// summarized, so that no message counts twice.
var lineKinds = []lineKind{
	newKind[stateLine]("state", 3, "channel_id=channel user_id limit_name=limit data"),
	newKind[entryLine]("journal", 1, `id at channel_id=channel user_id! login display_name message_id text limit_name=limit
		may_speak_at? reset_at? strikes penalty cost late=offence.late counted=offence.counted series=offence.series
		new_strike=offence.new_strike low=offence.low repeat_times=repeats.times repeat_people=repeats.people repeat_window=repeats.window outcome_at=outcome.at outcome_action=outcome.action outcome_result=outcome.result
		outcome_reason=outcome.reason`),
	newKind[revisionLine]("revision", 2, "channel_id=channel number author at policy!? changes!"),
	newKind[auditLine]("audit", 1, "id at author action! channel_id=channel user_id detail!"),
	newKind[timelineLine]("timeline", 3, "channel_id=channel at number user_id! login display_name roles cost unspent low kinds=message_kind"),
	newKind[channelLine]("channel", 1, "id! login!"),
	newKind[settingLine]("setting", 2, "channel_id=channel name value!"),
	newKind[personLine]("person", 2, "channel_id=channel user_id! login display_name roles last_seen"),
	newKind[quarterLine]("quarter_hour", 3, "channel_id=channel user_id! at spent"),
	newKind[rolledUpLine]("rolled_up", 1, "channel_id=channel at number"),
	newKind[streamLine]("stream", 2, "channel_id=channel start seen ended"),
	newKind[noteLine]("note", 1, "id at author! channel_id=channel user_id! text!"),
}

func kindNamed(name string) *lineKind {
	i := slices.IndexFunc(lineKinds, func(k lineKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &lineKinds[i]
}

type stateLine struct {
	head
	ChannelID string `json:"channel"`
	UserID    string `json:"user_id"`
	Limit     string `json:"limit"`
	Data      []byte `json:"data"`
	exactBytes
}

// anyGuard is used to check whether bytes are valid state. The result doesn't depend on its policy.
var anyGuard = sync.OnceValue(func() *chatguard.Guard {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		panic(err) // the default policy is valid
	}
	return guard
})

func (l *stateLine) check() error {
	row := state.Row{ChannelID: l.ChannelID, UserID: l.UserID, Limit: l.Limit, Data: l.Data}
	if _, err := anyGuard().State().Forgotten(row, time.Unix(0, 0)); err != nil {
		return fmt.Errorf("data can't be read (%w): remove the line to let its user start fresh", err)
	}
	return nil
}

type entryLine struct {
	head
	journal.Entry
	exactBytes
}

func (l *entryLine) check() error {
	switch err := checkNumber("id", int64(l.ID), maxID); {
	case err != nil:
		return err
	case l.Cost < 1:
		return errors.New("cost: want a whole number from 1")
	case l.Outcome.Entry != l.ID:
		return errors.New("outcome: its entry must be the line's id")
	case !slices.Contains(journal.Results, l.Outcome.Result):
		return fmt.Errorf("outcome: unknown result %.40q (known: %q)", l.Outcome.Result, journal.Results)
	}
	return nil
}

// revisionLine keeps policy and changes as they are stored. A null policy means a return to the
// configuration.
type revisionLine struct {
	head
	journal.Revision
	Policy  json.RawMessage `json:"policy"`
	Changes json.RawMessage `json:"changes"`
	exactBytes
}

// maxPolicyJSON is the maximum length of a policy's JSON, the same as in the dashboard. It is small
// enough that the decoded policy fits in memory, however compact the JSON is.
const maxPolicyJSON = 1 << 20

func (l *revisionLine) check() error {
	if err := checkNumber("number", int64(l.Number), maxRevision); err != nil {
		return err
	}
	if max(len(l.Policy), len(l.Changes)) > maxPolicyJSON {
		return fmt.Errorf("policy or changes is longer than %d bytes", maxPolicyJSON)
	}
	var read journal.Revision // read it as the next start will
	err := json.Unmarshal(l.Policy, &read.Policy)
	if err == nil {
		err = json.Unmarshal(l.Changes, &read.Changes)
	}
	if err != nil {
		return fmt.Errorf("policy or changes can't be read: %w", plainJSON(err, nil))
	}
	return nil
}

// auditLine keeps the detail as it is stored.
type auditLine struct {
	head
	journal.Audit
	Detail json.RawMessage `json:"detail"`
	exactBytes
}

func (l *auditLine) check() error { return checkNumber("id", l.ID, maxID) }

// timelineLine is a message of the timeline, with a number that distinguishes messages of the same
// time.
type timelineLine struct {
	head
	journal.TimelineMessage
	Number  int64 `json:"number"`
	Unspent int   `json:"unspent,omitempty"` // unspent part of the cost
	// DisplayName is empty if it equals the login.
	DisplayName string `json:"display_name,omitempty"`
	Low         bool   `json:"low,omitempty"` // it passed at low priority
	exactBytes
}

func (l *timelineLine) check() error {
	switch {
	case l.Number > maxID:
		return fmt.Errorf("number: want a whole number up to %d", maxID)
	case l.Cost < 1:
		return errors.New("cost: want a whole number from 1")
	case l.Unspent < 0 || l.Unspent > l.Cost:
		return errors.New("unspent: want a whole number up to the cost")
	}
	return checkRoles(l.Roles)
}

type channelLine struct {
	head
	ID    string `json:"id"`
	Login string `json:"login"`
	exactBytes
}

type settingLine struct {
	head
	ChannelID string `json:"channel"`
	Name      string `json:"name"`
	Value     string `json:"value"`
	exactBytes
}

type personLine struct {
	head
	ChannelID string `json:"channel"`
	journal.Person
	exactBytes
}

func (l *personLine) check() error { return checkRoles(l.Roles) }

func checkRoles(list chatguard.Roles) error {
	if err := roles.Check(list); err != nil {
		return fmt.Errorf("roles: %w", err)
	}
	return nil
}

type quarterLine struct {
	head
	ChannelID string    `json:"channel"`
	UserID    string    `json:"user_id"`
	At        time.Time `json:"at"`
	Spent     int64     `json:"spent"`
	exactBytes
}

func (l *quarterLine) check() error {
	if !l.At.Equal(l.At.Truncate(persist.Quarter)) {
		return errors.New("at: want the beginning of a quarter of an hour")
	}
	return checkNumber("spent", l.Spent, maxID)
}

// rolledUpLine is the last rolled-up message of a channel's timeline.
type rolledUpLine struct {
	head
	ChannelID string    `json:"channel"`
	At        time.Time `json:"at"`
	Number    int64     `json:"number"`
	exactBytes
}

func (l *rolledUpLine) check() error {
	if l.Number > maxID {
		return fmt.Errorf("number: want a whole number up to %d", maxID)
	}
	return nil
}

// streamLine is a stream of a channel.
type streamLine struct {
	head
	journal.Stream
	exactBytes
}

func (l *streamLine) check() error {
	if l.Seen.Before(l.Start) {
		return errors.New("seen: want a time that is not before the start")
	}
	return nil
}

type noteLine struct {
	head
	journal.Note
	exactBytes
}

func (l *noteLine) check() error { return checkNumber("id", l.ID, maxID) }
