package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the pages that show Go code with this module.
var pages = []string{"README.md", "docs/embedding.md", "docs/check.md", "docs/http.md", "docs/websocket.md", "docs/scaling.md"}

// plainPage shows Go code that uses the standard library only.
const plainPage = "docs/webhooks.md"

// TestPages_GoCompiles checks the types of every Go block on the pages. A block that is a part of a
// program may use names that it doesn't declare.
func TestPages_GoCompiles(t *testing.T) {
	c := newChecker(t)
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for _, page := range append(slices.Clone(pages), plainPage) {
		text := readPage(t, page)
		blocks := block.FindAllStringSubmatchIndex(text, -1)
		if len(blocks) == 0 {
			t.Errorf("%s shows no Go", page)
		}
		for _, at := range blocks {
			line := 1 + strings.Count(text[:at[2]], "\n")
			c.checkBlock(t, fmt.Sprintf("%s:%d", page, line), text[at[2]:at[3]])
		}
	}
}

// checkBlock checks a program, declarations of a program, or statements.
func (c *checker) checkBlock(t *testing.T, place, code string) {
	t.Helper()
	part := !strings.HasPrefix(code, "package ")
	if part {
		if !declaration.MatchString(code) {
			code = "func _() {\n" + code + "}\n"
		}
		code = "package part\n" + importsFor(code) + code
	}
	file, err := parser.ParseFile(c.files, place, code, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	c.uses(t, []*ast.File{file}, func(wrong types.Error) bool { return !part || !isMissing(wrong) })
}

// declaration matches code that begins with a function and its comment.
var declaration = regexp.MustCompile(`^(//.*\n)*func `)

// isMissing reports whether the rest of a program may put the error right: it declares a name that
// a part uses, or uses one that the part declares. A name of a package has a dot.
func isMissing(wrong types.Error) bool {
	name, undefined := strings.CutPrefix(wrong.Msg, "undefined: ")
	return undefined && !strings.Contains(name, ".") || strings.HasPrefix(wrong.Msg, "declared and not used")
}

// importable are the packages that parts of programs use.
var importable = []string{
	"context", "crypto/hmac", "crypto/sha256", "encoding/base64", "errors", "fmt", "log", "log/slog", "net", "net/http", "os", "strconv", "strings", "sync", "testing", "testing/synctest", "time",
	"github.com/coder/websocket",
	module, module + "/chatguardtest", module + "/checkclient", module + "/connguard", module + "/dashboard",
	module + "/httpguard", module + "/redisstore", module + "/shared", module + "/sqlitestore",
}

// importsFor returns the imports of a part of a program.
func importsFor(code string) (imports string) {
	for _, path := range importable {
		name := path[strings.LastIndex(path, "/")+1:]
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(code) {
			imports += fmt.Sprintf("import %q\n", path)
		}
	}
	return imports
}
