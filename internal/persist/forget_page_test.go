package persist

import (
	"os"
	"strings"
	"testing"
)

// TestSecurityPage_DeletesViewers checks that the statements in docs/security.md delete a viewer's
// rows from each table that has any.
func TestSecurityPage_DeletesViewers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	must(t, err)
	s := open(t, databasePath(t), nil)
	tables := s.db.texts(t, "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'user_id'")
	for _, table := range tables {
		statement := "DELETE FROM " + table + " WHERE user_id = :user;\n"
		if !strings.Contains(string(page), statement) {
			t.Errorf("the page has no %s", statement)
		}
	}
	if written := strings.Count(string(page), "   DELETE FROM "); written != len(tables) {
		t.Errorf("%d statements for %d tables", written, len(tables))
	}
}
