package sqlite

// What follows differs between engines: each has its own way to say it.

// List returns the SQL for the elements of a JSON list, which the parameter has. One statement so
// takes any number of them.
func List(parameter string) string { return "(SELECT value FROM json_each(" + parameter + "))" }

// IndexedBy returns the SQL, after a table's name, that makes a query use an index.
func IndexedBy(index string) string { return " INDEXED BY " + index }
