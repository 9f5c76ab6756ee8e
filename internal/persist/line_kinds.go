package persist

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// lineKinds are all tables but that of the sign-ins, in the order in which they are exported.
var lineKinds = []lineKind{
	{"state", stateColumns, "channel_id, user_id, limit_name", &stateInsertion, func(h head) line { return &stateLine{head: h} }},
	{"journal", entryColumns, "id", &entryInsertion, func(h head) line { return &entryLine{head: h} }},
	{"revision", revisionColumns, "channel_id, number", &revisionInsertion, func(h head) line { return &revisionLine{head: h} }},
	{"audit", auditColumns, "id", &auditInsertion, func(h head) line { return &auditLine{head: h} }},
	{"timeline", timelineColumns, "channel_id, at, number", &timelineInsertion, func(h head) line { return &spokenLine{head: h} }},
	{"channel", channelColumns, "id", &channelInsertion, func(h head) line { return &channelLine{head: h} }},
	{"setting", settingColumns, "channel_id, name", &settingInsertion, func(h head) line { return &settingLine{head: h} }},
	{"person", personColumns, "channel_id, user_id", &personInsertion, func(h head) line { return &personLine{head: h} }},
	{"quarter_hour", quarterColumns, "channel_id, user_id, at", &quarterInsertion, func(h head) line { return &quarterLine{head: h} }},
	{"rolled_up", rolledUpColumns, "channel_id", &rolledUpInsertion, func(h head) line { return &rolledUpLine{head: h} }},
}

type stateLine struct {
	head
	ChannelID string `json:"channel"`
	UserID    string `json:"user_id"`
	Limit     string `json:"limit"`
	Data      []byte `json:"data"`
	exactBytes
}

func (l *stateLine) row() chatguard.StateRow {
	return chatguard.StateRow{ChannelID: l.ChannelID, UserID: l.UserID, Limit: l.Limit, Data: l.Data}
}

func (l *stateLine) scan(rows *sql.Rows) error {
	row, err := scanState(rows)
	l.ChannelID, l.UserID, l.Limit, l.Data = row.ChannelID, row.UserID, row.Limit, row.Data
	return err
}

// anyGuard knows which bytes can be state. That doesn't depend on its policy.
var anyGuard = sync.OnceValue(func() *chatguard.Guard {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		panic(err) // the default policy is valid
	}
	return guard
})

func (l *stateLine) check() error {
	if _, err := anyGuard().Forgotten(l.row(), time.Unix(0, 0)); err != nil {
		return fmt.Errorf("data can't be read (%w): without the line its user starts fresh", err)
	}
	return nil
}

func (l *stateLine) key() lineKey { return lineKey{texts: [3]string{l.ChannelID, l.UserID, l.Limit}} }

func (l *stateLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
	each("limit", &l.Limit)
}

func (l *stateLine) values(args []any) []any {
	return append(args, l.ChannelID, l.UserID, l.Limit, l.Data)
}

type entryLine struct {
	head
	journal.Entry
	exactBytes
}

func (l *entryLine) scan(rows *sql.Rows) (err error) {
	l.Entry, err = scanEntry(rows)
	return err
}

var results = []journal.Result{journal.Pending, journal.Done, journal.Failed, journal.Skipped, journal.Observed}

func (l *entryLine) check() error {
	switch err := checkNumber("id", int64(l.ID), maxID); {
	case err != nil:
		return err
	case l.UserID == "":
		return errors.New("user_id is missing")
	case l.Cost < 1:
		return errors.New("cost: want a whole number from 1")
	case l.Outcome.Entry != l.ID:
		return errors.New("outcome: its entry has to be the line's id")
	case !slices.Contains(results, l.Outcome.Result):
		return fmt.Errorf("outcome: unknown result %.40q (known: %q)", l.Outcome.Result, results)
	}
	return cmp.Or(checkTime("at", l.At), checkTime("outcome", l.Outcome.At),
		checkOptionalTime("may_speak_at", l.MaySpeakAt.Time), checkOptionalTime("reset_at", l.ResetAt))
}

func (l *entryLine) key() lineKey { return lineKey{numbers: [2]int64{int64(l.ID)}} }

func (l *entryLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
	each("login", &l.Login)
	each("display_name", &l.DisplayName)
	each("message_id", &l.MessageID)
	each("text", &l.Text)
	each("limit", &l.Limit)
	each("outcome.reason", &l.Outcome.Reason)
}

func (l *entryLine) values(args []any) []any { return entryValues(args, &l.Entry) }

// revisionLine keeps policy and changes as they are stored. A null policy went back to the configuration.
type revisionLine struct {
	head
	journal.Revision
	Policy  json.RawMessage `json:"policy"`
	Changes json.RawMessage `json:"changes"`
	exactBytes
}

func (l *revisionLine) scan(rows *sql.Rows) error {
	var at int64
	var policy sql.NullString
	err := rows.Scan(&l.ChannelID, &l.Number, &l.Author, &at, &policy, (*[]byte)(&l.Changes))
	l.At = timeAt(at)
	if policy.Valid {
		l.Policy = json.RawMessage(policy.String)
	}
	return err
}

// maxPolicyJSON is as much as the dashboard takes, and few enough bytes that what they spell fits in memory, however terse it is.
const maxPolicyJSON = 1 << 20

func (l *revisionLine) check() error {
	if err := checkNumber("number", int64(l.Number), maxRevision); err != nil {
		return err
	}
	if len(l.Policy) == 0 || len(l.Changes) == 0 {
		return errors.New("policy or changes is missing")
	}
	if max(len(l.Policy), len(l.Changes)) > maxPolicyJSON {
		return fmt.Errorf("policy or changes is longer than %d bytes", maxPolicyJSON)
	}
	var read journal.Revision // as the next start will
	if err := cmp.Or(json.Unmarshal(l.Policy, &read.Policy), json.Unmarshal(l.Changes, &read.Changes)); err != nil {
		return fmt.Errorf("policy or changes can't be read: %w", plainJSON(err, nil))
	}
	return checkTime("at", l.At)
}

func (l *revisionLine) key() lineKey {
	return lineKey{texts: [3]string{l.ChannelID}, numbers: [2]int64{int64(l.Number)}}
}

func (l *revisionLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("author", &l.Author)
}

func (l *revisionLine) values(args []any) []any {
	policy := sql.NullString{String: string(l.Policy), Valid: string(l.Policy) != "null"}
	row := revisionRow{Revision: l.Revision, policy: policy, changes: string(l.Changes)}
	return row.values(args)
}

// auditLine keeps the detail as it is stored.
type auditLine struct {
	head
	journal.Audit
	Detail json.RawMessage `json:"detail"`
	exactBytes
}

func (l *auditLine) scan(rows *sql.Rows) error {
	var at int64
	err := rows.Scan(&l.ID, &at, &l.Author, &l.Action, &l.ChannelID, &l.UserID, (*[]byte)(&l.Detail))
	l.At = timeAt(at)
	return err
}

func (l *auditLine) check() error {
	switch err := checkNumber("id", l.ID, maxID); {
	case err != nil:
		return err
	case l.Action == "":
		return errors.New("action is missing")
	case len(l.Detail) == 0:
		return errors.New("detail is missing")
	}
	return checkTime("at", l.At)
}

func (l *auditLine) key() lineKey { return lineKey{numbers: [2]int64{l.ID}} }

func (l *auditLine) texts(each func(string, *string)) {
	each("author", &l.Author)
	each("action", (*string)(&l.Action))
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
}

func (l *auditLine) values(args []any) []any {
	row := auditRow{l.Audit, string(l.Detail)}
	return row.values(args)
}

// spokenLine is a message of the timeline with the number that tells it from others of the same instant.
type spokenLine struct {
	head
	journal.Spoken
	Number  int64 `json:"number"`
	Unspent int   `json:"unspent,omitempty"` // of the cost
	exactBytes
}

func (l *spokenLine) scan(rows *sql.Rows) error {
	var at int64
	err := rows.Scan(&l.ChannelID, &at, &l.Number, &l.UserID, &l.Login, &l.Roles, &l.Cost, &l.Unspent)
	l.At = timeAt(at)
	return err
}

func (l *spokenLine) check() error {
	switch {
	case l.Number > maxID:
		return fmt.Errorf("number: want a whole number up to %d", maxID)
	case l.UserID == "":
		return errors.New("user_id is missing")
	case l.Cost < 1:
		return errors.New("cost: want a whole number from 1")
	case l.Unspent < 0 || l.Unspent > l.Cost:
		return errors.New("unspent: want a whole number up to the cost")
	}
	return checkTime("at", l.At)
}

func (l *spokenLine) key() lineKey {
	return lineKey{texts: [3]string{l.ChannelID}, numbers: [2]int64{l.At.UnixNano(), l.Number}}
}

func (l *spokenLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
	each("login", &l.Login)
}

func (l *spokenLine) values(args []any) []any {
	row := timelineRow{l.Spoken, l.Number, l.Unspent}
	return row.values(args)
}

const channelColumns = "id, login"

var channelInsertion = insertion{into: "channel (" + channelColumns + ")", columns: 2, conflict: "DO NOTHING"}

type channelLine struct {
	head
	ID    string `json:"id"`
	Login string `json:"login"`
	exactBytes
}

func (l *channelLine) scan(rows *sql.Rows) error { return rows.Scan(&l.ID, &l.Login) }

func (l *channelLine) check() error {
	if l.ID == "" || l.Login == "" {
		return errors.New("id or login is missing")
	}
	return nil
}

func (l *channelLine) key() lineKey { return lineKey{texts: [3]string{l.ID}} }

func (l *channelLine) texts(each func(string, *string)) {
	each("id", &l.ID)
	each("login", &l.Login)
}

func (l *channelLine) values(args []any) []any { return append(args, l.ID, l.Login) }

type settingLine struct {
	head
	ChannelID string `json:"channel"`
	Name      string `json:"name"`
	Value     string `json:"value"`
	exactBytes
}

func (l *settingLine) scan(rows *sql.Rows) error { return rows.Scan(&l.ChannelID, &l.Name, &l.Value) }

func (l *settingLine) check() error {
	if l.Value == "" {
		return errors.New("value is missing")
	}
	return nil
}

func (l *settingLine) key() lineKey { return lineKey{texts: [3]string{l.ChannelID, l.Name}} }

func (l *settingLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("name", &l.Name)
	each("value", &l.Value)
}

func (l *settingLine) values(args []any) []any { return append(args, l.ChannelID, l.Name, l.Value) }
