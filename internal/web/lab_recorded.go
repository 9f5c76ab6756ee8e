package web

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// errEnough ends a reading of the timeline.
var errEnough = errors.New("all messages have been read")

// recorded returns a stretch of a channel's recorded messages: the one from a given time, the
// busiest one, or the last one.
func (h *labs) recorded(ctx context.Context, who auth.Identity, t *lab.Traffic) ([]lab.Message, error) {
	if err := h.recordings.check(who, t.Channel); err != nil {
		return nil, err
	}
	oldest := h.recordings.oldest()
	if err := checkStretch(t, oldest); err != nil {
		return nil, err
	}
	from, length := t.From, time.Duration(max(t.For, t.Busiest, t.Last))
	var err error
	switch {
	case t.Busiest > 0:
		from, err = h.busiest(ctx, t, oldest)
	case t.Last > 0:
		from, err = h.last(ctx, t, oldest)
	}
	if err != nil {
		return nil, err
	}
	return h.between(ctx, t, from, from.Add(length))
}

// checkStretch checks which part of the recordings is asked for. A zero oldest means no bound.
func checkStretch(t *lab.Traffic, oldest time.Time) error {
	isFrom := t.For > 0 || !t.From.IsZero()
	ways := 0
	for _, is := range []bool{isFrom, t.Busiest > 0, t.Last > 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errRecorded("Send only one of busiest, last, or from and for.")
	case ways == 0, isFrom && (t.For == 0 || t.From.IsZero()):
		return errRecorded("Recorded traffic needs from and for, such as \"1h\", or busiest or last, such as \"10m\".")
	case oldest.IsZero():
		return nil
	case max(t.For, t.Busiest, t.Last) > lab.Duration(mostHours*time.Hour), isFrom && t.From.Before(oldest):
		return errRecorded("Recorded traffic covers the last 48 h.")
	}
	return nil
}

func errRecorded(text language.Sentence) error {
	return problem.New(http.StatusUnprocessableEntity, "%s", text)
}

// busiest returns the start of the stretch with the most messages since a time.
func (h *labs) busiest(ctx context.Context, t *lab.Traffic, since time.Time) (time.Time, error) {
	busy := lab.NewStretch(time.Duration(t.Busiest))
	err := h.read(ctx, t, since, func(m *journal.TimelineMessage) error {
		busy.Add(m.At.UnixNano(), 1)
		return nil
	})
	_, began := busy.Most()
	return time.Unix(0, began), err
}

// last returns the start of the stretch that ends with the last message since a time.
func (h *labs) last(ctx context.Context, t *lab.Traffic, since time.Time) (time.Time, error) {
	latest := since
	err := h.read(ctx, t, since, func(m *journal.TimelineMessage) error {
		latest = m.At
		return nil
	})
	return latest.Add(1 - time.Duration(t.Last)), err // a stretch excludes its end
}

// between returns the messages of a span of time.
func (h *labs) between(ctx context.Context, t *lab.Traffic, from, until time.Time) ([]lab.Message, error) {
	list := []lab.Message{}
	err := h.read(ctx, t, from, func(m *journal.TimelineMessage) error {
		switch {
		case !m.At.Before(until):
			return errEnough
		case len(list) == lab.MaxMessages:
			return errRecorded("There are more than 20,000 recorded messages in that time: use a shorter time, or one user.")
		}
		list = append(list, lab.Message{
			At: lab.Moment(m.At.UnixNano()), UserID: strings.Clone(m.UserID), Login: strings.Clone(m.Login), Roles: m.Roles, Cost: m.Cost,
			Print: m.Print, Emotes: slices.Contains(m.MessageKinds, roles.Emotes),
		})
		return nil
	})
	return list, err
}

// read calls visit with the messages of a channel, or with those of one user, since a time.
func (h *labs) read(ctx context.Context, t *lab.Traffic, since time.Time, visit func(*journal.TimelineMessage) error) error {
	err := h.recordings.Timeline(ctx, t.Channel, since, func(said []journal.TimelineMessage) error {
		for i := range said {
			if t.UserID != "" && said[i].UserID != t.UserID && !strings.EqualFold(said[i].Login, t.UserID) {
				continue
			}
			if err := visit(&said[i]); err != nil {
				return err
			}
		}
		runtime.Gosched() // let live chat run first
		return ctx.Err()
	})
	var p *problem.Problem
	switch {
	case err == nil, errors.Is(err, errEnough):
		return nil
	case errors.As(err, &p):
		return p
	}
	return errUnreadable("The recorded messages can't be read now", err)
}
