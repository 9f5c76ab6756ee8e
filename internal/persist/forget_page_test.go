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
	rows, err := s.db.reader.QueryContext(ctx, "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'user_id'")
	must(t, err)
	defer rows.Close()
	tables := 0
	for rows.Next() {
		var table string
		must(t, rows.Scan(&table))
		statement := "DELETE FROM " + table + " WHERE user_id = :user;\n"
		if !strings.Contains(string(page), statement) {
			t.Errorf("the page has no %s", statement)
		}
		tables++
	}
	must(t, rows.Err())
	if written := strings.Count(string(page), "   DELETE FROM "); written != tables {
		t.Errorf("%d statements for %d tables", written, tables)
	}
}
