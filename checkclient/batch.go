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
// verdict that Check returns then, and CheckAll asks no more. It panics if verdicts is shorter than
// messages.
//
// A message that can't be judged gets the zero Verdict. After an *Error or an error of ctx, CheckAll
// stops, and the messages without a verdict get the zero Verdict. The returned error joins all
// errors.
func (c *Client) CheckAll(ctx context.Context, messages []chatguard.Message, verdicts []chatguard.Verdict) error {
	if len(verdicts) < len(messages) {
		panic("checkclient: CheckAll with fewer verdicts than messages")
	}
	clear(verdicts[:len(messages)])
	b := batch{client: c, messages: messages, verdicts: verdicts}
	var errs []error
	for i := range messages {
		data, err := encode(messages[i], false)
		if err != nil {
			errs = append(errs, fmt.Errorf("message %d: %w", i, err))
			continue
		}
		if len(b.places) == maxBatch || len(b.body)+len(data)+len(","+batchEnd) > maxBatchSize {
			if err := b.send(ctx); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
		b.add(i, data)
	}
	if err := b.send(ctx); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// batch collects messages and sends them together.
type batch struct {
	client   *Client
	messages []chatguard.Message
	verdicts []chatguard.Verdict
	body     []byte
	places   []int // indexes of the messages in body
	down     bool  // chatguard doesn't answer
}

// add adds the message with that index and JSON.
func (b *batch) add(i int, data []byte) {
	if len(b.places) == 0 {
		b.body = []byte(batchBegin)
	} else {
		b.body = append(b.body, ',')
	}
	b.body, b.places = append(b.body, data...), append(b.places, i)
}

// send sends the collected messages and writes their verdicts.
func (b *batch) send(ctx context.Context) error {
	if len(b.places) == 0 {
		return nil
	}
	if !b.down {
		err := b.client.ask(ctx, "/check/batch", append(b.body, batchEnd...), b.decode)
		if b.down = b.client.failsOpen(err); err != nil && !b.down {
			return fmt.Errorf("the batch from message %d on: %w", b.places[0], err)
		}
	}
	if b.down {
		for _, i := range b.places {
			b.verdicts[i] = b.client.unchecked(b.messages[i])
		}
	}
	b.places, b.body = b.places[:0], nil // after a time-out, the transport may still be reading the old body
	return nil
}

// decode decodes the answer.
func (b *batch) decode(answer []byte) error {
	var in struct {
		Verdicts []chatguard.Verdict `json:"verdicts"`
	}
	if err := json.Unmarshal(answer, &in); err != nil {
		return err
	}
	if len(in.Verdicts) != len(b.places) {
		return fmt.Errorf("%d verdicts on %d messages", len(in.Verdicts), len(b.places))
	}
	for j, i := range b.places {
		b.verdicts[i] = in.Verdicts[j]
	}
	return nil
}
