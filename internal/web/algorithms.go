package web

import (
	"net/http"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
	"github.com/chatguard/chatguard/limitinfo"
)

// algorithmList is the answer to GET /algorithms.
type algorithmList struct {
	Algorithms []limitinfo.Algorithm `json:"algorithms"`
}

// getAlgorithms is GET /algorithms.
func getAlgorithms(w http.ResponseWriter, _ *http.Request, _ access.Caller) error {
	return problem.WriteJSON(w, algorithmList{limitinfo.Algorithms()})
}
