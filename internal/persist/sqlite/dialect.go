package sqlite

// The SQL in this file differs between database engines.

// List returns the SQL for the elements of the JSON list in a parameter, so that one statement
// accepts any number of elements.
func List(parameter string) string { return "(SELECT value FROM json_each(" + parameter + "))" }

// IndexedBy returns the SQL, after a table's name, that makes a query use an index.
func IndexedBy(index string) string { return " INDEXED BY " + index }
