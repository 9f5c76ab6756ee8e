package web

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard/internal/journal"
)

// about is what the OpenAPI document says of a route.
type about struct {
	says      string       // what it does, in a line
	query     []parameter  // what its address may ask for
	match     presence     // of the If-Match header
	reads     reflect.Type // the JSON that it is sent; nil for none
	optional  bool         // that may be left out
	answers   reflect.Type // the JSON of a success; nil for none
	form      string       // another content type that a success may have
	headers   []string     // of a success, beside those that all have
	unready   bool         // it may answer with the same and 503
	throttles bool         // it may answer with the same and 429
	webSocket bool         // it becomes one
}

// document is an OpenAPI description, version 3.1.
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

// operation is what a method does at a path.
type operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Security    []map[string][]string `json:"security,omitempty"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody *content              `json:"requestBody,omitempty"`
	Responses   map[string]content    `json:"responses"`
}

// content is what is sent with a request, or with its answer.
type content struct {
	Description string                `json:"description,omitempty"`
	Required    bool                  `json:"required,omitempty"`
	Headers     map[string]headerSent `json:"headers,omitempty"`
	Content     map[string]media      `json:"content,omitempty"`
}

// headerSent is a header of an answer.
type headerSent struct {
	Description string             `json:"description"`
	Schema      *jsonschema.Schema `json:"schema"`
}

type media struct {
	Schema *jsonschema.Schema `json:"schema"`
}

// getOpenAPI is GET /openapi.json.
func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	doc, err := s.document()
	if err != nil {
		return err
	}
	return writeJSON(w, doc)
}

// described is the document, which is the same for every Server.
var described struct {
	sync.Once
	document *document
	err      error
}

func (s *Server) document() (*document, error) {
	described.Do(func() { described.document, described.err = s.describe() })
	return described.document, described.err
}

// describe makes the document of the tables of routes.
func (s *Server) describe() (*document, error) {
	types := newSchemas()
	doc := &document{
		OpenAPI: "3.1.0",
		Info: map[string]string{
			"title": "chatguard", "version": "1",
			"description": "What chatguard's dashboard does, for programs. Times are RFC 3339; errors are RFC 9457 problem documents whose detail is a " +
				"sentence for people. A dashboard that is part of another site lets in whom that lets in: it has no sessions and takes no tokens.",
		},
		Servers:  []map[string]string{{"url": "."}}, // where this document is
		Security: []map[string][]string{{"token": {}}, {"session": {}}},
		Paths:    map[string]map[string]*operation{},
		Components: parts{
			SecuritySchemes: map[string]map[string]string{
				"token": {"type": "http", "scheme": "bearer"},
				"session": {
					"type": "apiKey", "in": "cookie", "name": "chatguard",
					"description": "POST /session sets it. Where the address has a port, the cookie's name has it too: chatguard_8080. Over TLS, and not below a path, " +
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
		op, err := doc.add(r.pattern, r.about, types)
		if err != nil {
			return nil, err
		}
		op.Security = []map[string][]string{{}}
		if r.about.reads != nil {
			op.Responses[strconv.Itoa(http.StatusTooManyRequests)] = tooOften()
		}
	}
	for _, r := range s.api() {
		op, err := doc.add(r.pattern, r.about, types)
		if err != nil {
			return nil, err
		}
		op.Description = needed[r.needs]
		tooMany := tooOften()
		if r.about.throttles {
			tooMany = throttledToo(tooMany, op.Responses[strconv.Itoa(http.StatusOK)])
		}
		op.Responses[strconv.Itoa(http.StatusTooManyRequests)] = tooMany
	}
	return doc, nil
}

// needed says whose token it takes.
var needed = map[journal.Access]string{
	journal.AccessAny:      "Any token may do this.",
	journal.AccessView:     "A token that may view is enough.",
	journal.AccessModerate: "It takes a token that may moderate.",
	journal.AccessCheck:    "It takes a token that may check, or the owner's.",
}

var pathPart = regexp.MustCompile(`\{(\w+)\}`)

// add describes a route.
func (d *document) add(pattern string, a about, types schemas) (op *operation, err error) {
	method, path, _ := strings.Cut(pattern, " ")
	op = &operation{OperationID: operationID(method, path), Summary: a.says, Responses: map[string]content{}}
	for _, part := range pathPart.FindAllStringSubmatch(path, -1) {
		op.Parameters = append(op.Parameters, inPath(part[1]))
	}
	op.Parameters = append(op.Parameters, a.query...)
	if a.match != absent {
		op.Parameters = append(op.Parameters, ifMatch(a.match))
	}
	if a.reads != nil {
		schema, err := types.of(a.reads)
		if err != nil {
			return nil, err
		}
		op.RequestBody = &content{Required: !a.optional, Content: map[string]media{"application/json": {schema}}}
	}
	status, success, err := a.success(types)
	if err != nil {
		return nil, err
	}
	op.Responses[strconv.Itoa(status)] = success
	if a.unready {
		op.Responses[strconv.Itoa(http.StatusServiceUnavailable)] = success
	}
	if a.webSocket {
		op.Responses[strconv.Itoa(http.StatusUpgradeRequired)] = content{
			Description: "It wasn't asked for as a WebSocket.", Content: map[string]media{"text/plain": {&jsonschema.Schema{Type: "string"}}},
		}
	}
	op.Responses["default"] = wrong("What is wrong.")
	if d.Paths[path] == nil {
		d.Paths[path] = map[string]*operation{}
	}
	d.Paths[path][strings.ToLower(method)] = op
	return op, nil
}

// operationID names an operation after its method and path: getChannelsUsersWeek.
func operationID(method, path string) string {
	id := strings.ToLower(method)
	for _, word := range strings.FieldsFunc(pathPart.ReplaceAllString(path, ""), func(r rune) bool { return !unicode.IsLetter(r) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}
