package web

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	maxLabBody = 2 << 20          // bytes of a question
	labWait    = 5 * time.Second  // maximum wait of a question for its turn
	labPending = 8                // questions that are read, waiting, at work, or whose answer is being sent
	labSend    = 10 * time.Second // maximum time to send an answer
)

// labQuestion is the body of a question to the Lab.
type labQuestion struct{ lab.Question }

// UnmarshalJSON refuses unknown keys. The error about a lane is a problem.
func (q *labQuestion) UnmarshalJSON(data []byte) error {
	return errLab(q.Question.UnmarshalJSON(data))
}

// errLab converts an error about a question to a problem. It returns any other error unchanged.
func errLab(err error) error {
	if wrong := (*lab.Error)(nil); errors.As(err, &wrong) {
		return problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(wrong))
	}
	return err
}

// laboratory answers questions to the Lab. It keeps nothing, and changes no channel.
type laboratory struct{ pending, working chan struct{} }

func newLaboratory() *laboratory {
	return &laboratory{make(chan struct{}, labPending), make(chan struct{}, labWorkers())}
}

// labWorkers returns how many questions may be at work at a time: one or two, so that chat has a
// processor of its own if there are several.
func labWorkers() int { return min(2, max(1, runtime.GOMAXPROCS(0)-1)) }

// resolve replaces recorded traffic by its messages.
type resolve func(ctx context.Context, t *lab.Traffic) ([]lab.Message, error)

// answer answers a question. Without resolve, there is no recorded traffic.
func (h *laboratory) answer(w http.ResponseWriter, r *http.Request, resolve resolve) error {
	if !takeWithin(r.Context(), h.pending, labWait) {
		return errLabBusy()
	}
	defer func() { <-h.pending }()
	var q labQuestion
	if err := problem.ReadJSONUpTo(w, r, &q, maxLabBody); err != nil {
		return err
	}
	var recorded []lab.Message
	if t := q.Traffic; t != nil && t.Kind == lab.Recorded && resolve != nil {
		var err error
		if recorded, err = resolve(r.Context(), t); err != nil {
			return err
		}
		q.Messages, q.Traffic = recorded, nil
	}
	body, err := h.run(r.Context(), q.Question, recorded)
	if r.Context().Err() != nil {
		return nil // The client is gone, usually to ask again.
	}
	if err != nil {
		return errLab(err)
	}
	w.Header().Set("Content-Type", "application/json")
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(labSend)) // an error means that the server's own is in force
	w.Write(body)                                                           // an error means that the client is gone
	return nil
}

func errLabBusy() error {
	return problem.New(http.StatusTooManyRequests, "The Lab is busy with other questions. Try again in %d s.", labWait/time.Second).After(labWait)
}

// takeWithin is take with a maximum wait.
func takeWithin(ctx context.Context, places chan struct{}, longest time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return take(waiting, places)
}

// run waits for its turn, and returns the answer's JSON. recorded is part of it.
func (h *laboratory) run(ctx context.Context, q lab.Question, recorded []lab.Message) ([]byte, error) {
	if !takeWithin(ctx, h.working, labWait) {
		return nil, errLabBusy()
	}
	defer func() { <-h.working }()
	answer, err := lab.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	if recorded != nil {
		answer.Messages = recorded
	}
	return answer.AppendJSON(nil)
}

// labs answers questions to a Lab, which may be about recorded traffic.
type labs struct {
	*laboratory
	recordings  recordings // nil if there are none
	reads       *longReads
	isDashboard bool
}

// labOffer is the answer to GET /lab.
type labOffer struct {
	Dashboard bool         `json:"dashboard"`
	Channels  []labChannel `json:"channels"`
}

// labChannel is a channel with recorded traffic.
type labChannel struct {
	ID    string `json:"id"`
	Login string `json:"login"` // empty if it isn't known
}

// get is GET /lab.
func (h *labs) get(w http.ResponseWriter, _ *http.Request, who access.Caller) error {
	offer := labOffer{h.isDashboard, []labChannel{}}
	if h.recordings != nil {
		offer.Channels = h.recordings.offered(who.Identity)
	}
	return problem.WriteJSON(w, offer)
}

// post is POST /lab.
func (h *labs) post(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	if h.recordings == nil {
		return h.answer(w, r, nil)
	}
	return h.answer(w, r, func(ctx context.Context, t *lab.Traffic) ([]lab.Message, error) {
		return readLong(ctx, h.reads, who, readWait, func() ([]lab.Message, error) { return h.recorded(ctx, who.Identity, t) })
	})
}
