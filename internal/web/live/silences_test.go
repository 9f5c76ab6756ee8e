package live

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// knowingChat is a chat that knows one user's timeout or ban.
type knowingChat struct {
	mu    sync.Mutex
	knows journal.Silence
}

func (c *knowingChat) learn(s journal.Silence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.knows = s
}

func (c *knowingChat) silence(string, string) (journal.Silence, bool) {
	c.mu.Lock()
	s := c.knows
	c.mu.Unlock()
	runtime.Gosched() // others may report changes between the question and the use of its answer
	return s, true
}

// TestModel_SilencedAtOnce checks that the board has the last timeout or ban that the chat knows,
// if several changes of it are reported at once.
func TestModel_SilencedAtOnce(t *testing.T) {
	m, chat := newModel(t), &knowingChat{}
	m.opts.Controls = control.New(control.Options{Guard: m.opts.Guard, Policies: m.opts.Policies})
	m.opts.Controls.Join(control.Chat{Acts: control.Acts{Serves: func(string) bool { return true }, Silence: chat.silence}})
	now := m.opts.Guard.Now()
	for range 1000 {
		var reports sync.WaitGroup
		for _, s := range []journal.Silence{{Until: now.Add(time.Hour)}, {Banned: true}, {Until: now}, {Until: now.Add(2 * time.Hour)}} {
			reports.Go(func() {
				chat.learn(s)
				m.Silenced(channelID, "a", "")
			})
		}
		reports.Wait()
		r, _ := m.board.find(channelID, "a")
		known, _ := chat.silence("", "")
		if shown := r.Silenced; known.IsInForce(now) != (shown != nil) || shown != nil && (shown.Banned != known.Banned || !shown.Until.Equal(known.Until)) {
			t.Fatalf("shown %+v, known %+v", shown, known)
		}
	}
}
