package web

import (
	"maps"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
)

// wrong is an answer that says what is wrong.
func wrong(description string) content {
	return content{Description: description, Content: map[string]media{"application/problem+json": {reference("Problem")}}}
}

// tooOften is the answer to whoever has brought wrong secrets too often, or asks for too much at a time.
func tooOften() content {
	c := wrong("There were too many wrong tokens from there, or too many long searches are under way.")
	c.Headers = sent("Retry-After")
	return c
}

// throttledToo is what may answer whoever has brought wrong secrets too often, and whoever asks about a throttled message with the verdict on it.
func throttledToo(tooOften, success content) content {
	c := content{
		Description: "The message is to be dropped: the verdict says for how long. As a problem: " + tooOften.Description,
		Headers:     maps.Clone(success.Headers), Content: maps.Clone(tooOften.Content),
	}
	maps.Copy(c.Headers, tooOften.Headers)
	maps.Copy(c.Content, success.Content)
	return c
}

// sent describes headers that an answer has.
func sent(names ...string) map[string]headerSent {
	headers := map[string]headerSent{}
	for _, name := range names {
		headers[name] = headerSent{sentHeaders[name], &jsonschema.Schema{Type: "string"}}
	}
	return headers
}

var sentHeaders = map[string]string{
	"ETag":                "Of the policy as stated: to be sent as If-Match with its next change.",
	"Retry-After":         "After how many seconds it can be tried again.",
	"Content-Disposition": "That it is a file, and its name. JSON has none.",
	"Set-Cookie":          "The session's cookie.",

	"RateLimit-Policy":      "What the author is held to: each limit by name, with its quota q and the w seconds in which that comes back.",
	"RateLimit":             "Of the limit with the least left: r messages remain, and in t seconds there is more.",
	"X-RateLimit-Limit":     "The quota of the limit with the least left.",
	"X-RateLimit-Remaining": "Messages that it would still take.",
	"X-RateLimit-Reset":     "The Unix time at which all of it is back.",
}

// rateHeaders are those of a verdict, where there are limits and the author isn't exempt.
var rateHeaders = []string{"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}

// framesSent says how a live feed speaks.
const framesSent = "It is a WebSocket now, and each text message on it is a Frame. The first is a snapshot, or, with feed and after, what came " +
	"since where that is known still, and a status. Every throttled and policy frame has a seq above the one before it; a feed of one channel leaves " +
	"out the numbers of the others. A snapshot or status has the seq of the last frame before it, and a status comes every second. It is closed with " +
	"4401 when the session or token ends, and with 1001 when chatguard stops or the reader is too slow: connect again then."

// success is the answer where all is well.
func (a *about) success(types schemas) (status int, c content, err error) {
	status, c = http.StatusOK, content{Description: "Done.", Headers: sent(a.headers...), Content: map[string]media{}}
	switch {
	case a.webSocket:
		return http.StatusSwitchingProtocols, content{Description: framesSent, Content: map[string]media{"application/json": {reference("Frame")}}}, nil
	case a.answers == nil && a.form == "":
		return http.StatusNoContent, content{Description: "Done."}, nil
	}
	if a.form != "" {
		c.Content[a.form] = media{&jsonschema.Schema{Type: "string"}}
	}
	if a.answers != nil {
		schema, err := types.of(a.answers)
		if err != nil {
			return 0, c, err
		}
		c.Content["application/json"] = media{schema}
	}
	return status, c, nil
}
