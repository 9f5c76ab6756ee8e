package httpguard

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/chatguard/chatguard"
)

// countingWriter is the ResponseWriter of a request whose status decides whether it counts. It
// gives back what the request has spent when a status is written that doesn't count.
type countingWriter struct {
	http.ResponseWriter
	limiter *limiter
	request *http.Request
	verdict chatguard.Verdict
	known   bool // the final status
}

// answered notes the status of the response. The first final status counts.
func (w *countingWriter) answered(status int) {
	if w.known || status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	w.known = true
	if w.limiter.Counts(status) || status >= 499 && w.request.Context().Err() == context.Canceled {
		return
	}
	// The request's context may have ended, and the refund must not end with it.
	if err := w.limiter.guard.Refund(context.Background(), w.verdict); err != nil {
		w.limiter.refuser.log().LogAttrs(context.WithoutCancel(w.request.Context()), slog.LevelError, "httpguard: a request counts although it should not", slog.Any("error", err))
	}
}

// WriteHeader notes the status, and writes it.
func (w *countingWriter) WriteHeader(status int) {
	w.answered(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the body, with status 200 if there was none yet.
func (w *countingWriter) Write(b []byte) (int, error) {
	w.answered(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// WriteString is Write without a copy of the text.
func (w *countingWriter) WriteString(text string) (int, error) {
	w.answered(http.StatusOK)
	return io.WriteString(w.ResponseWriter, text)
}

// ReadFrom lets io.Copy send a file without copying it, if the writer can.
func (w *countingWriter) ReadFrom(r io.Reader) (n int64, err error) {
	if n, err = io.Copy(w.ResponseWriter, r); n > 0 {
		w.answered(http.StatusOK)
	}
	return n, err
}

// Unwrap lets http.ResponseController find the methods that this writer doesn't implement:
// deadlines and full duplex.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *countingWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush with an error, as http.ResponseController calls it. It writes status 200 if
// there was none yet, even if the writer can't flush: no other status may follow.
func (w *countingWriter) FlushError() error {
	if !w.known {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes over the connection.
func (w *countingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, lines, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.answered(http.StatusSwitchingProtocols)
	}
	return conn, lines, err
}
