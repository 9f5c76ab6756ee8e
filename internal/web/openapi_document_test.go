//go:build !race

package web

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard/internal/auth"
)

// about is the OpenAPI description of a route.
type about struct {
	says      string       // one line on what it does
	query     []parameter  // query parameters
	match     presence     // whether it uses If-Match
	reads     reflect.Type // type of the JSON body; nil for none
	optional  bool         // the body may be left out
	answers   reflect.Type // type of the JSON answer; nil for none
	form      string       // another content type of a success
	headers   []string     // Headers are the additional headers of a success.
	unready   bool         // a 503 may have the same type
	throttles bool         // a 429 may have the same type
	tagged    bool         // a request with the answer's ETag as If-None-Match gets a 304
	webSocket bool         // becomes a WebSocket
}

// document is an OpenAPI 3.1 description.
type document struct {
	OpenAPI    string                           `json:"openapi"`
	Info       map[string]string                `json:"info"`
	Servers    []map[string]string              `json:"servers"`
	Security   []map[string][]string            `json:"security"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components parts                            `json:"components"`
}

type parts struct {
	SecuritySchemes map[string]map[string]string  `json:"securitySchemes"`
	Schemas         map[string]*jsonschema.Schema `json:"schemas"`
}

// describe builds the document from the tables of routes.
func (s *Server) describe() (*document, error) {
	types := newSchemas()
	doc := &document{
		OpenAPI: "3.1.0",
		Info: map[string]string{
			"title": "chatguard", "version": "1",
			"description": "What chatguard's dashboard does, for programs. Times are RFC 3339; errors are RFC 9457 problem documents whose detail is a " +
				"sentence for people. If the dashboard is part of another site, that site decides who may come in, and there are no sessions and tokens.",
		},
		Servers:  []map[string]string{{"url": "."}}, // relative to this document
		Security: []map[string][]string{{"token": {}}, {"session": {}}},
		Paths:    map[string]map[string]*operation{},
		Components: parts{
			SecuritySchemes: map[string]map[string]string{
				"token": {"type": "http", "scheme": "bearer"},
				"session": {
					"type": "apiKey", "in": "cookie", "name": "chatguard",
					"description": "POST /session sets it. If the address has a port, so has the cookie's name: chatguard_8080. Over TLS, and without a mount path, " +
						"it begins with __Host-.",
				},
			},
			Schemas: map[string]*jsonschema.Schema{},
		},
	}
	for name, t := range components {
		schema, err := types.component(t)
		if err != nil {
			return nil, err
		}
		doc.Components.Schemas[name] = schema
	}
	for _, r := range s.openRoutes() {
		about := documented[r.pattern]
		op, err := doc.add(r.pattern, about, types)
		if err != nil {
			return nil, err
		}
		op.Security = []map[string][]string{{}}
		if about.reads != nil {
			op.Responses[strconv.Itoa(http.StatusTooManyRequests)] = tooManyRequests()
		}
	}
	for _, r := range s.api() {
		about := documented[r.pattern]
		if about.says == "" || !slices.EqualFunc(about.query, r.query, func(p parameter, name string) bool { return p.Name == name }) {
			return nil, fmt.Errorf("%s: documented is %+v, and it takes %q", r.pattern, about, r.query)
		}
		op, err := doc.add(r.pattern, about, types)
		if err != nil {
			return nil, err
		}
		op.Description = needed[r.needs]
		tooMany := tooManyRequests()
		if about.throttles {
			tooMany = tooManyOrThrottled(tooMany, op.Responses[strconv.Itoa(http.StatusOK)])
		}
		op.Responses[strconv.Itoa(http.StatusTooManyRequests)] = tooMany
	}
	return doc, nil
}

// needed says whose token a route needs.
var needed = map[auth.Access]string{
	auth.Any:      "Any token may do this.",
	auth.View:     "A token that may view is enough.",
	auth.Help:     "It needs a token that may help.",
	auth.Moderate: "It needs a token that may moderate.",
	auth.Own:      "It needs a token that may own.",
	auth.Check:    "It needs a token that may check, or own.",
	auth.Overlay:  "It needs a token that may show the overlay, or view.",
}

var pathPart = regexp.MustCompile(`\{(\w+)\}`)

// add describes a route.
func (d *document) add(pattern string, a about, types schemas) (op *operation, err error) {
	method, path, _ := strings.Cut(pattern, " ")
	op = &operation{OperationID: operationID(method, path), Summary: a.says, Responses: map[string]content{}}
	for _, part := range pathPart.FindAllStringSubmatch(path, -1) {
		op.Parameters = append(op.Parameters, pathParameter(part[1]))
	}
	op.Parameters = append(op.Parameters, a.query...)
	if a.match != absent {
		op.Parameters = append(op.Parameters, ifMatchHeader(a.match))
	}
	if a.reads != nil {
		schema, err := types.schemaOf(a.reads)
		if err != nil {
			return nil, err
		}
		op.RequestBody = &content{Required: !a.optional, Content: map[string]media{"application/json": {schema}}}
	}
	status, success, err := a.successAnswer(types)
	if err != nil {
		return nil, err
	}
	op.Responses[strconv.Itoa(status)] = success
	if a.unready {
		op.Responses[strconv.Itoa(http.StatusServiceUnavailable)] = success
	}
	if a.tagged {
		op.Parameters = append(op.Parameters, ifNoneMatchHeader())
		op.Responses[strconv.Itoa(http.StatusNotModified)] = content{Description: "Nothing has changed since the answer with that ETag."}
	}
	if a.webSocket {
		op.Responses[strconv.Itoa(http.StatusUpgradeRequired)] = content{
			Description: "The request is not a WebSocket handshake.", Content: map[string]media{"text/plain": {&jsonschema.Schema{Type: "string"}}},
		}
	}
	op.Responses["default"] = errorAnswer("What is wrong.")
	if d.Paths[path] == nil {
		d.Paths[path] = map[string]*operation{}
	}
	d.Paths[path][strings.ToLower(method)] = op
	return op, nil
}

// operationID derives the name of an operation from its method and path: getChannelsUsersWeek.
func operationID(method, path string) string {
	id := strings.ToLower(method)
	for _, word := range strings.FieldsFunc(pathPart.ReplaceAllString(path, ""), func(r rune) bool { return !unicode.IsLetter(r) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}
