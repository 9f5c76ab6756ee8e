package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/internal/webhook"
)

// webhooks answers requests about webhooks.
type webhooks struct {
	sender *webhook.Sender // nil if there are none
}

// webhookList is the answer to GET /webhooks.
type webhookList struct {
	Webhooks []webhook.Status `json:"webhooks"`
}

// webhookWanted is the body of a request for a webhook.
type webhookWanted struct {
	Name      string          `json:"name"`
	Address   webhook.Address `json:"url,omitempty"` // may be left out for a webhook that has one
	Format    webhook.Format  `json:"format"`
	Events    []webhook.Kind  `json:"events"`
	Channels  []string        `json:"channels,omitempty"`   // empty: all
	NewSecret bool            `json:"new_secret,omitempty"` // replaces the secret
}

// webhookChanged is the answer to a request that adds or changes a webhook.
type webhookChanged struct {
	Webhook webhook.Status `json:"webhook"`
	Secret  string         `json:"secret,omitempty"` // a new one, which is never shown again
	Saved   bool           `json:"saved"`
}

// webhookSaved is the answer to a request that deletes something, or sends it again.
type webhookSaved struct {
	Saved bool `json:"saved"`
}

// webhookDeliveries is the answer to GET /webhooks/{webhook}/deliveries.
type webhookDeliveries struct {
	Waiting []webhook.Delivery `json:"waiting"` // oldest first
	Dead    []webhook.Delivery `json:"dead"`    // newest first
}

// list is GET /webhooks.
func (h *webhooks) list(w http.ResponseWriter, _ *http.Request, _ access.Caller) error {
	return problem.WriteJSON(w, webhookList{h.sender.List()})
}

// add is POST /webhooks.
func (h *webhooks) add(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.change(w, r, func(wanted webhook.Wanted) (webhook.Changed, error) {
		return h.sender.Add(r.Context(), wanted, who.Author())
	})
}

// put is PUT /webhooks/{webhook}. It replaces everything, but an address that is left out stays.
// webhook.Wanted says when the secret changes.
func (h *webhooks) put(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return h.change(w, r, func(wanted webhook.Wanted) (webhook.Changed, error) {
		return h.sender.Change(r.Context(), r.PathValue("webhook"), wanted, who.Author())
	})
}

func (h *webhooks) change(w http.ResponseWriter, r *http.Request, change func(webhook.Wanted) (webhook.Changed, error)) error {
	var wanted webhookWanted
	if err := problem.ReadJSON(w, r, &wanted); err != nil {
		return err
	}
	done, err := change(webhook.Wanted(wanted))
	if err != nil {
		return errWebhook(err)
	}
	return problem.WriteJSON(w, webhookChanged{done.Hook, done.Secret, done.Saved})
}

// delete is DELETE /webhooks/{webhook}.
func (h *webhooks) delete(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	return answerSaved(w, func() (bool, error) { return h.sender.Remove(r.Context(), r.PathValue("webhook"), who.Author()) })
}

// testTime is the maximum duration of a test. It includes the wait for a delivery in progress, and
// is shorter than the server's timeouts.
const testTime = 25 * time.Second

// test is POST /webhooks/{webhook}/test. A failed test is an answer, not a problem.
func (h *webhooks) test(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	ctx, cancel := context.WithTimeout(r.Context(), testTime)
	defer cancel()
	done, err := h.sender.Test(ctx, r.PathValue("webhook"), who.Author())
	if err != nil {
		return errWebhook(err)
	}
	return problem.WriteJSON(w, done)
}

// deliveries is GET /webhooks/{webhook}/deliveries.
func (h *webhooks) deliveries(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	waiting, dead, err := h.sender.Deliveries(r.PathValue("webhook"))
	if err != nil {
		return errWebhook(err)
	}
	return problem.WriteJSON(w, webhookDeliveries{waiting, dead})
}

// letters returns a handler that calls do with the dead letter named by the request's path.
func (h *webhooks) letters(do func(s *webhook.Sender, ctx context.Context, id string, number int64, author string) (saved bool, err error)) access.Handler {
	return func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
		number, err := strconv.ParseInt(r.PathValue("delivery"), 10, 64)
		if err != nil {
			return errWebhook(webhook.ErrNoDelivery)
		}
		return answerSaved(w, func() (bool, error) { return do(h.sender, r.Context(), r.PathValue("webhook"), number, who.Author()) })
	}
}

func answerSaved(w http.ResponseWriter, do func() (saved bool, err error)) error {
	saved, err := do()
	if err != nil {
		return errWebhook(err)
	}
	return problem.WriteJSON(w, webhookSaved{saved})
}

// errWebhook converts an error of a webhook.Sender to the answer.
func errWebhook(err error) error {
	var invalid *webhook.InvalidError
	switch {
	case errors.As(err, &invalid):
		return problem.New(http.StatusUnprocessableEntity, "That can't be a webhook: %s.", invalid)
	case errors.Is(err, webhook.ErrNoHook):
		return problem.New(http.StatusNotFound, "There is no such webhook.")
	case errors.Is(err, webhook.ErrNoDelivery):
		return problem.New(http.StatusNotFound, "There is no such delivery: it was sent or deleted in the meantime.")
	case errors.Is(err, webhook.ErrConfigured):
		return problem.New(http.StatusConflict, "This webhook is in the configuration file. Change it there.")
	case errors.Is(err, webhook.ErrOff):
		return problem.New(http.StatusConflict, "This webhook is switched off. A test that arrives switches it on again.")
	case errors.Is(err, webhook.ErrFull):
		return problem.New(http.StatusConflict, "Too many deliveries are waiting. Try again when some have been sent.")
	case errors.Is(err, webhook.ErrBusy):
		return problem.New(http.StatusConflict, "A request to this webhook is still in progress. Try again in a few seconds.")
	}
	return problem.New(http.StatusServiceUnavailable, "It is done, but the database is failing, so the audit lacks it.").Because(err)
}
