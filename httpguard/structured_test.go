package httpguard

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// item is an item of a list of structured fields: a string with parameters, which are of type int64
// or []byte.
type item struct {
	name   string
	params map[string]any
}

// The grammar of RFC 9651, without what RateLimit and RateLimit-Policy never have: inner lists, and
// parameters that are neither integers nor byte sequences.
var (
	itemPattern  = regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\])*)"((?:; *[a-z*][a-z0-9_.*-]*=(?:-?[0-9]{1,15}|:[A-Za-z0-9+/=]*:))*)`)
	paramPattern = regexp.MustCompile(`; *([^=]+)=([^;]+)`)
	commaPattern = regexp.MustCompile(`^[ \t]*,[ \t]*`)
)

// parseList parses the value of a header as a list of strings with parameters.
func parseList(text string) (list []item, err error) {
	for {
		found := itemPattern.FindStringSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("no item at %q", text)
		}
		next := item{found[1], map[string]any{}}
		for _, p := range paramPattern.FindAllStringSubmatch(found[2], -1) {
			if next.params[p[1]], err = parseParam(p[2]); err != nil {
				return nil, err
			}
		}
		list, text = append(list, next), text[len(found[0]):]
		if text == "" {
			return list, nil
		}
		comma := commaPattern.FindString(text)
		if comma == "" {
			return nil, fmt.Errorf("no comma at %q", text)
		}
		text = text[len(comma):]
	}
}

func parseParam(text string) (any, error) {
	if bytes, ok := strings.CutPrefix(text, ":"); ok {
		return base64.StdEncoding.Strict().DecodeString(bytes[:len(bytes)-1])
	}
	return strconv.ParseInt(text, 10, 64)
}

func TestParseList_Malformed(t *testing.T) {
	for _, text := range []string{
		``, `burst`, `"burst`, `"bürst"`, `"a\b"`, `"a",`, `"a";q`, `"a";Q=1`, `"a";q=1.5`, `"a";q=1000000000000000`, `"a";pk=:a:`, `"a" "b"`, `"a";q=1 ;w=2`,
	} {
		if list, err := parseList(text); err == nil {
			t.Errorf("%s is parsed as %v", text, list)
		}
	}
	list, err := parseList(`"a\"";q=-1; w=2 , "b";pk=:AAE=:`)
	if err != nil || len(list) != 2 || list[0].params["q"] != int64(-1) || list[0].params["w"] != int64(2) || len(list[1].params["pk"].([]byte)) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}
