package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// graceful is how long requests in progress may take after ctx has ended.
const graceful = 5 * time.Second

// serve serves on the listener until ctx ends, and closes the listener. It then finishes requests
// in progress. It returns nil if it stopped because ctx ended.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second, // live feeds set their own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("web: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceful)
		defer cancel()
		if server.Shutdown(late) != nil {
			server.Close() // the time for requests in progress is over
		}
		return nil
	})
	return group.Wait()
}
