// Package peers has the facts in other limiters' own tests, held against chatguard: numbers, times
// and expected outcomes, without their code. It has only tests. Where chatguard answers otherwise,
// its tests state the other answer and the reason, so that they fail if the difference disappears.
package peers
