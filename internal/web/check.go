package web

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// mostChecked bounds a batch.
const mostChecked = 1000

// checks is what answering a request to judge messages takes. The next request uses it again.
type checks struct {
	body     bytes.Buffer
	from     checkReader // of the body
	messages []chatguard.Message
	verdicts []chatguard.Verdict
	answer   []byte
}

var spareChecks = sync.Pool{New: func() any { return &checks{} }}

// free gives it back, without the texts of chat.
func (c *checks) free() {
	clear(c.body.Bytes())
	c.body.Reset()
	c.from = checkReader{}
	clear(c.messages)
	clear(c.verdicts)
	c.messages, c.verdicts, c.answer = c.messages[:0], c.verdicts[:0], c.answer[:0]
	spareChecks.Put(c)
}

// check is POST /check: the server of another chat asks whether a message may be shown.
func (s *Server) check(w http.ResponseWriter, r *http.Request, who caller) error {
	c := spareChecks.Get().(*checks)
	defer c.free()
	c.messages = append(c.messages, chatguard.Message{})
	m := &c.messages[0]
	if err := s.readChecks(w, r, who, c, func(from *checkReader) error { return from.message(m) }); err != nil {
		return err
	}
	v, err := s.opts.Guard.Check(r.Context(), *m)
	if err != nil {
		return err
	}
	s.dropped(&v)
	status := http.StatusOK
	if !v.Allowed {
		status = http.StatusTooManyRequests
	}
	forPrograms(w.Header())
	s.opts.Guard.SetHeaders(w.Header(), *m, v)
	c.answer = append(s.appendAnswer(c.answer, &v), '\n')
	c.send(w, status)
	return nil
}

// checkBatch is POST /check/batch. Where one of the messages can't be judged, none is.
func (s *Server) checkBatch(w http.ResponseWriter, r *http.Request, who caller) error {
	c := spareChecks.Get().(*checks)
	defer c.free()
	if err := s.readChecks(w, r, who, c, func(from *checkReader) error { return from.batch(&c.messages) }); err != nil {
		return err
	}
	for range c.messages {
		c.verdicts = append(c.verdicts, chatguard.Verdict{})
	}
	if err := s.opts.Guard.CheckAll(r.Context(), c.messages, c.verdicts); err != nil {
		return err
	}
	c.answer = append(c.answer, `{"verdicts":[`...)
	for i := range c.verdicts {
		if i > 0 {
			c.answer = append(c.answer, ',')
		}
		s.dropped(&c.verdicts[i])
		c.answer = s.appendAnswer(c.answer, &c.verdicts[i])
	}
	c.answer = append(c.answer, "]}\n"...)
	forPrograms(w.Header())
	c.send(w, http.StatusOK)
	return nil
}

// readChecks reads a request's body by read, which has the messages judged by what they bring.
func (s *Server) readChecks(w http.ResponseWriter, r *http.Request, who caller, c *checks, read func(*checkReader) error) error {
	if err := saysJSON(r); err != nil {
		return err
	}
	if _, err := c.body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		return errUnread(err)
	}
	c.from = checkReader{scan: scan{data: c.body.Bytes()}, now: s.opts.Now(), space: s.opts.CheckSpace, index: -1}
	from := &c.from
	if !utf8.Valid(from.data) {
		return refuse(http.StatusBadRequest, "That can't be read: it isn't UTF-8.")
	}
	if from.null() {
		return refuse(http.StatusBadRequest, "That can't be read: it is null, where an object is wanted.")
	}
	err := read(from)
	if err == nil {
		err = from.over()
	}
	if err != nil {
		return errUnread(err)
	}
	return s.enter(c.messages, who)
}

// appendAnswer appends a verdict with the IDs as the server sent them.
func (s *Server) appendAnswer(answer []byte, v *chatguard.Verdict) []byte {
	v.ChannelID, v.UserID = s.nameOf(v.ChannelID), s.nameOf(v.UserID)
	return v.AppendJSON(answer)
}

// dropped reports what the server that asks does about a message that was throttled.
func (s *Server) dropped(v *chatguard.Verdict) {
	o, ok := journal.Dropped(*v)
	if !ok {
		return
	}
	if s.opts.Report != nil {
		s.opts.Report(o)
	}
	s.Report(o)
}

// forPrograms leaves out what is said of pages. Of no more than eight headers a copy is cheap, and net/http makes one for each answer.
func forPrograms(h http.Header) {
	h.Del("Content-Security-Policy")
	h.Del("Referrer-Policy")
}

// send answers with what was written.
func (c *checks) send(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	if len(c.answer) > 1<<10 { // net/http tells the length of less by itself
		w.Header().Set("Content-Length", strconv.Itoa(len(c.answer)))
	}
	w.WriteHeader(status)
	w.Write(c.answer) // the reader may be gone
}
