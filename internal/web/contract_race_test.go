//go:build race

package web

import "net/http"

// checkContract does nothing: the same requests and answers are checked without the race detector.
func (*dashboard) checkContract(*http.Request, []byte, answer) {}
