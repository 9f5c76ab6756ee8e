package web

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/simulate"
)

// recordings are the recorded messages that questions to a Lab may be about.
type recordings interface {
	// offered returns the channels that a person can choose from.
	offered(who auth.Identity) []labChannel
	// check returns a problem for a channel without recordings that the person may see.
	check(who auth.Identity, channelID string) error
	// oldest returns the earliest time that a question may be about, or the zero time if there is
	// no bound.
	oldest() time.Time
	// Timeline calls visit with batches of a channel's messages since a time, in order. visit must
	// not retain its argument. If visit fails or the context ends, Timeline stops and returns the
	// error.
	Timeline(ctx context.Context, channelID string, since time.Time, visit func([]journal.TimelineMessage) error) error
}

// storedRecordings are the recordings in a dashboard's database.
type storedRecordings struct {
	channels channels
	Records
	now func() time.Time
}

func (s storedRecordings) offered(who auth.Identity) []labChannel {
	list := []labChannel{}
	for _, c := range s.channels.model.ChannelsFor(who) {
		list = append(list, labChannel{c.ID, c.Login})
	}
	return list
}

func (s storedRecordings) check(who auth.Identity, channelID string) error {
	if !who.In(channelID).Allows(auth.View) {
		return errNoChannel(channelID)
	}
	_, err := s.channels.find(channelID)
	return err
}

func (s storedRecordings) oldest() time.Time { return s.now().Add(-mostHours * time.Hour) }

// fileRecordings are recordings from files.
type fileRecordings struct{ *simulate.Recordings }

func (f fileRecordings) offered(auth.Identity) []labChannel {
	list := []labChannel{}
	for _, c := range f.Channels() {
		list = append(list, labChannel{c.ID, c.Login})
	}
	return list
}

func (f fileRecordings) check(_ auth.Identity, channelID string) error {
	if !f.Has(channelID) {
		return errNoChannel(channelID)
	}
	return nil
}

func (fileRecordings) oldest() time.Time { return time.Time{} }
