package persist

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// What the timeline was rolled up to outlives it, and is therefore exported, too; with the places up to which it is, so that nothing counts twice.

type personLine struct {
	head
	ChannelID string `json:"channel"`
	journal.Person
	exactBytes
}

func (l *personLine) scan(rows *sql.Rows) error {
	var lastSeen int64
	err := rows.Scan(&l.ChannelID, &l.UserID, &l.Login, &l.Roles, &lastSeen)
	l.LastSeen = timeAt(lastSeen)
	return err
}

func (l *personLine) check() error {
	if l.UserID == "" {
		return errors.New("user_id is missing")
	}
	return checkTime("last_seen", l.LastSeen)
}

func (l *personLine) key() lineKey { return lineKey{texts: [3]string{l.ChannelID, l.UserID}} }

func (l *personLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
	each("login", &l.Login)
}

func (l *personLine) values(args []any) []any { return personValues(args, l.ChannelID, l.Person) }

type quarterLine struct {
	head
	ChannelID string    `json:"channel"`
	UserID    string    `json:"user_id"`
	At        time.Time `json:"at"`
	Spent     int64     `json:"spent"`
	exactBytes
}

func (l *quarterLine) scan(rows *sql.Rows) error {
	var at int64
	err := rows.Scan(&l.ChannelID, &l.UserID, &at, &l.Spent)
	l.At = timeAt(at)
	return err
}

func (l *quarterLine) check() error {
	switch {
	case l.UserID == "":
		return errors.New("user_id is missing")
	case !l.At.Equal(l.At.Truncate(quarter)):
		return errors.New("at: want the beginning of a quarter of an hour")
	}
	if err := checkNumber("spent", l.Spent, maxID); err != nil {
		return err
	}
	return checkTime("at", l.At)
}

func (l *quarterLine) key() lineKey {
	return lineKey{texts: [3]string{l.ChannelID, l.UserID}, numbers: [2]int64{l.At.UnixNano()}}
}

func (l *quarterLine) texts(each func(string, *string)) {
	each("channel", &l.ChannelID)
	each("user_id", &l.UserID)
}

func (l *quarterLine) values(args []any) []any {
	return append(args, l.ChannelID, l.UserID, l.At.UnixNano(), l.Spent)
}

// rolledUpLine is the last message of a channel's timeline that is rolled up.
type rolledUpLine struct {
	head
	ChannelID string    `json:"channel"`
	At        time.Time `json:"at"`
	Number    int64     `json:"number"`
	exactBytes
}

func (l *rolledUpLine) scan(rows *sql.Rows) error {
	var at int64
	err := rows.Scan(&l.ChannelID, &at, &l.Number)
	l.At = timeAt(at)
	return err
}

func (l *rolledUpLine) check() error {
	if l.Number > maxID {
		return fmt.Errorf("number: want a whole number up to %d", maxID)
	}
	return checkTime("at", l.At)
}

func (l *rolledUpLine) key() lineKey { return lineKey{texts: [3]string{l.ChannelID}} }

func (l *rolledUpLine) texts(each func(string, *string)) { each("channel", &l.ChannelID) }

func (l *rolledUpLine) values(args []any) []any {
	return append(args, l.ChannelID, l.At.UnixNano(), l.Number)
}
