// Package check judges messages of other chats: their servers ask over HTTP before they show a
// message. It must not know who may ask.
package check

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/internal/inner"
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

	// Report receives the outcome of each throttled message, which is that the server drops the
	// message. Nil means no calls.
	Report func(journal.Outcome)
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
	isLong   bool // the body's texts were cut; see readLong
	messages []chatguard.Message
	parts    []part // of the messages
	verdicts []chatguard.Verdict
	answer   []byte
}

// part is what the answer needs about a message besides its verdict.
type part struct {
	err     *problem.Problem // why there is no verdict; nil if there is one
	upTo    bool             // whether a part of the message's cost may be spent
	taken   int              // how much of the cost may be shown, if upTo
	changed []string         // keys whose values were repaired
	unknown unknownNames
	noText  bool // whether the message has no key text
}

var scratchPool = sync.Pool{New: func() any { return &scratch{} }}

// free removes the chat texts from the scratch and makes it available for reuse.
func (c *scratch) free() {
	if clear(c.body.Bytes()); c.body.Cap() > problem.MaxBody+bytes.MinRead {
		c.body = bytes.Buffer{}
	}
	c.body.Reset()
	clear(c.messages)
	clear(c.parts)
	clear(c.verdicts)
	c.isLong, c.messages, c.parts = false, c.messages[:0], c.parts[:0]
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
	k.addMessage(c, &read)
	k.openChannels(c, holder)
	if err := c.parts[0].err; err != nil {
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

// readChecked decodes the body of a request into *into.
func readChecked[T any](w http.ResponseWriter, r *http.Request, c *scratch, into *T, how json.Options) error {
	if err := c.readBody(w, r); err != nil {
		return err
	}
	if err := readObject(c.body.Bytes(), into, how); err != nil {
		return problem.Unread(err)
	}
	return nil
}

// addMessage adds a message to c.
func (k *Checker) addMessage(c *scratch, read *checkedMessage) {
	reader := checkReader{now: k.opts.Guard.Now(), space: k.opts.Space, isLong: c.isLong}
	m, changed, err := reader.toMessage(read)
	var unknown unknownNames
	if err == nil {
		unknown = k.useNames(&m, read)
	}
	c.add(m, err)
	p := &c.parts[len(c.parts)-1]
	p.upTo, p.changed, p.unknown, p.noText = read.UpTo, changed, unknown, read.Text == nil
}

// add adds a message. err is why it can't be judged, or nil.
func (c *scratch) add(m chatguard.Message, err error) {
	var p part
	if err != nil {
		errors.As(problem.Unread(err), &p.err)
	}
	c.messages, c.parts = append(c.messages, m), append(c.parts, p)
}

// judge judges the messages of c in order, and reports the throttled ones.
func (k *Checker) judge(ctx context.Context, c *scratch) (err error) {
	n := len(c.messages)
	c.verdicts = slices.Grow(c.verdicts, n)[:n]
	for from, until := 0, 0; from < n && err == nil; from = until {
		until = from + 1
		switch p := &c.parts[from]; {
		case p.err != nil:
			continue
		case p.upTo:
			p.taken, c.verdicts[from], err = k.opts.Guard.CheckUpTo(ctx, c.messages[from])
			continue
		}
		for until < n && c.parts[until].err == nil && !c.parts[until].upTo {
			until++
		}
		err = k.opts.Guard.CheckAll(ctx, c.messages[from:until], c.verdicts[from:until])
	}
	if err != nil {
		return err
	}
	for i := range c.verdicts {
		if c.parts[i].err == nil {
			k.reportDropped(&c.verdicts[i])
		}
	}
	return nil
}

// appendAnswer appends a message's verdict to the answer, with the IDs as the server sent them, or
// its error.
func (k *Checker) appendAnswer(c *scratch, i int) {
	v, p := &c.verdicts[i], &c.parts[i]
	if p.err != nil {
		c.answer = appendError(c.answer, p.err)
		return
	}
	missing := p.noText && !v.Exempt && inner.Of(k.opts.Guard).ReadsTexts(v.ChannelID)
	v.ChannelID, v.UserID = k.NameOf(v.ChannelID), k.NameOf(v.UserID)
	c.answer = v.AppendJSON(c.answer)
	if !p.upTo && !missing && p.changed == nil && p.unknown.roles == nil && p.unknown.kinds == nil && p.unknown.timezone == "" {
		return
	}
	c.answer = c.answer[:len(c.answer)-1]
	if p.upTo {
		c.answer = strconv.AppendInt(append(c.answer, `,"taken":`...), int64(p.taken), 10)
	}
	if missing {
		c.answer = append(c.answer, `,"missing":["text"]`...)
	}
	c.answer = appendTexts(c.answer, "changed", p.changed)
	c.answer = appendTexts(c.answer, "unknown_roles", p.unknown.roles)
	c.answer = appendTexts(c.answer, "unknown_kinds", p.unknown.kinds)
	if zone := p.unknown.timezone; zone != "" {
		c.answer = appendMember(c.answer, "unknown_timezone", zone)
	}
	c.answer = append(c.answer, '}')
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
