// Command wschat is a small chat server with fair limits, as an example to read: main.go sets the
// server up, and chat.go is the chat itself.
package main

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/sqlitestore"
)

//go:embed static
var static embed.FS

// rooms lists all rooms. If clients could create rooms, they could fill the memory.
var rooms = []string{"main", "music", "help"}

const goodbye = 10 * time.Second // goodbye is the time that open requests have to finish at shutdown.

type settings struct {
	policy                chatguard.Policy
	listen, db, moderator string
}

func main() {
	s := settings{policy: chatguard.DefaultPolicy()}
	cascade := flag.Bool("cascade", false, "allow 2 messages beyond a burst, at low priority; the page folds them")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:8081", "address to listen on")
	flag.StringVar(&s.db, "db", "", "SQLite file that keeps everyone's usage; empty: memory only")
	flag.StringVar(&s.moderator, "moderator", "", "name:password for the dashboard at /moderate/; empty: no dashboard")
	flag.Parse()
	if *cascade {
		s.policy = cascadePolicy()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		log.Fatal("wschat: ", err)
	}
}

// cascadePolicy returns the default policy with a second bucket for its burst: 2 more messages at
// low priority, and one more every 20 s.
func cascadePolicy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	burst := &p.Limits[0]
	burst.Algorithm, burst.ExtraBurst, burst.ExtraRefill = chatguard.Cascade, 2, 20*time.Second
	return p
}

// run serves until the context ends. It returns when all connections are closed and everything is
// written.
func run(ctx context.Context, s settings, out io.Writer) error {
	guard, err := chatguard.New(s.policy, nil)
	if err != nil {
		return err
	}
	var c chat
	door, err := connguard.New(guard, nil)
	if err != nil {
		return err
	}
	in, err := httpguard.Sessions(door, identify, &httpguard.SessionOptions{Channel: roomOf})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /chat", in(&c))
	mux.Handle("/", pageHandler())
	work, closeStore, err := s.open(ctx, guard, mux)
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- work(background) }()
	err = serve(ctx, s.listen, mux, out)
	c.visits.Wait() // Shutdown doesn't wait for WebSockets
	stop()          // now that no more messages are judged
	return errors.Join(err, <-stopped, closeStore())
}

// open opens the store and mounts the dashboard, if the settings name them. Run work while messages
// are judged, and then call closeStore.
func (s settings) open(ctx context.Context, guard *chatguard.Guard, mux *http.ServeMux) (work func(context.Context) error, closeStore func() error, err error) {
	if name, password, _ := strings.Cut(s.moderator, ":"); s.moderator != "" && (name == "" || password == "") {
		return nil, nil, errors.New("-moderator: want name:password")
	}
	work, closeStore = func(context.Context) error { return nil }, func() error { return nil }
	opts := dashboard.Options{Authorize: s.authorize, Channels: channels}
	if s.db != "" {
		store, err := sqlitestore.Open(ctx, s.db, guard, nil)
		if err != nil {
			return nil, nil, err
		}
		work, closeStore, opts.Store = store.Run, store.Close, store
	}
	if s.moderator != "" {
		board, err := dashboard.New(guard, &opts)
		if err != nil {
			return nil, nil, errors.Join(err, closeStore())
		}
		work = board.Run // also runs the store
		mux.Handle("/moderate/", http.StripPrefix("/moderate", s.requirePassword(board)))
	}
	return work, closeStore, nil
}

// identify trusts the name that the page sends. This is good enough only for a demonstration. Use
// the account of your session cookie here. The zone may well be the browser's: no zone gives a user
// more messages, and the limits' zone applies instead of an unknown one.
func identify(r *http.Request) (chatguard.User, error) {
	name := strings.TrimSpace(r.FormValue("name"))
	if name == "" || utf8.RuneCountInString(name) > 32 || strings.ContainsFunc(name, unicode.IsControl) {
		return chatguard.User{}, httpguard.ErrNobody
	}
	id := strings.ToLower(name)
	if connguard.IsReservedID(id) {
		return chatguard.User{}, httpguard.ErrNobody
	}
	return chatguard.User{ID: id, Login: id, DisplayName: name, Timezone: r.FormValue("timezone")}, nil
}

func roomOf(r *http.Request) string {
	for _, room := range rooms {
		if room == r.FormValue("room") {
			return room
		}
	}
	return rooms[0]
}

func channels() (all []dashboard.Channel) {
	for _, room := range rooms {
		all = append(all, dashboard.Channel{ID: room})
	}
	return all
}

// pageHandler returns a handler for the page, which can load nothing from other sites.
func pageHandler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // can't happen: the page is embedded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if room := r.FormValue("room"); room != "" && room != roomOf(r) {
			http.Error(w, "Unknown room. The rooms are "+strings.Join(rooms, ", ")+".", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		http.FileServerFS(files).ServeHTTP(w, r)
	})
}

// authorize accepts a single moderator. Look up your own sessions here.
func (s settings) authorize(r *http.Request) (name string, role dashboard.Role, ok bool) {
	name, password, _ := r.BasicAuth()
	return name, dashboard.Own, subtle.ConstantTimeCompare([]byte(name+":"+password), []byte(s.moderator)) == 1
}

// requirePassword refuses a request without a moderator's name and password. The browser then asks
// for them.
func (s settings) requirePassword(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := s.authorize(r); !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="moderators"`)
			http.Error(w, "Moderators only.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve serves until the context ends, and then ends all requests.
func serve(ctx context.Context, address string, handler http.Handler, out io.Writer) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s/\n", listener.Addr())
	ctx, end := context.WithCancel(ctx)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: goodbye, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener); end() }()
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
