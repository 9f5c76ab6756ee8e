// Package limitinfo describes limits, for programs that show them to people.
//
// A page that lets moderators edit limits makes its form from [Algorithms]. [Capacity] and [Memory]
// say what a policy costs before it is in force:
//
//	for _, algorithm := range limitinfo.Algorithms() {
//		for _, parameter := range algorithm.Parameters {
//			addField(algorithm.Name, parameter.Name, parameter.Kind, parameter.Least, parameter.Most)
//		}
//	}
//
// The package only reads. It must not know how a page looks, nor change a Guard.
package limitinfo
