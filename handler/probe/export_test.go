package probe

// Ping lets the tests of the live probes send pings of others.
var Ping = ping
