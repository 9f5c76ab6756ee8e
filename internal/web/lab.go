package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	maxLabBody = 4 << 20          // bytes of a question
	labWait    = 5 * time.Second  // maximum wait of a question for its turn
	labPending = 8                // questions that are waiting or being answered
	labLarge   = 8                // large questions that are read, and large answers that are sent
	labSmall   = 64 << 10         // bytes of a question or answer that isn't large
	labSend    = 10 * time.Second // maximum time to read a large question, and to send an answer
)

// labQuestion is the body of a question to the Lab.
type labQuestion struct{ lab.Question }

// UnmarshalJSON refuses unknown keys. An error about a lane becomes a problem.
func (q *labQuestion) UnmarshalJSON(data []byte) error {
	return errLab(q.Question.UnmarshalJSON(data))
}

// errLab converts an error about a question to a problem, which names the wrong value if it is
// known. It returns any other error unchanged.
func errLab(err error) error {
	if wrong := (*lab.Error)(nil); errors.As(err, &wrong) {
		refused := problem.New(http.StatusUnprocessableEntity, "%s", journal.Sentence(wrong))
		if wrong.Mistake != nil {
			refused.Mistake = mistakeOf(wrong.Mistake)
			refused.Mistake.Lane, refused.Mistake.Limit = wrong.Lane, wrong.Limit
		}
		return refused
	}
	return err
}

// labs answers questions to the Lab. It keeps nothing, and changes no channel. Each question
// takes one of its holder's two places. While a large question or answer is transferred, it also
// takes one of the places for large ones. The places for work, which all holders share, are taken
// only while chatguard computes an answer.
type labs struct {
	holders                 longReads
	large, pending, working chan struct{}

	recordings  recordings // nil if there are none
	reads       *longReads // of the recordings
	isDashboard bool
	// spent is called with the work that an answer to a holder took; nil means that nobody counts.
	spent func(ctx context.Context, holder string, work int64)
}

// newLabs returns labs without recordings.
func newLabs() *labs {
	return &labs{
		holders: longReads{byHolder: map[string]*readsOfHolder{}},
		large:   make(chan struct{}, labLarge), pending: make(chan struct{}, labPending), working: make(chan struct{}, labWorkers()),
	}
}

// labWorkers returns how many questions may be answered at the same time: one or two. If there are
// several processors, one remains for chat.
func labWorkers() int { return min(2, max(1, runtime.GOMAXPROCS(0)-1)) }

// post is POST /lab.
func (h *labs) post(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	end, err := h.holders.begin(r.Context(), who.Author(), labWait)
	if err != nil {
		return errLabBusy()
	}
	defer end()
	question, err := h.readQuestion(w, r)
	if err != nil {
		return err
	}
	body, err := h.work(r.Context(), who, question)
	if r.Context().Err() != nil {
		return nil // The client is gone, usually to ask again.
	}
	if err != nil {
		return errLab(err)
	}
	if len(body) > labSmall {
		if !takeWithin(r.Context(), h.large, labWait) {
			return errLabBusy()
		}
		defer func() { <-h.large }()
	}
	w.Header().Set("Content-Type", "application/json")
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(labSend)) // an error means that the server's own is in force
	w.Write(body)                                                           // an error means that the client is gone
	return nil
}

// readQuestion reads the JSON of a question.
func (h *labs) readQuestion(w http.ResponseWriter, r *http.Request) (question json.RawMessage, err error) {
	body := &largeBody{ReadCloser: r.Body, begin: func() error {
		if !takeWithin(r.Context(), h.large, labWait) {
			return errLabBusy()
		}
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(labSend)) // an error means that the server's own is in force
		return nil
	}}
	defer func() {
		if body.isLarge {
			<-h.large
		}
	}()
	r.Body = body
	err = problem.ReadJSONUpTo(w, r, &question, maxLabBody)
	return question, err
}

// largeBody is a request's body that calls begin before more than labSmall bytes are read.
type largeBody struct {
	io.ReadCloser
	begin   func() error
	n       int
	isLarge bool
}

// Read implements io.Reader. It also returns an error of begin.
func (b *largeBody) Read(p []byte) (int, error) {
	if b.n >= labSmall && !b.isLarge {
		if err := b.begin(); err != nil {
			return 0, err
		}
		b.isLarge = true
	}
	n, err := b.ReadCloser.Read(p)
	b.n += n
	return n, err
}

// work returns the JSON of the answer to a question.
func (h *labs) work(ctx context.Context, who access.Caller, question json.RawMessage) ([]byte, error) {
	if !takeWithin(ctx, h.pending, labWait) {
		return nil, errLabBusy()
	}
	defer func() { <-h.pending }()
	var q labQuestion
	if err := problem.Unmarshal(question, &q); err != nil {
		return nil, problem.Unread(err)
	}
	var recorded []lab.Message
	if t := q.Traffic; t != nil && t.Kind == lab.Recorded && h.recordings != nil {
		var err error
		recorded, err = readLong(ctx, h.reads, who, readWait, func() ([]lab.Message, error) { return h.recorded(ctx, who.Identity, t) })
		if err != nil {
			return nil, err
		}
		q.Messages, q.Traffic = recorded, nil
	}
	return h.run(ctx, who, q.Question, recorded)
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

// run waits for its turn, and returns the answer's JSON, which includes the recorded messages.
func (h *labs) run(ctx context.Context, who access.Caller, q lab.Question, recorded []lab.Message) ([]byte, error) {
	if !takeWithin(ctx, h.working, labWait) {
		return nil, errLabBusy()
	}
	defer func() { <-h.working }()
	answer, err := lab.Run(ctx, q)
	if h.spent != nil {
		h.spent(ctx, who.Name, answer.Work())
	}
	if err != nil {
		return nil, err
	}
	if recorded != nil {
		answer.Messages = recorded
	}
	return answer.AppendJSON(nil)
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
