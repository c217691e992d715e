// Command control-plane runs a real Kubernetes control plane in the foreground,
// and tells one that runs elsewhere what to do.
//
// It owns the command line, the environment and the signals; everything else is
// package controlplane, which also says what a folder holds and what happens
// when the process is killed.
//
//	SIGINT, SIGTERM   end it, at once
//	SIGUSR1           stop the API server
//	SIGUSR2           start the API server
package main
