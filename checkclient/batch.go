package checkclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chatguard/chatguard"
)

// Limits of one batch: messages, and bytes of its JSON.
const (
	maxBatch     = 1000
	maxBatchSize = 1 << 20
)

const batchBegin, batchEnd = `{"messages":[`, `]}`

// CheckAll asks chatguard to judge messages in order, and writes the verdict on messages[i] to
// verdicts[i]. It sends batches of up to 1,000 messages and 1 MiB, one after another, each with its
// own time-out. If chatguard doesn't answer, the messages of that batch and all later ones get the
// verdict that Check returns then, and CheckAll sends no more requests. It panics if verdicts is
// shorter than messages.
//
// A message that can't be judged gets the zero Verdict, and the others get theirs. After an error
// of a whole request, CheckAll stops, and the messages without a verdict get the zero Verdict. The
// returned error joins all errors.
func (c *Client) CheckAll(ctx context.Context, messages []chatguard.Message, verdicts []chatguard.Verdict) error {
	if len(verdicts) < len(messages) {
		panic("checkclient: CheckAll with fewer verdicts than messages")
	}
	clear(verdicts[:len(messages)])
	b := batch{client: c, messages: messages, verdicts: verdicts}
	var waiting []encoded
	size := len(batchBegin + batchEnd)
	for i := range messages {
		data, err := encode(messages[i], false)
		if err != nil {
			b.fail(i, err)
			continue
		}
		if len(waiting) == maxBatch || size+len(data) > maxBatchSize {
			if !b.send(ctx, waiting) {
				return errors.Join(b.errs...)
			}
			waiting, size = waiting[:0], len(batchBegin+batchEnd)
		}
		waiting = append(waiting, encoded{i, data})
		size += len(data) + len(",")
	}
	b.send(ctx, waiting)
	return errors.Join(b.errs...)
}

// encoded is the index of a message and its JSON.
type encoded struct {
	index int
	data  []byte
}

// batch sends messages together and collects their verdicts and errors.
type batch struct {
	client   *Client
	messages []chatguard.Message
	verdicts []chatguard.Verdict
	errs     []error
	down     bool // chatguard doesn't answer
}

func (b *batch) fail(i int, err error) {
	b.errs = append(b.errs, fmt.Errorf("message %d: %w", i, err))
}

// send sends messages and writes their verdicts. It returns false if the later messages must not be
// sent.
func (b *batch) send(ctx context.Context, part []encoded) bool {
	if len(part) == 0 {
		return true
	}
	var err error
	if !b.down {
		err = b.ask(ctx, part)
		b.down = b.client.failsOpen(err)
	}
	switch {
	case b.down:
		for _, m := range part {
			b.verdicts[m.index] = b.client.unchecked(b.messages[m.index])
		}
	case err != nil:
		b.errs = append(b.errs, fmt.Errorf("from message %d on: %w", part[0].index, err))
		return false
	}
	return true
}

// ask sends messages in one request and writes the verdicts of its answer.
func (b *batch) ask(ctx context.Context, part []encoded) error {
	body := []byte(batchBegin)
	for i, m := range part {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, m.data...)
	}
	return b.client.ask(ctx, "/check/batch", append(body, batchEnd...), func(answer []byte) error { return b.decode(answer, part) })
}

// decode decodes the answer to a batch.
func (b *batch) decode(answer []byte, part []encoded) error {
	var in struct {
		Verdicts []json.RawMessage `json:"verdicts"`
	}
	if err := json.Unmarshal(answer, &in); err != nil {
		return err
	}
	if len(in.Verdicts) != len(part) {
		return fmt.Errorf("%d verdicts on %d messages", len(in.Verdicts), len(part))
	}
	for j, m := range part {
		if err := b.decodeOne(in.Verdicts[j], m.index); err != nil {
			return err
		}
	}
	return nil
}

// decodeOne decodes the verdict on a message, or the error in its place.
func (b *batch) decodeOne(answer []byte, index int) (err error) {
	var failed struct {
		Error *Error `json:"error"`
	}
	if err := json.Unmarshal(answer, &failed); err != nil {
		return err
	}
	if failed.Error != nil {
		b.fail(index, failed.Error)
		return nil
	}
	b.client.warnUnknown(answer)
	_, b.verdicts[index], err = decodeChecked(answer, b.messages[index], false)
	return err
}
