package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// BotSetup is what a channel's bot has, and what it lacks to enforce limits.
type BotSetup struct {
	// Token is the state of the token: live.Missing, live.Refused, live.Unchecked or live.Valid.
	Token   live.ConnectionState `json:"token"`
	Account string               `json:"account,omitempty"` // login of the bot's account; empty if unknown
	// Problem is one line for people about the token. It may be empty.
	Problem string `json:"problem,omitempty"`
	// Moderator says whether Twitch lets the bot moderate the channel.
	Moderator ModeratorState `json:"moderator"`
	// Command makes the bot a moderator if the channel's owner types it in the chat at ChatPage. It
	// is empty while the account is unknown.
	Command  string    `json:"command,omitempty"`
	ChatPage string    `json:"chat_page,omitempty"`
	Since    time.Time `json:"since"` // when chatguard was started
}

// ModeratorState says whether the bot is a moderator of a channel.
type ModeratorState string

// The states of a moderator.
const (
	ModeratorUnknown ModeratorState = "unknown" // Twitch was not asked yet
	ModeratorNo      ModeratorState = "no"
	ModeratorYes     ModeratorState = "yes" // a moderator, or the channel's own account
)

// StepName is a step of setting up a channel.
type StepName string

// The steps, in order.
const (
	StepConnect   StepName = "connect"   // the bot's account is logged in
	StepModerator StepName = "moderator" // the bot is a moderator
	StepWatch     StepName = "watch"     // chatguard has seen enough messages to judge the limits
	StepEnforce   StepName = "enforce"   // the policy enforces
)

// StepState says how far a step is.
type StepState string

// The states of a step.
const (
	StepToDo    StepState = "todo"
	StepDone    StepState = "done"
	StepRunning StepState = "running" // chatguard is doing it; nobody needs to act
	StepFailed  StepState = "failed"
)

// step is a step with its state.
type step struct {
	Name  StepName  `json:"name"`
	State StepState `json:"state"`
}

// channelSetup is the answer to GET /setup.
type channelSetup struct {
	Steps []step `json:"steps"`
	Done  bool   `json:"done"` // whether all steps are done
	BotSetup
	live.Seen
	Mode    chatguard.Mode `json:"mode"`     // the stated mode
	InForce chatguard.Mode `json:"in_force"` // the mode after overlays, such as a pause
}

// enoughSeen is the number of messages after which a person can judge the limits.
const enoughSeen = 100

// setups answers requests about setting up channels.
type setups struct {
	guard *chatguard.Guard
	model *live.Model
	// of returns what a channel's bot has; nil if there is no bot on Twitch. An empty ID stands for
	// the first channel of the configuration, whose ID is not known yet.
	of func(channelID string) (BotSetup, bool)
}

// get is GET /setup?channel=. Without a channel it is about the first one, whose ID may be unknown.
func (h *setups) get(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	if h.of == nil {
		return errNoBot()
	}
	id := r.URL.Query().Get("channel")
	if all := h.model.Channels(); id == "" && len(all) > 0 {
		id = all[0].ID
	}
	bot, ok := h.of(id)
	if !ok {
		return errNoBot()
	}
	s := channelSetup{
		BotSetup: bot, Seen: h.model.Seen(id), Mode: h.guard.ChannelPolicy(id).Mode, InForce: inner.Of(h.guard).Mode(id),
	}
	s.Steps, s.Done = s.steps()
	return problem.WriteJSON(w, s)
}

// errNoBot returns the problem for a channel that has no bot on Twitch.
func errNoBot() error {
	return problem.New(http.StatusNotImplemented, "There is no bot on Twitch to set up here.")
}

// steps returns the steps with their states, and whether all are done.
func (s *channelSetup) steps() (all []step, done bool) {
	all = []step{{StepConnect, s.connect()}, {StepModerator, s.moderate()}, {StepWatch, s.watch()}, {StepEnforce, s.enforce()}}
	return all, !slices.ContainsFunc(all, func(s step) bool { return s.State != StepDone })
}

func (s *channelSetup) connect() StepState {
	switch s.Token {
	case live.Missing:
		return StepToDo
	case live.Refused:
		return StepFailed
	case live.Unchecked:
		return StepRunning
	}
	return StepDone
}

func (s *channelSetup) moderate() StepState {
	switch {
	case s.Moderator == ModeratorYes:
		return StepDone
	case s.Moderator == ModeratorUnknown && s.connect() == StepDone:
		return StepRunning
	}
	return StepToDo
}

func (s *channelSetup) watch() StepState {
	if s.Messages >= enoughSeen || s.Mode == chatguard.ModeEnforce {
		return StepDone
	}
	return StepRunning
}

func (s *channelSetup) enforce() StepState {
	if s.Mode == chatguard.ModeEnforce {
		return StepDone
	}
	return StepToDo
}
