package main

var version string

func main() {}
