package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
)

// moderator looks up the sender of a request in the server's own sessions.
func moderator(r *http.Request) (name string, role dashboard.Role, ok bool) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return "", "", false
	}
	name, ok = sessions[cookie.Value]
	return name, roles[name], ok
}

// sessions maps session IDs to the names of signed-in users.
var sessions = map[string]string{"0b8c1f": "anna"}

// roles says what each person may do. Others have no access.
var roles = map[string]dashboard.Role{"anna": dashboard.Moderate, "ben": dashboard.View, "dora": dashboard.Help, "eve": dashboard.Own}

// A chat server shows its moderators the dashboard below /moderate/.
func Example() {
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		log.Fatal(err)
	}
	board, err := dashboard.New(guard, &dashboard.Options{
		Authorize: moderator,
		Channels:  func() []dashboard.Channel { return []dashboard.Channel{{ID: "lobby", Name: "The lobby"}} },
		PublicURL: "https://chat.example.org/moderate/", // if a proxy changes the Host header
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/moderate/", http.StripPrefix("/moderate", board))
	server := httptest.NewServer(mux)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		defer stop()
		done <- board.Run(ctx)
	}()

	fmt.Println(visit(ctx, server.URL+"/moderate/", ""))
	fmt.Println(visit(ctx, server.URL+"/moderate/readyz", ""))
	fmt.Println(visit(ctx, server.URL+"/moderate/readyz", "0b8c1f"))

	server.Close()
	stop()
	fmt.Println(<-done)
	// Output:
	// 200 text/html; charset=utf-8
	// 401 application/problem+json
	// 200 application/json
	// <nil>
}

// visit returns the server's answer to a visitor. Its context ends when the dashboard's Run ends.
func visit(ctx context.Context, address, session string) string {
	r, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		return err.Error()
	}
	r.AddCookie(&http.Cookie{Name: "session", Value: session})
	answer, err := http.DefaultClient.Do(r)
	for err == nil && answer.StatusCode == http.StatusServiceUnavailable { // Run is only just beginning
		answer.Body.Close()
		answer, err = http.DefaultClient.Do(r)
	}
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body) // so that the connection is reused
	return fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Content-Type"))
}
