package host

import (
	"context"
	"errors"
	"sync"
)

// Run saves state in the background, notifies the followers of saved policies, and ends raid modes
// when their time is over, until ctx ends. Then it saves everything once more. The error says what
// is lost. End ctx after the last message is judged and the last change is made.
//
// Several callers may run a Host, at the same time or one after another: two dashboards of one
// store, for example. Run then returns nil when its ctx ends while another caller still runs the
// Host. The last caller to end saves everything.
func (h *Host) Run(ctx context.Context) error {
	h.begin(context.WithoutCancel(ctx))
	<-ctx.Done()
	return h.end()
}

// begin starts the background work for the first caller of Run.
func (h *Host) begin(ctx context.Context) {
	h.running.Lock()
	defer h.running.Unlock()
	if h.runs++; h.runs > 1 {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.work(ctx) }()
	h.finish = func() error { stop(); return <-ended }
}

// end finishes the background work for the last caller of Run. It keeps a new caller waiting until
// everything is saved.
func (h *Host) end() error {
	h.running.Lock()
	defer h.running.Unlock()
	if h.runs--; h.runs > 0 {
		return nil
	}
	return h.finish()
}

// work does what Run describes, once for all callers, until ctx ends.
func (h *Host) work(ctx context.Context) error {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	written := make(chan error, 1)
	go func() { written <- h.Store.Run(writing, h.kept) }()
	var settling sync.WaitGroup
	settling.Go(func() { h.Policies.Run(ctx, h.Database) })
	settling.Go(func() { h.Policies.Shared.Run(ctx) })
	err := h.Controls.Raids.Run(ctx)
	settling.Wait()
	stop()
	return errors.Join(err, <-written)
}
