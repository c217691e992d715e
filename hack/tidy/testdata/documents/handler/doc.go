// Package main is called by the wrong word.
package main
