package language

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/web/static"
)

// Sentence is an English sentence. Sprintf translates its arguments of this type.
type Sentence string

// Sprintf is fmt.Sprintf with the translation of the format into a language. A format without a
// translation stays in English.
func Sprintf(tag, format string, args ...any) string {
	translated := sentences()[tag]
	args = slices.Clone(args)
	for i, arg := range args {
		if sentence, ok := arg.(Sentence); ok {
			args[i] = translate(translated, string(sentence))
		}
	}
	return fmt.Sprintf(translate(translated, format), args...)
}

func translate(translated map[string]string, english string) string {
	if own, ok := translated[english]; ok {
		return own
	}
	return english
}

// sentences are the translations of the server's sentences, by language and English sentence.
var sentences = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, tag := range All {
		content, err := fs.ReadFile(static.Files, "text/"+tag+"/"+sentencesFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the code has the sentences in English
		}
		own := map[string]string{}
		if err == nil {
			err = json.Unmarshal(content, &own)
		}
		if err != nil {
			panic(err) // can't happen: the embedded catalogues are tested
		}
		all[tag] = own
	}
	return all
})

// sentencesFile is the catalogue with the translations of the server's sentences.
const sentencesFile = "server.json"
