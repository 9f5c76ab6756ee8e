package chat

// queue adds a channel to the turns if it can begin another task, or else removes it. It also wakes
// run. The caller holds mu.
func (b *backlog) queue(l *channelQueue) {
	switch may := l.mayBegin(b.bot.options.Workers); {
	case may && l.turn == nil:
		l.turn = b.turns.PushBack(l)
	case !may && l.turn != nil:
		b.turns.Remove(l.turn)
		l.turn = nil
	}
	WakeUp(b.wake)
}

// mayBegin reports whether the channel can begin another task: a user is in its order, fewer than
// workers tasks are busy, and fewer than 2*workers are in progress. Idle tasks are in progress, but
// not busy.
func (l *channelQueue) mayBegin(workers int) bool {
	return l.order.Len() > 0 && l.inFlight-l.idle < workers && l.inFlight < 2*workers
}

// idle calls wait. Meanwhile, another penalty may take the task's place.
func (s *task) idle(why error, wait func() error) error {
	s.bot.backlog.setIdle(s, 1, why.Error())
	defer s.bot.backlog.setIdle(s, -1, "")
	return wait()
}

// setIdle adds n to the number of idle tasks, and sets why s waits.
func (b *backlog) setIdle(s *task, n int, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle += n
	s.channel.idle += n
	s.waitsFor = why
	b.queue(s.channel)
}
