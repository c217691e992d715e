package nmstate

import (
	"encoding/json"
	"fmt"
	"strings"
)

// noise is what libnmstate warns of on every retrieve in a network namespace
// and on every machine without Wi-Fi.
const noise = "WIFI query failed"

func (n *Nmstate) writeLog(log string) error {
	if n.logsWriter == nil {
		return nil
	}
	log = withoutNoise(log)
	if log == "" {
		return nil
	}
	if _, err := fmt.Fprintln(n.logsWriter, log); err != nil {
		return fmt.Errorf("writing libnmstate's log: %w", err)
	}
	return nil
}

// withoutNoise drops the noise of a log, which is a JSON array of entries; a
// log that is none is kept as it is. A log without entries is "".
func withoutNoise(log string) string {
	var entries, kept []json.RawMessage
	if err := json.Unmarshal([]byte(log), &entries); err != nil {
		return log
	}
	for _, entry := range entries {
		if !strings.Contains(string(entry), noise) {
			kept = append(kept, entry)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return log
	}
	return string(raw)
}
