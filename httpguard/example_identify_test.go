package httpguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

func ExampleFirstOf() {
	identify := httpguard.FirstOf(httpguard.ByKey("X-API-Key", userOf), httpguard.ByAddress(nil))
	for _, key := range []string{"anna's key", ""} {
		r := httptest.NewRequest("GET", "/chat", nil)
		r.RemoteAddr = "192.0.2.7:51034"
		r.Header.Set("X-API-Key", key)
		user, err := identify(r)
		fmt.Println(user.ID, err)
	}
	// Output:
	// 48215771 <nil>
	// address:192.0.2.7 <nil>
}

// Behind a proxy, users have the addresses that the proxy names.
func ExampleClientAddress() {
	proxies := &httpguard.AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	r := httptest.NewRequest("GET", "/chat", nil)
	r.RemoteAddr = "10.1.1.1:8443"
	r.Header.Set("X-Forwarded-For", "2001:db8:1:2::7")
	fmt.Println(httpguard.ClientAddress(r, proxies))
	// Output: 2001:db8:1:2::7
}

// A server with its own accounts, in its own words.
func ExampleSessionOptions() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 3, 4*time.Second))
	account := func(r *http.Request) (chatguard.User, error) {
		cookie, err := r.Cookie("session")
		if err != nil || cookie.Value != "anna's session" {
			return chatguard.User{}, httpguard.ErrNobody
		}
		return chatguard.User{ID: "48215771", Roles: chatguard.Roles{"subscriber"}}, nil
	}
	door, err := connguard.New(guard, &connguard.Options{MaxConnections: 1})
	if err != nil {
		log.Fatal(err)
	}
	in, err := httpguard.Sessions(door, account, &httpguard.SessionOptions{
		Channel:      func(r *http.Request) string { return r.PathValue("room") },
		Addresses:    &httpguard.AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		Authenticate: `Cookie realm="chat"`,
		Refused:      refuse,
		Logger:       slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/chat/{room}", in(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := httpguard.SessionFrom(r.Context())
		verdict, err := session.Check(r.Context(), chatguard.Message{Text: "hello"})
		if err != nil {
			log.Fatal(err)
		}
		httpguard.SetHeaders(w.Header(), guard, verdict)
		fmt.Fprintf(w, "%s in %s from %s", session.User().ID, session.ChannelID(), session.Address())
	})))

	r := httptest.NewRequest("GET", "/chat/lobby", nil)
	fmt.Println(serve(mux, r).Header.Get("WWW-Authenticate"))
	r.AddCookie(&http.Cookie{Name: "session", Value: "anna's session"})
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	fmt.Println(answer.Header().Get("RateLimit"), answer.Body)
	// Output:
	// Cookie realm="chat"
	// "burst";r=2;t=4 48215771 in lobby from 192.0.2.1
}

// refuse answers in the server's own words.
func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	switch {
	case errors.Is(err, httpguard.ErrNobody):
		http.Error(w, "please sign in", http.StatusUnauthorized)
	case errors.Is(err, connguard.ErrConnections):
		http.Error(w, "the chat is open in another tab", http.StatusTooManyRequests)
	case errors.Is(err, connguard.ErrReservedID):
		http.Error(w, "please choose another name", http.StatusForbidden)
	default:
		http.Error(w, "sorry", http.StatusInternalServerError)
	}
}

// An HTTP handler that judges messages itself describes each verdict to its clients.
func ExampleSetHeaders() {
	guard := newGuard(chatguard.TokenBucketLimit("burst", 1, 4*time.Second))
	for range 2 {
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: httpguard.MainChannel, User: chatguard.User{ID: connguard.AnonymousID, Visitor: true}})
		if err != nil {
			log.Fatal(err)
		}
		h := http.Header{}
		httpguard.SetHeaders(h, guard, verdict)
		fmt.Printf("%s, Retry-After %q\n", h.Get("RateLimit"), h.Get("Retry-After"))
	}
	// Output:
	// "burst";r=0;t=4, Retry-After ""
	// "burst";r=0;t=4, Retry-After "4"
}

// A handler that somebody forgot to put behind Sessions hangs up.
func ExampleSessionFrom() {
	session := httpguard.SessionFrom(httptest.NewRequest("GET", "/chat", nil).Context())
	_, err := session.Check(session.Context(), chatguard.Message{Text: "hello"})
	fmt.Println(errors.Is(err, connguard.ErrNoSession), session.Context().Err())
	<-session.Done()
	// Output: true context canceled
}
