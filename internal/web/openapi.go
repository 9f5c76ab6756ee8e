package web

import (
	"io/fs"
	"net/http"

	"github.com/chatguard/chatguard/web/static"
)

// openAPIFile is the description of the API, version 3.1, which is made by
// "go test ./internal/web -run TestOpenAPI -update-openapi".
const openAPIFile = "openapi.json"

// getOpenAPI is GET /openapi.json.
func getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	content, err := fs.ReadFile(static.Files, openAPIFile)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(content) // an error means that the reader is gone
	return nil
}
