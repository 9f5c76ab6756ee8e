package lab

import (
	"math"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
)

// maxLeaves is the maximum number of leaving times in a picture.
const maxLeaves = 32

// appendPicture appends the JSON of a limit's state. every is the time between two messages that
// leave its queue. text is the number of the message's text, or 0 if the limit isn't on repeated
// text.
func appendPicture(b []byte, s *limitinfo.Status, every time.Duration, text int) []byte {
	p := &s.Picture
	switch s.Algorithm {
	case chatguard.TokenBucket:
		b = appendFloat(append(b, `{"tokens":`...), p.Tokens)
	case chatguard.Cascade:
		b = appendFloat(append(b, `{"tokens":`...), p.Tokens)
		b = appendFloat(append(b, `,"extra_tokens":`...), p.ExtraTokens)
	case chatguard.LeakyBucket:
		b = strconv.AppendInt(append(b, `{"waiting":`...), int64(p.Count), 10)
		b = appendEach(append(b, `,"leaves":`...), min(p.Count, maxLeaves), func(b []byte, i int) []byte {
			return appendMillis(b, p.First.UnixNano()+int64(i)*int64(every))
		})
	case chatguard.SlidingWindow:
		b = appendWindow(b, p)
		b = strconv.AppendInt(append(b, `,"previous":`...), int64(p.Previous), 10)
		b = strconv.AppendInt(append(b, `,"current":`...), int64(p.Count), 10)
		b = appendFloat(append(b, `,"weight":`...), p.Weight)
		b = appendFloat(append(b, `,"estimate":`...), float64(p.Previous)*p.Weight+float64(p.Count))
		if p.Slices != nil {
			b = appendEach(append(b, `,"slices":`...), len(p.Slices), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(p.Slices[i]), 10) })
		}
	case chatguard.SlidingLog:
		b = strconv.AppendInt(append(b, `{"times":`...), int64(p.Count), 10)
		b = appendTime(append(b, `,"oldest":`...), p.First)
	default:
		b = strconv.AppendInt(append(appendWindow(b, p), `,"count":`...), int64(p.Count), 10)
	}
	if s.Granted > 0 {
		b = strconv.AppendInt(append(b, `,"granted":`...), int64(s.Granted), 10)
	}
	if text > 0 {
		b = strconv.AppendInt(append(b, `,"text_number":`...), int64(text), 10)
	}
	return append(b, '}')
}

// appendWindow appends the bounds of a window, without the closing brace.
func appendWindow(b []byte, p *limitinfo.Picture) []byte {
	b = appendTime(append(b, `{"from":`...), p.From)
	return appendTime(append(b, `,"until":`...), p.Until)
}

// appendTime appends a time in milliseconds, or null for the zero time.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return appendMillis(b, t.UnixNano())
}

// appendFloat appends a number with six decimal places at most.
func appendFloat(b []byte, f float64) []byte {
	return strconv.AppendFloat(b, math.Round(f*1e6)/1e6, 'f', -1, 64)
}
