// Package check judges messages of other chats: their servers ask over HTTP before they show a
// message. It must not know who may ask.
package check

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// MaxBatch is the maximum number of messages in a batch.
const MaxBatch = 1000

// Options configures a Checker. Fields without a default are required.
type Options struct {
	Guard *chatguard.Guard

	// Space is a prefix for the IDs of channels and users that servers send. It keeps them separate
	// from another chat's IDs. Answers contain the IDs as the server sent them. It may be empty.
	Space string

	// Listed reports whether a channel is always accepted, however many channels there are. Nil
	// means that no channel is always accepted.
	Listed func(channelID string) bool

	// Entered is called for each new channel, before the first message in it is judged. Nil means
	// no calls.
	Entered func(channelID string)

	Report func(journal.Outcome) // receives the outcomes of throttled messages; nil means no calls
	Now    func() time.Time
}

// Checker judges messages of other chats. It is safe for concurrent use. Create one with New.
type Checker struct {
	opts     Options
	channels channels
}

// New returns a Checker.
func New(opts Options) *Checker { return &Checker{opts: opts} }

// scratch is the memory for one request to judge messages. It is reused for later requests.
type scratch struct {
	body     bytes.Buffer
	messages []chatguard.Message
	upTo     []bool // whether a part of the message's cost may be spent
	taken    []int  // how much of the cost may be shown, if upTo
	verdicts []chatguard.Verdict
	answer   []byte
}

var scratchPool = sync.Pool{New: func() any { return &scratch{} }}

// free removes the chat texts from the scratch and makes it available for reuse.
func (c *scratch) free() {
	clear(c.body.Bytes())
	c.body.Reset()
	clear(c.messages)
	clear(c.verdicts)
	c.messages, c.upTo, c.taken = c.messages[:0], c.upTo[:0], c.taken[:0]
	c.verdicts, c.answer = c.verdicts[:0], c.answer[:0]
	scratchPool.Put(c)
}

// Check is POST /check. Another chat's server sends it to ask whether to show a message.
func (k *Checker) Check(w http.ResponseWriter, r *http.Request, holder string) error {
	c := scratchPool.Get().(*scratch)
	defer c.free()
	var read checkedMessage
	if err := readChecked(w, r, c, &read, strict); err != nil {
		return err
	}
	if err := k.addMessages(c, holder, -1, read); err != nil {
		return err
	}
	if err := k.judge(r.Context(), c); err != nil {
		return err
	}
	v, status := &c.verdicts[0], http.StatusOK
	if !v.Allowed {
		status = http.StatusTooManyRequests
	}
	removePageHeaders(w.Header())
	httpguard.SetHeaders(w.Header(), k.opts.Guard, *v)
	k.appendAnswer(c, 0)
	c.answer = append(c.answer, '\n')
	c.send(w, status)
	return nil
}

// CheckBatch is POST /check/batch. If one of the messages is invalid, none is judged.
func (k *Checker) CheckBatch(w http.ResponseWriter, r *http.Request, holder string) error {
	c := scratchPool.Get().(*scratch)
	defer c.free()
	var read checkedBatch
	if err := readChecked(w, r, c, &read, strict); err != nil {
		return err
	}
	if read.Messages == nil {
		return problem.New(http.StatusUnprocessableEntity, "messages is missing: it is a list of messages in the form of POST /check.")
	}
	if err := k.addMessages(c, holder, 0, read.Messages...); err != nil {
		return err
	}
	if err := k.judge(r.Context(), c); err != nil {
		return err
	}
	c.answer = append(c.answer, `{"verdicts":[`...)
	for i := range c.verdicts {
		if i > 0 {
			c.answer = append(c.answer, ',')
		}
		k.appendAnswer(c, i)
	}
	c.answer = append(c.answer, "]}\n"...)
	removePageHeaders(w.Header())
	c.send(w, http.StatusOK)
	return nil
}

// readChecked decodes the body of a request into the value at into.
func readChecked[T any](w http.ResponseWriter, r *http.Request, c *scratch, into *T, how json.Options) error {
	if err := problem.CheckJSON(r); err != nil {
		return err
	}
	if _, err := c.body.ReadFrom(http.MaxBytesReader(w, r.Body, problem.MaxBody)); err != nil {
		return problem.Unread(err)
	}
	if err := readObject(c.body.Bytes(), into, how); err != nil {
		return problem.Unread(err)
	}
	return nil
}

// addMessages adds the messages in read to c and opens their channels. If a message is invalid, it
// returns a problem and opens no channel. first is the index of the first message in its batch, or
// -1 without a batch.
func (k *Checker) addMessages(c *scratch, holder string, first int, read ...checkedMessage) error {
	reader := checkReader{now: k.opts.Now(), space: k.opts.Space}
	for i := range read {
		reader.index = first + i
		m, err := reader.toMessage(&read[i])
		if err != nil {
			return problem.Unread(err)
		}
		c.messages = append(c.messages, m)
		c.upTo = append(c.upTo, read[i].UpTo)
	}
	return k.openChannels(c.messages, holder)
}

// judge judges the messages of c in order, and reports the throttled ones.
func (k *Checker) judge(ctx context.Context, c *scratch) (err error) {
	n := len(c.messages)
	c.taken = slices.Grow(c.taken, n)[:n]
	c.verdicts = slices.Grow(c.verdicts, n)[:n]
	for from, until := 0, 0; from < n && err == nil; from = until {
		until = from + 1
		if c.upTo[from] {
			c.taken[from], c.verdicts[from], err = k.opts.Guard.CheckUpTo(ctx, c.messages[from])
			continue
		}
		for until < n && !c.upTo[until] {
			until++
		}
		err = k.opts.Guard.CheckAll(ctx, c.messages[from:until], c.verdicts[from:until])
	}
	if err != nil {
		return err
	}
	for i := range c.verdicts {
		k.reportDropped(&c.verdicts[i])
	}
	return nil
}

// appendAnswer appends a message's verdict to the answer, with the IDs as the server sent them.
func (k *Checker) appendAnswer(c *scratch, i int) {
	v := &c.verdicts[i]
	v.ChannelID, v.UserID = k.NameOf(v.ChannelID), k.NameOf(v.UserID)
	c.answer = v.AppendJSON(c.answer)
	if c.upTo[i] {
		c.answer = append(c.answer[:len(c.answer)-1], `,"taken":`...)
		c.answer = append(strconv.AppendInt(c.answer, int64(c.taken[i]), 10), '}')
	}
}

// reportDropped reports a throttled message as dropped, because the calling server doesn't show it.
func (k *Checker) reportDropped(v *chatguard.Verdict) {
	if o, ok := journal.Dropped(*v); ok && k.opts.Report != nil {
		k.opts.Report(o)
	}
}

// removePageHeaders removes the headers that matter only for pages. net/http copies the headers for
// each answer, and the copy is cheap for up to eight headers.
func removePageHeaders(h http.Header) {
	h.Del("Content-Security-Policy")
	h.Del("Referrer-Policy")
}

// send writes the prepared answer.
func (c *scratch) send(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	if len(c.answer) > 1<<10 { // net/http sets the length of shorter answers
		w.Header().Set("Content-Length", strconv.Itoa(len(c.answer)))
	}
	w.WriteHeader(status)
	w.Write(c.answer) // an error means that the client is gone
}
