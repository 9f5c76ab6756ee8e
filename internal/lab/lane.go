package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/limitinfo"
)

// lane is a Lane with its policy, which is valid.
type lane struct {
	number       int // from 1
	name         string
	policy       chatguard.Policy
	roles        chatguard.Roles
	grants       []Grant
	bytesPerUser int64
}

// textLimit returns the lane's first limit on repeated text, or nil if there is none.
func (l *lane) textLimit() *chatguard.Limit {
	for i := range l.policy.Limits {
		if limit := &l.policy.Limits[i]; inner.IsText(limit.Per) {
			return limit
		}
	}
	return nil
}

// texts numbers the texts that the limits of a lane count. Each limit has its own numbers.
type texts struct {
	guard *chatguard.Guard
	seen  map[textKey]int
}

// textKey identifies a text in a limit. The user is empty if the limit counts the texts of all
// users together.
type textKey struct {
	limit string
	hash  [16]byte
	user  string
}

// number returns the number of a message's text in a limit that counts the message. It is 0 if the
// limit isn't on repeated text.
func (t *texts) number(l *chatguard.Limit, v *chatguard.Verdict) int {
	if !inner.IsText(l.Per) {
		return 0
	}
	hashes := inner.Of(t.guard).Hashes(v.Print)
	key := textKey{limit: l.Name, hash: hashes[0]}
	if l.Similar {
		key.hash = hashes[1]
	}
	if l.Per == chatguard.PerUserText {
		key.user = v.UserID
	}
	if t.seen[key] == 0 {
		t.seen[key] = len(t.seen) + 1
	}
	return t.seen[key]
}

// newLane checks a Lane, and returns it with its policy.
func newLane(number int, of Lane, timezone string) (*lane, error) {
	if len(of.Limits) > MaxLimits {
		return nil, errLimits(number, len(of.Limits))
	}
	l := &lane{number: number, name: of.Name, policy: chatguard.Policy{Timezone: timezone, Roles: rolesIn(of.Limits), Limits: named(of.Limits)}, roles: of.Roles, grants: of.Grants}
	for _, limit := range l.policy.Limits {
		alone := chatguard.Policy{Timezone: timezone, Roles: l.policy.Roles, Limits: []chatguard.Limit{limit}}
		if err := alone.Validate(); err != nil {
			mistake, ok := errors.AsType[*chatguard.PolicyError](err)
			if ok {
				mistake.Limit = "" // the Error names it
				err = mistake
			}
			return nil, &Error{Lane: number, Limit: clip(limit.Name), Text: err.Error(), Mistake: mistake}
		}
	}
	const many = 1_000_000
	bytes, err := limitinfo.Memory(l.policy, many)
	if err != nil {
		return nil, &Error{Lane: number, Text: strings.TrimPrefix(err.Error(), "chatguard: ")}
	}
	l.bytesPerUser = (bytes + many/2) / many
	if l.name == "" {
		l.name = nameOf(l.policy.Limits)
	}
	return l, l.checkGrants()
}

// rolesIn returns Twitch's roles, and then the other roles that have numbers in the limits, by
// name.
func rolesIn(limits []chatguard.Limit) []chatguard.Role {
	known := slices.Clone(roles.Twitch)
	for _, l := range limits {
		for _, role := range slices.Sorted(maps.Keys(l.Roles)) {
			if !slices.Contains(known, role) {
				known = append(known, role)
			}
		}
	}
	return known
}

// nameOf returns the text of a lane's limits.
func nameOf(limits []chatguard.Limit) string {
	var texts []string
	for _, l := range limits {
		texts = append(texts, Text(l))
	}
	if len(texts) == 0 {
		return "no limits"
	}
	return strings.Join(texts, " + ")
}

// checkMemory returns an error if the memory of a lane is too small for the users, or for the texts
// of that many messages.
func (l *lane) checkMemory(users, messages int) error {
	bytes, err := limitinfo.Memory(l.policy, users)
	if err == nil && bytes > maxMemory {
		return &Error{Lane: l.number, Text: fmt.Sprintf("%d users need %d MiB, and the Lab has %d MiB: use fewer users, or a smaller log", users, bytes>>20, maxMemory>>20)}
	}
	if err == nil {
		bytes, err = limitinfo.TextMemory(l.policy, messages)
	}
	if err == nil && bytes > maxMemory {
		return &Error{Lane: l.number, Text: fmt.Sprintf("the texts of %d messages need %d MiB, and the Lab has %d MiB: use fewer messages, or a smaller log", messages, bytes>>20, maxMemory>>20)}
	}
	return err
}

// withoutTexts returns an error if a limit of the lane is on repeated text, for what sends messages
// without a text.
func (l *lane) withoutTexts(what string) error {
	limit := l.textLimit()
	if limit == nil {
		return nil
	}
	return &Error{Lane: l.number, Limit: clip(limit.Name), Text: what + " sends messages without a text, which limits on repeated text don't count: use another per"}
}

// newGuard returns a new Guard with the lane's limits.
func (l *lane) newGuard() (*chatguard.Guard, error) {
	// The clock is never needed, because each message has a time.
	return chatguard.New(l.policy, &chatguard.Options{Now: func() time.Time { return start }})
}

// judgeAll judges messages in order and returns a step for each, and what became of the lane's
// grants. It adds the pictures to pictures, unless only figures are wanted.
func (l *lane) judgeAll(ctx context.Context, done *work, messages []chatguard.Message, move *Move, pictures *pages, onlyFigures bool) ([]Step, []Granted, error) {
	guard, err := l.newGuard()
	if err != nil {
		return nil, nil, err
	}
	each := pictureWork
	if onlyFigures {
		each = 1
	}
	steps := make([]Step, len(messages))
	moving := mover{move, guard, l.policy}
	same := texts{guard, map[textKey]int{}}
	granting := granter{guard: guard, limits: l.policy.Limits, due: l.grants}
	for i, m := range messages {
		if err := done.pause(ctx, i, each); err != nil {
			return nil, nil, err
		}
		m.User.Roles = append(slices.Clone(m.User.Roles), l.roles...)
		if err := moving.before(&m); err != nil {
			return nil, nil, err
		}
		if err := granting.before(ctx, m.SentAt); err != nil {
			return nil, nil, err
		}
		v, err := guard.Check(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		s := &steps[i]
		*s = Step{
			Allowed: v.Allowed, Limit: v.Limit, Low: v.Priority == chatguard.PriorityLow, RetryAfter: v.RetryAfter, Never: v.Never, Delay: v.Delay, late: v.Late,
			Remaining: v.Remaining, ResetAt: v.ResetAt,
		}
		if onlyFigures {
			continue
		}
		after, err := limitinfo.Explain(ctx, guard, m)
		if err != nil {
			return nil, nil, err
		}
		picture := func(b []byte, i int) []byte { return l.appendPicture(b, after.Limits, i, &same, &v) }
		switch {
		case len(after.Limits) == 0:
		case len(l.policy.Limits) == 1:
			s.Picture = pictures.add(func(b []byte) []byte { return picture(b, 0) })
		default:
			s.Pictures = pictures.add(func(b []byte) []byte { return appendEach(b, len(l.policy.Limits), picture) })
		}
		if pictures.size > maxPictures {
			return nil, nil, errorf("the states of all limits take more than %d MiB: send fewer messages, or fewer lanes or limits", maxPictures>>20)
		}
	}
	err = granting.rest(ctx)
	return steps, granting.made, err
}

// appendPicture appends the state of limit i after a message as JSON. That of a limit on repeated
// text is null if it didn't count the message.
func (l *lane) appendPicture(b []byte, states []limitinfo.Status, i int, same *texts, v *chatguard.Verdict) []byte {
	limit := &l.policy.Limits[i]
	for k := range states {
		if states[k].Name == limit.Name {
			return appendPicture(b, &states[k], limit.Every, same.number(limit, v))
		}
	}
	return append(b, "null"...)
}

// pages are texts that are made one after another, in few allocations.
type pages struct {
	last []byte
	size int // of all texts
}

// add adds the text that write appends, and returns it.
func (p *pages) add(write func([]byte) []byte) []byte {
	const size, room = 1 << 16, 1 << 12
	if cap(p.last)-len(p.last) < room {
		p.last = make([]byte, 0, size)
	}
	before := len(p.last)
	p.last = write(p.last)
	p.size += len(p.last) - before
	return p.last[before:len(p.last):len(p.last)]
}
