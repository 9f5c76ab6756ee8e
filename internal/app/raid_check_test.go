//go:build !race

package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/journal"
)

// checkActs checks that Twitch had to refuse nothing, that the bot acted on raiders only, and that
// it did nothing twice. It acts on each of a few raiders.
func (r *raid) checkActs() {
	for _, request := range r.server.Requests() {
		if request.Status == http.StatusTooManyRequests {
			r.Errorf("%s %s was refused: too many requests", request.Method, request.Path)
		}
	}
	deleted := map[string]bool{}
	for _, d := range r.server.Deletes() {
		if deleted[d.Message.ID] {
			r.Errorf("%s's message was deleted twice", d.Message.Login)
		}
		deleted[d.Message.ID] = true
		r.noteAct("deleted a message of", d.Message.UserID, d.At)
	}
	r.checkSanctions("silenced", r.server.Bans())
	r.checkSanctions("warned", r.server.Warnings())
	for userID := range r.excess {
		if _, acted := r.acted[userID]; !acted && r.raiders <= 250 {
			r.Errorf("%s was never acted on", r.logins[userID])
		}
	}
}

// checkSanctions checks that nobody was timed out, banned or warned again before the end.
func (r *raid) checkSanctions(what string, given []faketwitch.Sanction) {
	until := map[string]time.Time{}
	for _, s := range given {
		if s.At.Before(until[s.UserID]) {
			r.Errorf("%s was %s again", r.logins[s.UserID], what)
		}
		if until[s.UserID] = s.At.Add(s.Length); s.Length == 0 {
			until[s.UserID] = s.At.Add(time.Hour)
		}
		r.noteAct(what, s.UserID, s.At)
	}
}

func (r *raid) noteAct(what, userID string, at time.Time) {
	if login := r.logins[userID]; !strings.HasPrefix(login, "raider") {
		r.Errorf("%s %s, who was calm", what, login)
	}
	took := at.Sub(r.excess[userID])
	if earlier, known := r.acted[userID]; !known || took < earlier {
		r.acted[userID] = took
	}
}

// checkJournal checks each outcome and its reason.
func (r *raid) checkJournal() {
	wrong := map[string]int{}
	for _, e := range r.entries {
		_, there := r.server.Message(e.MessageID)
		o := e.Outcome
		switch {
		case o.Result == journal.Done && there,
			o.Result == journal.Done && o.Action < e.Penalty.Action && !strings.HasPrefix(o.Reason, "Twitch accepts no more "),
			o.Result == journal.Skipped && !r.isTrue(o.Reason),
			o.Result != journal.Done && o.Result != journal.Skipped:
			wrong[fmt.Sprintf("%s %s instead of %s: %q (can be seen: %v)", o.Action, o.Result, e.Penalty, o.Reason, there)]++
		}
	}
	for what, n := range wrong {
		r.Errorf("the journal says %d times: %s", n, what)
	}
}

// isTrue reports whether a reason to skip a penalty is true in this raid: Twitch answers quickly,
// and takes 780 requests of penalties at once.
func (r *raid) isTrue(reason string) bool {
	switch reason {
	case "too late: the request budget is used up":
		return len(r.server.Requests()) > 780
	case "queue full":
		return r.raiders > 250
	}
	return strings.HasPrefix(reason, "already gone: its author was ")
}

// logFigures logs the figures as a row of a table.
func (r *raid) logFigures() {
	var took []time.Duration
	for _, d := range r.acted {
		took = append(took, d)
	}
	slices.Sort(took)
	visible := 0
	for _, e := range r.entries {
		if _, there := r.server.Message(e.MessageID); there {
			visible++
		}
	}
	slow := "–"
	if r.slowMode == 0 {
		slow = "off"
	} else if modes := r.server.SlowModes(); len(modes) > 0 {
		first := slices.MinFunc(r.entries, func(a, b journal.Entry) int { return a.At.Compare(b.At) })
		slow = fmt.Sprintf("%.1f s", modes[0].At.Sub(first.At).Seconds())
	}
	r.Logf("| %d | `%s` | %s | %d of %d | %d, %d, %d | %.1f s | %d of %d |", r.raiders, r.ladder, slow,
		len(took), len(r.excess), len(r.server.Bans()), len(r.server.Warnings()), len(r.server.Deletes()),
		took[(len(took)-1)*95/100].Seconds(), visible, len(r.entries))
}
