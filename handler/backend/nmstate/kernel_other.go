//go:build !linux

package nmstate

// KernelFiltersVLANs is about Linux; elsewhere there is nothing to try.
func KernelFiltersVLANs() (bool, error) { return false, nil }

func knowsLink(string) (bool, error) { return true, nil }

func loadsNothing(string) bool { return false }
