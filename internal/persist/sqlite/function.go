package sqlite

import (
	"database/sql/driver"

	"modernc.org/sqlite"
)

// RegisterFunction makes a function of two texts available in the statements of all databases. The
// function's result must depend only on its arguments. Call it before the first database is opened.
func RegisterFunction(name string, function func(a, b string) string) {
	sqlite.MustRegisterDeterministicScalarFunction(name, 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		a, _ := args[0].(string)
		b, _ := args[1].(string)
		return function(a, b), nil
	})
}
