// Package agent explains itself in the wrong file.
package agent
