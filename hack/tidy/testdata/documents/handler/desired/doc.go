// Package desired is as it should be.
package desired
