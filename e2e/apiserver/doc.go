// Package apiserver keeps the simulator's API server honest: the suite that its model
// passes runs on a real kube-apiserver too.
//
// It owns nothing but that test.
package apiserver
