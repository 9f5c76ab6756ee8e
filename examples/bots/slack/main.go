// Command slack is a bot that answers throttled messages in Slack's channels with the wait, which
// only their author sees. A bot may not delete messages of others. Slack sends messages to /events.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", "localhost:8000")
	if err != nil {
		log.Fatal(err)
	}
	b := bot{client: slack.New(os.Getenv("SLACK_TOKEN")), secret: os.Getenv("SLACK_SIGNING_SECRET")}
	if err := b.run(ctx, listener, "slack.db", nil); err != nil {
		log.Fatal(err)
	}
}

type bot struct {
	guard  *chatguard.Guard
	client *slack.Client
	secret string
	roles  map[string]chatguard.Roles // by user, as they were when the bot started
}

// run moderates until the context ends. Slack repeats events for a bot that is away, up to three
// times within about an hour.
func (b *bot) run(ctx context.Context, listener net.Listener, db string, opts *chatguard.Options) error {
	users, err := b.client.GetUsersContext(ctx)
	if err != nil {
		return err
	}
	b.roles = map[string]chatguard.Roles{}
	for _, u := range users {
		if u.IsAdmin {
			b.roles[u.ID] = chatguard.Roles{chatguard.RoleModerator}
		}
	}
	if b.guard, err = chatguard.New(chatguard.DefaultPolicy(), opts); err != nil {
		return err
	}
	store, err := sqlitestore.Open(ctx, db, b.guard, nil)
	if err != nil {
		return err
	}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	saved := make(chan error, 1)
	go func() { saved <- store.Run(background) }()

	server := http.Server{Handler: b}
	go func() { _ = server.Serve(listener) }()
	<-ctx.Done()
	err = server.Shutdown(context.WithoutCancel(ctx))
	end()
	return errors.Join(err, <-saved, store.Close())
}

// ServeHTTP answers Slack's test of the address, and handles messages of users.
func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := b.body(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	event, err := slackevents.ParseEvent(body, slackevents.OptionNoVerifyToken())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if test, ok := event.Data.(*slackevents.EventsAPIURLVerificationEvent); ok {
		_, _ = io.WriteString(w, test.Challenge)
	}
	again := r.Header.Get("X-Slack-Retry-Reason") == "http_timeout" // the bot has the message already
	if m, ok := event.InnerEvent.Data.(*slackevents.MessageEvent); ok && !again && m.User != "" && m.BotID == "" {
		if err := b.message(context.WithoutCancel(r.Context()), m); err != nil {
			log.Print(err)
		}
	}
}

// body returns the body of a request that Slack has signed.
func (b *bot) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	verifier, err := slack.NewSecretsVerifier(r.Header, b.secret)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.TeeReader(http.MaxBytesReader(w, r.Body, 1<<20), &verifier))
	return body, errors.Join(err, verifier.Ensure())
}

// message judges a message, and tells its author how long to wait if it is throttled.
func (b *bot) message(ctx context.Context, m *slackevents.MessageEvent) error {
	seconds, err := strconv.ParseFloat(m.TimeStamp, 64) // by Slack's clock; it is also the message's ID
	if err != nil {
		return err
	}
	verdict, err := b.guard.Check(ctx, chatguard.Message{
		ID:        m.TimeStamp,
		ChannelID: m.Channel,
		User:      chatguard.User{ID: m.User, Roles: b.roles[m.User]},
		Text:      m.Text,
		SentAt:    time.UnixMicro(int64(seconds * 1e6)),
	})
	if err != nil || verdict.Allowed {
		return err
	}
	text := fmt.Sprintf("You write too fast. Please wait %d s.", verdict.RetryAfterSeconds())
	_, err = b.client.PostEphemeralContext(ctx, m.Channel, m.User, slack.MsgOptionText(text, false))
	return err
}
