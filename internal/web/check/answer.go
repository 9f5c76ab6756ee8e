package check

import (
	"encoding/json"

	"github.com/chatguard/chatguard/internal/web/problem"
)

// appendTexts appends a member with a list of texts to a JSON object, unless the list is empty.
func appendTexts(object []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return object
	}
	return appendMember(object, key, texts)
}

// appendMember appends a member with a text, or a list of texts, to a JSON object.
func appendMember[T string | []string](object []byte, key string, value T) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts can be encoded
	}
	object = append(append(append(object, `,"`...), key...), `":`...)
	return append(object, data...)
}

// failedMessage is the answer in a batch about a message that can't be judged.
type failedMessage struct {
	Error messageError `json:"error"`
}

// messageError is what POST /check would answer about the message.
type messageError struct {
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// appendError appends the error for a message to the answer of a batch.
func appendError(answer []byte, p *problem.Problem) []byte {
	data, err := json.Marshal(failedMessage{messageError{p.Status, p.Detail}})
	if err != nil {
		panic(err) // texts can be encoded
	}
	return append(answer, data...)
}
