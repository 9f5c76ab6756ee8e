package check

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// checkedBatch is the body of POST /check/batch. Messages is nil if there is no list.
type checkedBatch[T any] struct {
	Messages batchOf[T] `json:"messages"`
}

// batchOf is the list of a batch, with at most MaxBatch elements.
type batchOf[T any] []T

// UnmarshalJSONFrom reads a list. It returns an error at the first element beyond MaxBatch, without
// reading the rest.
func (m *batchOf[T]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	switch from.PeekKind() {
	case '[':
	case 'n':
		return from.SkipValue()
	default:
		return errWrongKind[batchOf[T]](from)
	}
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	*m = batchOf[T]{}
	for from.PeekKind() != ']' {
		if len(*m) == MaxBatch {
			return problem.New(http.StatusUnprocessableEntity, "A batch has at most %d messages: send the rest in another batch.", MaxBatch)
		}
		*m = append(*m, *new(T))
		if err := json.UnmarshalDecode(from, &(*m)[len(*m)-1]); err != nil {
			return err
		}
	}
	_, err := from.ReadToken()
	return err
}

// CheckBatch is POST /check/batch. A message that can't be judged has an error in the place of its
// verdict.
func (k *Checker) CheckBatch(w http.ResponseWriter, r *http.Request, holder string) error {
	c := scratchPool.Get().(*scratch)
	defer c.free()
	if err := k.readBatch(w, r, c); err != nil {
		return err
	}
	k.openChannels(c, holder)
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

// readBatch reads the messages of a batch.
func (k *Checker) readBatch(w http.ResponseWriter, r *http.Request, c *scratch) error {
	if err := c.readBody(w, r); err != nil {
		return err
	}
	var read checkedBatch[checkedMessage]
	if err := readObject(c.body.Bytes(), &read, strict); err != nil {
		return k.readEach(c, problem.Unread(err))
	}
	if read.Messages == nil {
		return problem.New(http.StatusUnprocessableEntity, "messages is missing: it is a list of messages in the form of POST /check.")
	}
	for i := range read.Messages {
		k.addMessage(c, &read.Messages[i])
	}
	return nil
}

// readEach reads the messages of a batch one by one, because not all of them can be read. whole is
// the error from reading the batch as a whole.
func (k *Checker) readEach(c *scratch, whole error) error {
	var read checkedBatch[jsontext.Value]
	if readObject(c.body.Bytes(), &read, strict) != nil || read.Messages == nil {
		return whole
	}
	for _, data := range read.Messages {
		var m checkedMessage
		if err := readObject(data, &m, strict); err != nil {
			c.add(chatguard.Message{}, err)
		} else {
			k.addMessage(c, &m)
		}
	}
	return nil
}
