package web

import (
	_ "embed" // for openAPI
	"net/http"
)

// openAPI is the description of the API, version 3.1, which is made by
// "go test ./internal/web -run TestOpenAPI -update-openapi".
//
//go:embed openapi.json
var openAPI []byte

// getOpenAPI is GET /openapi.json.
func getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openAPI) // an error means that the reader is gone
	return nil
}
