// Package events bounds how many events a program tells in an hour.
//
// It owns a recorder around the manager's. What is beyond the bound is counted and
// logged, and not sent: the API server keeps each event for an hour. What an event
// says, and how soon the same may be said again, is its author's.
package events
