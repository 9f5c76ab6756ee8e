package lab

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
)

// Kind is a kind of traffic.
type Kind string

// The kinds of traffic.
const (
	Steady  Kind = "steady"  // one message per Every
	Bursts  Kind = "bursts"  // Size messages at once, once per Every
	Poisson Kind = "poisson" // PerMinute messages of each of the Users, at random times
	// Eager is one sender per lane who sends each message as soon as the lane's limits allow it.
	Eager Kind = "eager"
	// Chat is People who each write one message per Every, and spammers who together write one per
	// SpamEvery.
	Chat Kind = "chat"
	// Recorded is the traffic of a channel. The caller of Run must replace it with its messages.
	Recorded Kind = "recorded"
)

// Traffic describes messages. Each kind uses some of the fields.
type Traffic struct {
	Kind Kind `json:"kind"`
	// From is when the traffic starts; the zero time means the start of 2026 in UTC.
	From time.Time `json:"from,omitzero"`
	For  Duration  `json:"for,omitempty"` // 0 means ten minutes; not used by eager traffic

	Every     Duration `json:"every,omitempty"`
	Size      int      `json:"size,omitempty"`
	PerMinute float64  `json:"per_minute,omitempty"` // of each user, on average
	Seed      uint64   `json:"seed,omitempty"`       // equal seeds make equal traffic
	Users     int      `json:"users,omitempty"`      // 0 means 1
	People    int      `json:"people,omitempty"`
	SpamEvery Duration `json:"spam_every,omitempty"` // 0 means no spammer
	Spammers  int      `json:"spammers,omitempty"`   // write in turn; 0 means 1
	// Lines are the texts that the people of a chat write in turn, and SpamLines those of the
	// spammers. If they are empty, messages have no texts.
	Lines     []string `json:"lines,omitempty"`
	SpamLines []string `json:"spam_lines,omitempty"`

	// Push is the plan of an eager sender.
	Push

	// Channel, UserID, Busiest and Last describe recorded traffic: the messages of a channel or of
	// one user. The traffic begins at From and lasts For, or is the busiest stretch of the length
	// Busiest, or the stretch of the length Last that ends with the last message. UserID is an ID,
	// or a login in any case; messages that match either belong to the user.
	Channel string   `json:"channel,omitempty"`
	UserID  string   `json:"user_id,omitempty"`
	Busiest Duration `json:"busiest,omitempty"`
	Last    Duration `json:"last,omitempty"`
}

// start is the start of traffic without From.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// maxPeople is the maximum number of people in a chat, and of users.
const maxPeople = 1000

// maxLines is the maximum number of texts of each kind in a chat, and maxLine that of their bytes.
const maxLines, maxLine = 100, 500

// maxSpan is the maximum duration of traffic.
const maxSpan = 366 * 24 * time.Hour

// check fills in defaults. It returns an error for a field that is out of bounds, or missing
// although the kind needs it.
func (t *Traffic) check() error {
	if t.From.IsZero() {
		t.From = start
	}
	if t.For == 0 {
		t.For = Duration(10 * time.Minute)
	}
	t.Users = max(t.Users, 1)
	if at := t.From.UnixMilli(); at < 0 || at > maxMillis {
		return errorf("traffic: from is %s: use a time from 1970 to 2115", t.From.Format(time.RFC3339))
	}
	if time.Duration(t.For) > maxSpan {
		return errorf("traffic: for is %s: use 366d or less", durations.Format(time.Duration(t.For)))
	}
	needsEvery := t.Kind == Steady || t.Kind == Bursts || t.Kind == Chat
	switch {
	case needsEvery && t.Every < Duration(time.Microsecond):
		return errorf("traffic: %s needs every, such as \"20s\"", t.Kind)
	case t.Kind == Steady:
	case t.Kind == Bursts:
		return t.checkNumber("size", t.Size, MaxMessages)
	case t.Kind == Chat && 0 < t.SpamEvery && t.SpamEvery < Duration(time.Microsecond):
		return errorf("traffic: spam_every is %s: use 1µs or more", time.Duration(t.SpamEvery))
	case t.Kind == Chat:
		return t.checkChat()
	case t.Kind == Poisson && !(t.PerMinute > 0 && t.PerMinute <= 1e6):
		return errorf("traffic: poisson needs per_minute, more than 0 and at most 1,000,000")
	case t.Kind == Poisson:
		return t.checkNumber("users", t.Users, maxPeople)
	case t.Kind == Recorded:
		return errorf("traffic: there are no recorded messages here: start chatguard lab with a FILE, use a dashboard with a database, or send messages")
	default:
		return errorf("traffic: unknown kind %q: use steady, bursts, poisson, eager, chat or recorded", t.Kind)
	}
	return nil
}

// checkChat is check for the fields of a chat.
func (t *Traffic) checkChat() error {
	t.Spammers = max(t.Spammers, 1)
	isLong := func(line string) bool { return len(line) > maxLine }
	if len(t.Lines) > maxLines || len(t.SpamLines) > maxLines || slices.ContainsFunc(t.Lines, isLong) || slices.ContainsFunc(t.SpamLines, isLong) {
		return errorf("traffic: lines or spam_lines has too many or too long texts: use up to %d, of %d bytes each", maxLines, maxLine)
	}
	return cmp.Or(t.checkNumber("people", t.People, maxPeople), t.checkNumber("spammers", t.Spammers, maxPeople))
}

func (t *Traffic) checkNumber(name string, n, most int) error {
	if n < 1 || n > most {
		return errorf("traffic: %s needs %s, from 1 to %d, but it is %d", t.Kind, name, most, n)
	}
	return nil
}

// messages returns the messages of the traffic.
func (t *Traffic) messages() (list []Message, err error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	for m := range t.all() {
		if len(list) == MaxMessages {
			return nil, errorf("traffic: it has more than %d messages: shorten it with for, or make it slower", MaxMessages)
		}
		list = append(list, m)
	}
	return list, nil
}

// all returns the messages one after another. The traffic must have been checked.
func (t *Traffic) all() iter.Seq[Message] {
	switch t.Kind {
	case Bursts:
		return t.bursts(t.Size)
	case Poisson:
		return t.poisson
	case Chat:
		return t.chat
	}
	return t.bursts(1)
}

// end returns the time at which the traffic is over.
func (t *Traffic) end() Moment { return momentOf(t.From) + Moment(t.For) }

// bursts returns size messages at once, once per Every.
func (t *Traffic) bursts(size int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for at := momentOf(t.From); at < t.end(); at += Moment(t.Every) {
			for range size {
				if !yield(Message{At: at, UserID: "anna"}) {
					return
				}
			}
		}
	}
}

// poisson yields messages at independent random times.
func (t *Traffic) poisson(yield func(Message) bool) {
	random := rand.New(rand.NewPCG(t.Seed, 0))
	mean := float64(time.Minute) / t.PerMinute / float64(t.Users)
	for at := momentOf(t.From); ; {
		at += Moment(random.ExpFloat64() * mean)
		m := Message{At: at, UserID: "anna"}
		if t.Users > 1 {
			m.UserID = "user-" + strconv.Itoa(1+random.IntN(t.Users))
		}
		if at >= t.end() || !yield(m) {
			return
		}
	}
}

// chat yields the messages of people, spread evenly, and of the spammers.
func (t *Traffic) chat(yield func(Message) bool) {
	people, spammers := numbered("person", t.People), []string{"spammer"}
	if t.Spammers > 1 {
		spammers = numbered("spammer", t.Spammers)
	}
	person := func(n int) Moment { // when the nth message of all people is written
		return momentOf(t.From) + Moment(n/t.People)*Moment(t.Every) + Moment(n%t.People)*Moment(t.Every)/Moment(t.People)
	}
	spam, spammed := momentOf(t.From), 0
	for n := 0; ; {
		m := Message{At: person(n), UserID: inTurn(people, n), Text: inTurn(t.Lines, n)}
		if t.SpamEvery > 0 && spam < m.At {
			m = Message{At: spam, UserID: inTurn(spammers, spammed), Text: inTurn(t.SpamLines, spammed)}
			spam += Moment(t.SpamEvery)
			spammed++
		} else {
			n++
		}
		if m.At >= t.end() || !yield(m) {
			return
		}
	}
}

// numbered returns n user IDs that begin with a name.
func numbered(name string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = name + "-" + strconv.Itoa(i+1)
	}
	return ids
}

// inTurn returns the nth text if all are taken again and again. It is empty if there are none.
func inTurn(texts []string, n int) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[n%len(texts)]
}
