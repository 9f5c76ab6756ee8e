package lab

import (
	"encoding/json"
	"strconv"
	"time"
)

// MarshalJSON writes what AppendJSON appends.
func (s Step) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// AppendJSON appends the step's JSON. Waits are in milliseconds, rounded up; retry_after_ms is null
// if waiting never helps. Times are in milliseconds since 1970.
func (s *Step) AppendJSON(b []byte) []byte {
	b = strconv.AppendBool(append(b, `{"allowed":`...), s.Allowed)
	b = append(append(append(b, `,"limit":"`...), s.Limit...), '"') // letters, digits, - and _ only
	if s.Low {
		b = append(b, `,"priority":"low"`...)
	}
	b = append(b, `,"retry_after_ms":`...)
	if s.Never {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, ceilMillis(s.RetryAfter), 10)
	}
	b = strconv.AppendInt(append(b, `,"delay_ms":`...), ceilMillis(s.Delay), 10)
	b = append(b, `,"remaining":`...)
	if s.Remaining < 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(s.Remaining), 10)
	}
	b = appendTime(append(b, `,"reset_at":`...), s.ResetAt)
	if s.Picture != nil {
		b = append(append(b, `,"picture":`...), s.Picture...)
	}
	if s.Pictures != nil {
		b = append(append(b, `,"pictures":`...), s.Pictures...)
	}
	return append(b, '}')
}

// MarshalJSON writes what AppendJSON appends.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// AppendJSON appends the message's JSON.
func (m *Message) AppendJSON(b []byte) []byte {
	b = appendMillis(append(b, `{"at":`...), int64(m.At))
	b = appendText(append(b, `,"user_id":`...), m.UserID)
	if m.Login != "" {
		b = appendText(append(b, `,"login":`...), m.Login)
	}
	if len(m.Roles) > 0 {
		roles, _ := m.Roles.MarshalJSON() // a list of names can't fail
		b = append(append(b, `,"roles":`...), roles...)
	}
	if m.Cost != 0 {
		b = strconv.AppendInt(append(b, `,"cost":`...), int64(m.Cost), 10)
	}
	if !m.Print.IsZero() {
		text, _ := m.Print.MarshalText() // base64 can't fail
		b = append(append(append(b, `,"print":"`...), text...), '"')
	}
	if m.Emotes {
		b = append(b, `,"emotes":true`...)
	}
	if m.Text != "" {
		b = appendText(append(b, `,"text":`...), m.Text)
	}
	return append(b, '}')
}

// AppendJSON appends what json.Marshal writes, in a tenth of the time. It returns an *Error if that
// is more than MaxAnswer.
func (a *Answer) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	if len(a.Messages) > 0 {
		b = appendList(append(b, `"messages":`...), a.Messages, (*Message).AppendJSON)
		b = append(b, ',')
	}
	b = append(b, `"lanes":[`...)
	for i := range a.Lanes {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = a.Lanes[i].appendJSON(b); err != nil {
			return nil, err
		}
		if len(b) > MaxAnswer {
			return nil, errorf("the answer has more than %d MiB: send fewer messages or lanes, or no_steps", MaxAnswer>>20)
		}
	}
	b = append(b, ']')
	if a.Accuracy != nil {
		accuracy, err := json.Marshal(a.Accuracy)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"accuracy":`...), accuracy...)
	}
	if a.WithoutText > 0 {
		b = strconv.AppendInt(append(b, `,"without_text":`...), int64(a.WithoutText), 10)
	}
	return append(b, '}'), nil
}

// appendJSON appends the lane's JSON. There may be many steps, so they have their own encoder.
// json.Marshal encodes the rest.
func (l *LaneAnswer) appendJSON(b []byte) ([]byte, error) {
	steps := l.Steps
	rest := *l
	rest.Steps = nil
	data, err := json.Marshal(rest)
	if err != nil || len(steps) == 0 {
		return append(b, data...), err
	}
	b = append(b, data[:len(data)-1]...)
	b = appendList(append(b, `,"steps":`...), steps, (*Step).AppendJSON)
	return append(b, '}'), nil
}

// appendList appends the JSON of a list.
func appendList[T any](b []byte, list []T, appendOne func(*T, []byte) []byte) []byte {
	return appendEach(b, len(list), func(b []byte, i int) []byte { return appendOne(&list[i], b) })
}

// appendEach appends a JSON array of n elements, of which each call appends one.
func appendEach(b []byte, n int, each func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = each(b, i)
	}
	return append(b, ']')
}

// appendText appends a text as a JSON string.
func appendText(b []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // encoding a string can't fail
	return append(b, quoted...)
}

// ceilMillis rounds a wait up to milliseconds.
func ceilMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
