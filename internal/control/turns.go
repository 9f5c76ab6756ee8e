package control

import (
	"context"
	"sync"

	"github.com/chatguard/chatguard"
)

// turns makes changes of the same user wait for each other. Those of other users don't wait,
// because a change may take as long as a shared store needs to answer. The zero value is ready to
// use. It is safe for concurrent use.
type turns struct {
	mu sync.Mutex
	of map[chatguard.Key]*turn
}

// turn belongs to one user.
type turn struct {
	taken  chan struct{} // full while somebody has the turn
	wanted int           // by how many, with the one who has it; guarded by turns.mu
}

// take waits until nobody else changes the user. The caller must call end after its change. If the
// context ends first, take returns the context's error.
func (t *turns) take(ctx context.Context, user chatguard.Key) (end func(), err error) {
	one := t.want(user)
	select {
	case one.taken <- struct{}{}: // even if the context has ended
	default:
		select {
		case one.taken <- struct{}{}:
		case <-ctx.Done():
			t.leave(user, one)
			return nil, ctx.Err()
		}
	}
	return func() {
		<-one.taken
		t.leave(user, one)
	}, nil
}

func (t *turns) want(user chatguard.Key) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[chatguard.Key]*turn{}
	}
	one := t.of[user]
	if one == nil {
		one = &turn{taken: make(chan struct{}, 1)}
		t.of[user] = one
	}
	one.wanted++
	return one
}

func (t *turns) leave(user chatguard.Key, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.wanted--; one.wanted == 0 {
		delete(t.of, user)
	}
}
