package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/chatguard/chatguard/web/static"
)

// contract is the served document, prepared to check requests and answers against it.
type contract struct {
	paths   map[string]map[string]*operation
	mux     *http.ServeMux // finds the path of a request
	schemas map[string]json.RawMessage

	mu       sync.Mutex
	resolved map[any]*jsonschema.Resolved // by reference or, without one, by schema
}

// operation is a method of a path.
type operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Security    []map[string][]string `json:"security,omitempty"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody *content              `json:"requestBody,omitempty"`
	Responses   map[string]content    `json:"responses"`
}

// content is the body of a request or an answer.
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

// parameter is a part of a request besides its body.
type parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"` // path, query or header
	Description string             `json:"description"`
	Required    bool               `json:"required,omitempty"`
	Schema      *jsonschema.Schema `json:"schema"`
}

var theContract = sync.OnceValues(func() (*contract, error) {
	data, err := fs.ReadFile(static.Files, openAPIFile)
	if err != nil {
		return nil, err
	}
	// A schema on its own has the schemas that it refers to in $defs.
	data = bytes.ReplaceAll(data, []byte("#/components/schemas/"), []byte("#/$defs/"))
	var read struct {
		Paths      map[string]map[string]*operation `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, err
	}
	c := &contract{paths: read.Paths, schemas: read.Components.Schemas, mux: http.NewServeMux(), resolved: map[any]*jsonschema.Resolved{}}
	for path, methods := range c.paths {
		for method := range methods {
			c.mux.HandleFunc(addPrefix(strings.ToUpper(method)+" "+path), func(http.ResponseWriter, *http.Request) {})
		}
	}
	return c, nil
})

// operation returns the documented operation of a request, or nil if there is none.
func (c *contract) operation(r *http.Request) *operation {
	_, pattern := c.mux.Handler(r)
	method, path, _ := strings.Cut(pattern, " /api/v1")
	return c.paths[path][strings.ToLower(method)]
}

// validate returns an error if JSON violates a schema. The error says how.
func (c *contract) validate(schema *jsonschema.Schema, data []byte) error {
	resolved, err := c.resolve(schema)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

// resolve prepares a schema of the document for validation, once.
func (c *contract) resolve(schema *jsonschema.Schema) (*jsonschema.Resolved, error) {
	key := any(schema)
	if schema.Ref != "" {
		key = schema.Ref
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if resolved := c.resolved[key]; resolved != nil {
		return resolved, nil
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	named := map[string]json.RawMessage{}
	c.addNamed(named, text)
	data, err := json.Marshal(map[string]any{"$defs": named, "allOf": []json.RawMessage{text}})
	if err != nil {
		return nil, err
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	c.resolved[key], err = root.Resolve(nil)
	return c.resolved[key], err
}

// anyReference finds the names of schemas in a schema's JSON.
var anyReference = regexp.MustCompile(`"#/\$defs/([^"]+)"`)

// addNamed adds all schemas that a schema's JSON refers to.
func (c *contract) addNamed(named map[string]json.RawMessage, text []byte) {
	for _, found := range anyReference.FindAllSubmatch(text, -1) {
		name := string(found[1])
		if schema, ok := c.schemas[name]; ok && named[name] == nil {
			named[name] = schema
			c.addNamed(named, schema)
		}
	}
}

// checkContract fails the test if a request or its answer differs from the document.
func (d *dashboard) checkContract(r *http.Request, sent []byte, a answer) {
	d.Helper()
	c, err := theContract()
	if err != nil {
		d.Fatal(err)
	}
	c.check(d, r, sent, a)
}

func (c *contract) check(t testing.TB, r *http.Request, sent []byte, a answer) {
	t.Helper()
	if !strings.HasPrefix(r.URL.Path, "/api/v1/") {
		return
	}
	op := c.operation(r)
	if a.StatusCode < 400 && op == nil {
		t.Errorf("%s %s isn't documented", r.Method, r.URL.Path)
		return
	}
	if a.StatusCode < 400 {
		c.checkRequest(t, op, r, sent)
	}
	if err := c.checkAnswer(op, a); err != nil {
		t.Errorf("%s %s: %s isn't as documented: %v\n%s", r.Method, r.URL, a.Status, err, a.body)
	}
}

// checkRequest checks a request that succeeded.
func (c *contract) checkRequest(t testing.TB, op *operation, r *http.Request, sent []byte) {
	t.Helper()
	for key := range r.URL.Query() {
		if !slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.In == "query" && p.Name == key }) {
			t.Errorf("%s %s: the parameter %q isn't documented", r.Method, r.URL, key)
		}
	}
	switch {
	case sent == nil && op.RequestBody != nil && op.RequestBody.Required:
		t.Errorf("%s %s: nothing was sent", r.Method, r.URL)
	case sent != nil && op.RequestBody != nil:
		if err := c.validate(op.RequestBody.Content["application/json"].Schema, sent); err != nil {
			t.Errorf("%s %s: what was sent isn't as documented: %v\n%s", r.Method, r.URL, err, sent)
		}
	}
}

func (c *contract) checkAnswer(op *operation, a answer) error {
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil && len(a.body) > 0 {
		return err
	}
	if op == nil { // an unknown path or another site's request
		op = &operation{Responses: map[string]content{"default": {Content: map[string]media{
			"application/problem+json": {&jsonschema.Schema{Ref: "#/$defs/Problem"}},
		}}}}
	}
	documented, ok := op.Responses[fmt.Sprint(a.StatusCode)]
	if !ok && a.StatusCode >= 400 {
		documented, ok = op.Responses["default"]
	}
	m, hasKind := documented.Content[kind]
	switch {
	case !ok:
		return fmt.Errorf("no answer has the status %d", a.StatusCode)
	case len(a.body) == 0 && len(documented.Content) == 0:
		return nil
	case !hasKind:
		return fmt.Errorf("no answer is %q", kind)
	case strings.HasSuffix(kind, "json"):
		return c.validate(m.Schema, a.body)
	}
	return nil
}
