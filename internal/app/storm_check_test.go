package app_test

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// hasFault reports whether such returns true for one of the storm's faults.
func (s *storm) hasFault(such func(fault) bool) bool { return slices.ContainsFunc(s.faults, such) }

// checkJournal checks that each throttled message is in the journal once, with a true outcome or a
// reason.
func (s *storm) checkJournal() {
	known, asked := map[string]bool{}, s.deleteAnswers()
	for _, e := range s.entries {
		if known[e.MessageID] {
			s.fail("message %s stands in the journal twice", e.MessageID)
		}
		known[e.MessageID] = true
		_, there := s.server.Message(e.MessageID)
		switch o := e.Outcome; {
		case o.Result == journal.Pending:
			s.fail("nothing was reported of %s's message %s", e.Login, e.MessageID)
		case (o.Result == journal.Failed || o.Result == journal.Unknown || o.Result == journal.Skipped) && o.Reason == "":
			s.fail("%s's message %s: %s for no reason", e.Login, e.MessageID, o.Result)
		case o.Result == journal.Done && o.Action != chatguard.ActionTimeout && len(asked[e.MessageID]) == 0:
			s.fail("the delete of %s's message %s was never asked for, but the journal says: %s %s", e.Login, e.MessageID, o.Action, o.Reason)
		case (o.Result == journal.Done || strings.HasSuffix(o.Reason, wasDeleted)) && there && !slices.Contains(asked[e.MessageID], http.StatusNotFound):
			// this is no error if Twitch answered that the message is gone
			s.fail("%s's message %s can be seen, but the journal says: %s %s", e.Login, e.MessageID, o.Action, o.Reason)
		case o.Result == journal.Skipped && strings.HasPrefix(o.Reason, "already") && there:
			s.fail("%s's message %s can be seen, but the journal says: %s", e.Login, e.MessageID, o.Reason)
		}
	}
	if s.hasFault(func(f fault) bool { return f.reorders }) {
		return
	}
	for id := range s.throttledMessages() {
		if !known[id] {
			s.fail("%s's message %s was too much, and doesn't stand in the journal", s.said[id].by.login, id)
		}
		delete(known, id)
	}
	for id := range known {
		s.fail("%s's message %s was fine, and stands in the journal", s.said[id].by.login, id)
	}
}

// deleteAnswers returns the answers to all delete requests, by message.
func (s *storm) deleteAnswers() map[string][]int {
	asked := map[string][]int{}
	for _, r := range s.server.Requests() {
		if r.Method == http.MethodDelete && r.Path == "/helix/moderation/chat" {
			id := r.Query.Get("message_id")
			asked[id] = append(asked[id], r.Status)
		}
	}
	return asked
}

// throttledMessages returns the messages beyond the limit, computed with a simple token bucket of
// three messages and one more every four seconds.
func (s *storm) throttledMessages() map[string]bool {
	type bucket struct {
		tokens float64
		at     time.Time
	}
	precision := time.Millisecond // precision of IRC's times
	if s.config.Twitch.Transport == config.TransportEventSub {
		precision = time.Nanosecond
	}
	buckets, tooMuch := map[[2]string]bucket{}, map[string]bool{}
	for _, id := range s.sortedIDs() {
		u := s.said[id]
		if u.by.kind == staff {
			continue
		}
		key, at := [2]string{u.channel, u.by.login}, u.at.Truncate(precision)
		b, ok := buckets[key]
		if !ok {
			b.tokens = 3
		} else {
			b.tokens = min(3, b.tokens+at.Sub(b.at).Seconds()/4)
		}
		b.at = at
		if b.tokens >= 1-1e-9 {
			b.tokens--
		} else {
			tooMuch[id] = true
		}
		buckets[key] = b
	}
	return tooMuch
}

// sortedIDs returns the IDs of the messages, in order of time.
func (s *storm) sortedIDs() []string {
	ids := make([]string, 0, len(s.said))
	for id := range s.said {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// checkActs checks that every action is in the journal and none is repeated.
func (s *storm) checkActs() {
	due := map[string]journal.Entry{}
	timeouts := map[[2]string]int{}
	unheard := s.hasFault(func(f fault) bool { return f.unheard })
	for _, e := range s.entries {
		due[e.MessageID] = e
		tried := e.Outcome.Action == chatguard.ActionTimeout && (e.Outcome.Result == journal.Done || e.Outcome.Result == journal.Failed || e.Outcome.Result == journal.Unknown)
		if tried || unheard && strings.HasSuffix(e.Outcome.Reason, onlyDeleted) { // Twitch denied it each time
			timeouts[[2]string{e.ChannelID, e.UserID}]++
		}
	}
	deleted := map[string]int{}
	for _, d := range s.server.Deletes() {
		deleted[d.Message.ID]++
		if o := due[d.Message.ID].Outcome; !tellsDelete(o) || deleted[d.Message.ID] > 1 {
			s.fail("%s's message was deleted (%d times), but the journal says %v", d.Message.Login, deleted[d.Message.ID], o)
		}
	}
	given := map[[2]string]int{}
	for _, b := range s.server.Bans() {
		key := [2]string{b.ChannelID, b.UserID}
		given[key]++
		if b.Length == 0 {
			s.fail("user %s was banned for good", b.UserID)
		}
	}
	for key, n := range given {
		if timeouts[key] == 0 || n > timeouts[key] && !unheard {
			s.fail("user %s in %s was timed out %d times, for %d messages", key[1], key[0], n, timeouts[key])
		}
	}
	if cleared := s.server.Clears(); len(cleared) > 0 {
		s.fail("whole chats were cleared: %v", cleared)
	}
}

// The ends of the journal's reason if a message was deleted because its penalty may have been
// carried out, or failed.
const (
	wasDeleted  = "; the message was deleted"
	onlyDeleted = "; the message was only deleted"
)

// tellsDelete reports whether an outcome says that the message was deleted, or that this was tried.
func tellsDelete(o journal.Outcome) bool {
	if o.Result == journal.Skipped {
		return false
	}
	return o.Action == chatguard.ActionDelete || o.Action == penalties.Warn ||
		strings.HasSuffix(o.Reason, wasDeleted) || strings.Contains(o.Reason, "; deleting the message failed")
}

// checkLadder checks that no action is harder than the hardest penalty on the ladder.
func (s *storm) checkLadder() {
	var strongest chatguard.Penalty
	for _, rung := range s.config.Policy.Penalties.Ladder {
		if harder := penalties.Rank(rung.Action) - penalties.Rank(strongest.Action); harder > 0 || harder == 0 && rung.Duration > strongest.Duration {
			strongest = rung
		}
	}
	isHarder := func(a chatguard.Action) bool { return penalties.Rank(a) > penalties.Rank(strongest.Action) }
	for _, b := range s.server.Bans() {
		if isHarder(chatguard.ActionTimeout) || b.Length == 0 && isHarder(chatguard.ActionBan) || b.Length > strongest.Duration && strongest.Action == chatguard.ActionTimeout {
			s.fail("user %s was silenced for %s, but the strongest penalty is %s", b.UserID, b.Length, strongest)
		}
	}
	if warned := s.server.Warnings(); len(warned) > 0 && isHarder(penalties.Warn) {
		s.fail("%d warnings, but the strongest penalty is %s", len(warned), strongest)
	}
	for _, e := range s.entries {
		if isHarder(e.Outcome.Action) {
			s.fail("the journal says %s of %s's message %s, but the strongest penalty is %s", e.Outcome.Action, e.Login, e.MessageID, strongest)
		}
	}
}

// checkStaff checks that no message of moderators, the broadcaster or the bot is removed.
func (s *storm) checkStaff() {
	for id, u := range s.said {
		if _, there := s.server.Message(id); u.by.kind == staff && !there {
			s.fail("message %s of %s, who keeps order, is gone", id, u.by.login)
		}
	}
	for _, m := range s.server.Sent() {
		if _, there := s.server.Message(m.MessageID); !there {
			s.fail("the bot's own message %q is gone", m.Text)
		}
	}
	for _, e := range s.entries {
		if s.said[e.MessageID].by.kind == staff {
			s.fail("%s keeps order, and stands in the journal", e.Login)
		}
	}
}

// checkRequests checks that the bot respects Helix's budget, and repeats no request with a final
// answer.
func (s *storm) checkRequests() {
	var busy int64
	for _, r := range s.server.Requests() {
		if r.Status == http.StatusTooManyRequests {
			busy++
		}
	}
	for id, answers := range s.deleteAnswers() {
		final := slices.IndexFunc(answers, isFinal)
		if final >= 0 && final < len(answers)-1 && !s.hasFault(func(f fault) bool { return f.unheard }) {
			s.fail("a delete of %s was asked for again, after %d", id, answers)
		}
	}
	if ours := s.busy.Load(); busy != ours && !s.hasFault(func(f fault) bool { return f.limited }) {
		s.fail("Helix refused %d requests because there were too many", busy-ours)
	}
}

// isFinal reports whether an answer to a delete means that asking again can't help.
func isFinal(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusNotFound, http.StatusBadRequest, http.StatusForbidden:
		return true
	}
	return false
}

// checkMessages checks that the bot repeats no message. Unless a fault delays requests, Twitch must
// not drop any of its messages.
func (s *storm) checkMessages() {
	said := map[string]faketwitch.Request{}
	taken := 0
	for _, r := range s.server.Requests() {
		if r.Method != http.MethodPost || r.Path != "/helix/chat/messages" {
			continue
		}
		if before, again := said[r.Body]; again && before.Status != http.StatusUnauthorized {
			s.fail("%s was said again %s after it was answered with %d", r.Body, r.At.Sub(before.At), before.Status)
		}
		said[r.Body] = r
		if r.Status == http.StatusOK {
			taken++
		}
	}
	if sent := len(s.server.Sent()); taken > sent && !s.hasFault(func(f fault) bool { return f.holdsUp }) {
		s.fail("Twitch dropped %d of the bot's messages", taken-sent)
	}
}

// Twitch's limits for lines sent to the chat.
const (
	linesPerPeriod = 20
	linePeriod     = 10 * time.Second
)

// checkLines checks that the bot logs in and joins no faster than Twitch allows, sends messages
// only over Helix, and sends nothing to EventSub.
func (s *storm) checkLines() {
	var joins, logins []time.Time
	for _, r := range s.server.Received() {
		switch command, params, _ := strings.Cut(r.Line, " "); command {
		case "JOIN":
			for range strings.Count(params, ",") + 1 {
				joins = append(joins, r.At)
			}
		case "NICK":
			logins = append(logins, r.At)
		case "PRIVMSG":
			s.fail("the bot spoke over IRC: %s", r.Line)
		}
	}
	for what, times := range map[string][]time.Time{"joined": joins, "logged in": logins} {
		for i := linesPerPeriod; i < len(times); i++ {
			if span := times[i].Sub(times[i-linesPerPeriod]); span < linePeriod {
				s.fail("it %s %d times within %s", what, linesPerPeriod+1, span)
			}
		}
	}
	if closes := s.server.EventSubCloses(); slices.Contains(closes, 4001) {
		s.fail("it sent something to EventSub, which closed with 4001")
	}
}
