package limits

import "time"

// plainPresent is the present as docs/limits.md describes it: the time that messages agree on.
type plainPresent struct {
	known bool
	now   int64
	odd   []plainMessage // the last messages in a row that contradict it
}

type plainMessage struct {
	at   int64
	user string
}

const aMinute = int64(time.Minute)

// hear hears a message and reports whether the present, afterwards, is certain.
func (p *plainPresent) hear(m plainMessage, ownClock bool) (certain bool) {
	switch {
	case p.known && m.at >= p.now-aMinute && m.at <= p.now+aMinute:
		if p.odd = nil; m.at-p.now >= aMinute/2 {
			p.now = m.at
		}
		return true
	case !p.known || ownClock:
		*p = plainPresent{known: true, now: m.at}
		return ownClock
	}
	latest := p.latestOdd()
	if len(p.odd) > 0 && ((latest > p.now) != (m.at > p.now) || latest-m.at > aMinute) {
		p.odd = nil
	}
	if p.odd = append(p.odd, m); p.isWrong() {
		*p = plainPresent{known: true, now: p.latestOdd()}
		return true
	}
	return false
}

func (p *plainPresent) latestOdd() (latest int64) {
	for _, m := range p.odd {
		latest = max(latest, m.at)
	}
	return latest
}

// isWrong reports whether the odd messages outvote the present.
func (p *plainPresent) isWrong() bool {
	if p.latestOdd() > p.now {
		return len(p.odd) == 2
	}
	users := map[string]bool{}
	for _, m := range p.odd {
		users[m.user] = true
	}
	took := p.latestOdd() - p.odd[0].at
	return len(p.odd) > 5 && (took >= aMinute || len(users) > 1 && took >= int64(10*time.Second))
}
