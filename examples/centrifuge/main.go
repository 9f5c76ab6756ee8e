// Command centrifuge is a chat with the library centrifuge. The connections of each user are
// limited, and so are the messages that they publish.
//
// With several nodes behind a broker, each node has a Guard of its own. A user with connections to
// n nodes may then send n times as much, unless the load balancer sends each user to one node.
package main

import (
	"context"
	"log"
	"net/http"

	"github.com/centrifugal/centrifuge"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// account returns the user of a session cookie. A real server looks it up in its database.
func account(r *http.Request) (chatguard.User, error) {
	cookie, err := r.Cookie("session")
	if err != nil || cookie.Value != "anna's session" {
		return chatguard.User{}, httpguard.ErrNobody // answered with 401
	}
	return chatguard.User{ID: "anna"}, nil
}

func main() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := chat(node, guard)
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8000", handler))
}

// chat returns the handler of WebSockets.
func chat(node *centrifuge.Node, guard *chatguard.Guard) (http.Handler, error) {
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 3})
	if err != nil {
		return nil, err
	}
	in, err := httpguard.Sessions(door, account, nil)
	if err != nil {
		return nil, err
	}
	node.OnConnecting(func(ctx context.Context, _ centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		user := httpguard.SessionFrom(ctx).User()
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{UserID: user.ID}}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(e centrifuge.SubscribeEvent, reply centrifuge.SubscribeCallback) {
			if e.Channel != "lobby" && e.Channel != "arena" { // the Guard remembers each channel
				reply(centrifuge.SubscribeReply{}, centrifuge.ErrorUnknownChannel)
				return
			}
			reply(centrifuge.SubscribeReply{}, nil)
		})
		client.OnPublish(func(e centrifuge.PublishEvent, reply centrifuge.PublishCallback) {
			reply(centrifuge.PublishReply{}, judge(client, e))
		})
	})
	return in(centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{})), nil
}

// judge returns nil if the message may be published. A policy that delays messages, which the
// default policy doesn't, needs a chatguard.HoldQueue that calls reply later.
func judge(client *centrifuge.Client, e centrifuge.PublishEvent) error {
	if !client.IsSubscribed(e.Channel) {
		return centrifuge.ErrorPermissionDenied
	}
	session := httpguard.SessionFrom(client.Context())
	verdict, err := session.Check(client.Context(), chatguard.Message{ChannelID: e.Channel, Text: string(e.Data)})
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		text := "please wait " + chatguard.FormatWait(verdict.RetryAfter)
		return &centrifuge.Error{Code: 429, Message: text, Temporary: !verdict.Never}
	}
	return nil
}
