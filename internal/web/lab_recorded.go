package web

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// errEnough ends a reading of the timeline.
var errEnough = errors.New("all messages have been read")

// recorded returns recorded messages of a channel: from a time on, or the busiest.
func (h *labs) recorded(ctx context.Context, t *lab.Traffic) ([]lab.Message, error) {
	if _, err := h.channels.find(t.Channel); err != nil {
		return nil, err
	}
	oldest := h.now().Add(-mostHours * time.Hour)
	from, length := t.From, time.Duration(max(t.For, t.Busiest))
	switch {
	case t.Busiest > 0 && (t.For > 0 || !from.IsZero()):
		return nil, errRecorded("Send busiest, or from and for, but not both.")
	case t.Busiest == 0 && (t.For == 0 || from.IsZero()):
		return nil, errRecorded("Recorded traffic needs from and for, such as \"1h\", or busiest, such as \"10m\".")
	case length > mostHours*time.Hour, t.Busiest == 0 && from.Before(oldest):
		return nil, errRecorded("Recorded traffic covers the last 48 h.")
	}
	if t.Busiest > 0 {
		var err error
		if from, err = h.busiest(ctx, t, oldest, length); err != nil {
			return nil, err
		}
	}
	return h.between(ctx, t, from, from.Add(length))
}

func errRecorded(text string) error {
	return problem.New(http.StatusUnprocessableEntity, "%s", text)
}

// busiest returns the start of the stretch with the most messages since a time.
func (h *labs) busiest(ctx context.Context, t *lab.Traffic, since time.Time, length time.Duration) (time.Time, error) {
	busy := lab.NewStretch(length)
	err := h.read(ctx, t, since, func(m *journal.TimelineMessage) error {
		busy.Add(m.At.UnixNano(), 1)
		return nil
	})
	_, began := busy.Most()
	return time.Unix(0, began), err
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
		})
		return nil
	})
	return list, err
}

// read calls visit with the messages of a channel, or with those of one user, since a time.
func (h *labs) read(ctx context.Context, t *lab.Traffic, since time.Time, visit func(*journal.TimelineMessage) error) error {
	err := h.store.Timeline(ctx, t.Channel, since, func(said []journal.TimelineMessage) error {
		for i := range said {
			if t.UserID != "" && said[i].UserID != t.UserID {
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
