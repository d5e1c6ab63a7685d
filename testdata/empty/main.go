// Command empty does nothing: what a Go program costs by itself.
package main

func main() {}
