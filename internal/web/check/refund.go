package check

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/shared"
)

// spentVerdict is the body of POST /check/refund: the fields of a verdict that say what to give
// back. Its other fields are ignored, so that a server can send the verdict back as it came.
type spentVerdict struct {
	Channel string         `json:"channel"`
	UserID  string         `json:"user_id"`
	At      jsontext.Value `json:"at"`
	Spent   *int           `json:"spent"` // a verdict that spent nothing doesn't have it
	LateNS  int64          `json:"late_ns"`
	Allowed *bool          `json:"allowed"` // every verdict has it
	Print   string         `json:"text_print"`
}

// Refund is POST /check/refund. Another chat's server sends back the verdict on a message that it
// could not deliver, and the limits get back what the message spent.
func (k *Checker) Refund(w http.ResponseWriter, r *http.Request, holder string) error {
	c := scratchPool.Get().(*scratch)
	defer c.free()
	var read spentVerdict
	if err := readChecked(w, r, c, &read, lenient); err != nil {
		return err
	}
	reader := checkReader{space: k.opts.Space}
	m, err := reader.toSpentMessage(&read)
	if err != nil {
		return problem.Unread(err)
	}
	if m.Cost > 0 {
		c.add(m, nil)
		if k.openChannels(c, holder); c.parts[0].err != nil {
			return c.parts[0].err
		}
		v := chatguard.Verdict{ChannelID: m.ChannelID, UserID: m.User.ID, At: m.SentAt, Spent: m.Cost, Print: *m.Print}
		// A caller that hangs up hasn't delivered the message either.
		err := k.opts.Guard.Refund(context.WithoutCancel(r.Context()), v)
		switch {
		case errors.Is(err, shared.ErrAway):
			return problem.New(http.StatusServiceUnavailable, "The shared store doesn't answer: nothing was refunded.").BecauseOfOutage(err)
		case errors.Is(err, shared.ErrRefused):
			return problem.New(http.StatusServiceUnavailable, "The shared store refuses changes: nothing was refunded.").Because(err)
		case errors.Is(err, shared.ErrUnconfirmed):
			return problem.New(http.StatusServiceUnavailable, "The shared store's reply was lost: the refund may have been made.").Because(err)
		case err != nil:
			return err
		}
	}
	removePageHeaders(w.Header())
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// toSpentMessage converts what was read to the message that is given back. Its cost is what the
// message spent, and its time is when the message counted.
func (c *checkReader) toSpentMessage(read *spentVerdict) (m chatguard.Message, err error) {
	at, err := parseAt(read.At)
	var print chatguard.TextPrint
	switch {
	case err != nil:
		return m, err
	case print.UnmarshalText([]byte(read.Print)) != nil:
		return m, failKey("text_print", "isn't that of a verdict")
	case at.IsZero():
		return m, failKey("at", "is missing: the time in the verdict")
	case read.LateNS < 0:
		return m, failKey("late_ns", "is %d: want a whole number from 0", read.LateNS)
	case read.Spent == nil && read.Allowed == nil:
		return m, failKey("spent", "is missing: how much to give back, as the verdict says")
	case read.Spent == nil:
		read.Spent = new(int)
	case *read.Spent < 0 || *read.Spent > maxCost:
		return m, failKey("spent", "is %d: want a whole number from 0 to %d", *read.Spent, maxCost)
	}
	m = chatguard.Message{
		ChannelID: read.Channel, User: chatguard.User{ID: read.UserID},
		SentAt: at.Add(time.Duration(read.LateNS)), Cost: max(1, *read.Spent), // no message costs 0
		Print: &print,
	}
	c.repair(&m)
	err = c.validate(&m)
	m.Cost = *read.Spent
	return m, err
}
