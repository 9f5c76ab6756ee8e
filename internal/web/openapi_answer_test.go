//go:build !race

package web

import (
	"maps"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"
)

// errorAnswer returns an error answer.
func errorAnswer(description string) content {
	return content{Description: description, Content: map[string]media{"application/problem+json": {reference("Problem")}}}
}

// tooManyRequests returns the answer to too many wrong secrets or too many long reads.
func tooManyRequests() content {
	c := errorAnswer("There were too many wrong tokens from this address, too many long searches are in progress, or you have changed limits too often.")
	c.Headers = answerHeaders("Retry-After")
	return c
}

// tooManyOrThrottled returns the answer to too many wrong secrets, or to a check of a throttled
// message. The answer to a check contains the verdict.
func tooManyOrThrottled(tooOften, success content) content {
	c := content{
		Description: "The message must be dropped; the verdict says for how long. As a problem: " + tooOften.Description,
		Headers:     maps.Clone(success.Headers), Content: maps.Clone(tooOften.Content),
	}
	maps.Copy(c.Headers, tooOften.Headers)
	maps.Copy(c.Content, success.Content)
	return c
}

// answerHeaders returns the descriptions of an answer's headers.
func answerHeaders(names ...string) map[string]headerSent {
	headers := map[string]headerSent{}
	for _, name := range names {
		headers[name] = headerSent{sentHeaders[name], &jsonschema.Schema{Type: "string"}}
	}
	return headers
}

var sentHeaders = map[string]string{
	"ETag":                "The stated policy's ETag, to send as If-Match with the next change.",
	"Retry-After":         "Seconds to wait before trying again.",
	"Content-Disposition": "The file's name. JSON has none.",
	"Set-Cookie":          "The session's cookie.",

	"RateLimit-Policy": "The author's limits by name, each with its quota q and the w seconds in which the quota comes back.",
	"RateLimit":        "For the limit with the least left: r messages remain, and more come in t seconds.",
}

// framesSent describes the messages of a live feed.
const framesSent = "The connection is a WebSocket, and each text message is a Frame. First comes a snapshot, or with feed and after the frames " +
	"since then if they are still known, then a status. Each throttled and policy frame has a higher seq than the one before; a feed of one channel leaves " +
	"out the numbers of the others. A snapshot or status has the seq of the last frame before it, and a status comes every second. It is closed with " +
	"4401 when the session or token ends, and with 1001 when chatguard stops or the reader is too slow: connect again then."

// successAnswer returns the answer if all goes well.
func (a *about) successAnswer(types schemas) (status int, c content, err error) {
	status, c = http.StatusOK, content{Description: "Done.", Headers: answerHeaders(a.headers...), Content: map[string]media{}}
	switch {
	case a.webSocket:
		return http.StatusSwitchingProtocols, content{Description: framesSent, Content: map[string]media{"application/json": {reference("Frame")}}}, nil
	case a.answers == nil && a.form == "":
		return http.StatusNoContent, content{Description: "Done."}, nil
	}
	if a.tagged {
		c.Headers["ETag"] = headerSent{"Identifies the answer; send it as If-None-Match.", &jsonschema.Schema{Type: "string"}}
	}
	if a.form != "" {
		c.Content[a.form] = media{&jsonschema.Schema{Type: "string"}}
	}
	if a.answers != nil {
		schema, err := types.schemaOf(a.answers)
		if err != nil {
			return 0, c, err
		}
		c.Content["application/json"] = media{schema}
	}
	return status, c, nil
}
