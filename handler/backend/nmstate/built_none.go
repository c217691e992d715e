//go:build !(cgo && nmstate)

package nmstate

const built = false
