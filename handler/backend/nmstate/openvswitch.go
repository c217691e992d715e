package nmstate

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	// openVSwitchSocket is where nmstate looks for the database.
	openVSwitchSocket = "/run/openvswitch/db.sock"
	openVSwitchTable  = "Open_vSwitch"
	// openVSwitchWithin is the time for one transaction. The answer to one that
	// writes comes after the database's fsync.
	openVSwitchWithin = 10 * time.Second
	// openVSwitchReadWithin is less: every way back reads, and most are of changes
	// that have nothing to do with Open vSwitch.
	openVSwitchReadWithin = time.Second
)

// openVSwitchColumns are those that nmstate calls ovs-db.
var openVSwitchColumns = []string{"external_ids", "other_config"}

// operation of the database's protocol (RFC 7047).
type operation map[string]any

// openVSwitchIfKnown is nil where the database is not there or cannot be read: it must
// not keep a node from its way back. A change that names it is refused or taken
// back by its own reads and writes.
func (d disk) openVSwitchIfKnown(ctx context.Context) state.Columns {
	ctx, cancel := context.WithTimeout(ctx, openVSwitchReadWithin)
	defer cancel()
	found, err := d.openVSwitch(ctx)
	if err != nil {
		return nil
	}
	return found
}

// openVSwitch reads what the database holds for the node as a whole.
func (d disk) openVSwitch(ctx context.Context) (state.Columns, error) {
	answers, err := d.transact(ctx, operation{
		"op": "select", "table": openVSwitchTable, "where": []any{}, "columns": openVSwitchColumns,
	})
	if err != nil {
		return nil, fmt.Errorf("reading Open vSwitch's database: %w", err)
	}
	found := state.Columns{}
	for _, column := range openVSwitchColumns {
		found[column] = map[string]string{}
		for _, row := range answers[0].Rows {
			for _, pair := range row[column].pairs {
				found[column][pair[0]] = pair[1]
			}
		}
	}
	return found, nil
}

// writeOpenVSwitch writes in one transaction, which is on the database's disk when
// it returns. A key is taken away before it is written anew: an insert leaves what
// is there.
func (d disk) writeOpenVSwitch(ctx context.Context, keys state.Keys) error {
	var mutations []any
	for column, values := range keys {
		var gone []string
		var pairs [][2]string
		for key, value := range values {
			gone = append(gone, key)
			if value != nil {
				pairs = append(pairs, [2]string{key, *value})
			}
		}
		mutations = append(mutations, []any{column, "delete", []any{"set", gone}})
		if len(pairs) > 0 {
			mutations = append(mutations, []any{column, "insert", []any{"map", pairs}})
		}
	}
	answers, err := d.transact(ctx,
		operation{"op": "mutate", "table": openVSwitchTable, "where": []any{}, "mutations": mutations},
		operation{"op": "commit", "durable": true})
	if err == nil && answers[0].Count == 0 {
		err = fmt.Errorf("the table %s has no row: Open vSwitch was never started", openVSwitchTable)
	}
	return err
}

// refuseOpenVSwitch refuses by name what the database could not be given once the
// rest is proven. nmstate does not see it in the trial, so it checks it here.
func (b *Backend) refuseOpenVSwitch(ctx context.Context, desired state.State) error {
	if desired.OpenVSwitch().IsEmpty() {
		return nil
	}
	if _, err := b.disk.openVSwitch(ctx); err != nil {
		return fmt.Errorf("%w: ovs-db and ovn need Open vSwitch on the node: %v", backend.ErrInvalid, err)
	}
	current, err := b.Show(ctx)
	if err != nil {
		return err
	}
	if err := validate(string(desired.JSON()), string(current.JSON())); err != nil {
		return classified(failureOf(err))
	}
	return nil
}

// answered is the database's answer to one operation.
type answered struct {
	Rows    []map[string]ovsMap `json:"rows"`
	Count   int                 `json:"count"`
	Error   string              `json:"error"`
	Details string              `json:"details"`
}

// ovsMap is a map in the database's words: ["map", [[key, value], ...]].
type ovsMap struct{ pairs [][2]string }

func (m *ovsMap) UnmarshalJSON(raw []byte) error {
	var kind string
	if err := json.Unmarshal(raw, &[]any{&kind, &m.pairs}); err != nil {
		return err
	}
	if kind != "map" {
		return fmt.Errorf("got a %q where a map belongs", kind)
	}
	return nil
}

// transact carries out all operations or none, on a connection of its own.
func (d disk) transact(ctx context.Context, operations ...operation) ([]answered, error) {
	ctx, cancel := context.WithTimeout(ctx, openVSwitchWithin)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", d.at(openVSwitchSocket))
	if err != nil {
		return nil, fmt.Errorf("the database of Open vSwitch does not answer: %w", err)
	}
	defer func() { _ = connection.Close() }() // Every transaction has had its answer.
	stop := context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	params := []any{openVSwitchTable} // The database has the name of its table.
	for _, one := range operations {
		params = append(params, one)
	}
	const id = "nmstate"
	if err := json.NewEncoder(connection).Encode(map[string]any{"method": "transact", "params": params, "id": id}); err != nil {
		return nil, err
	}
	var reply struct {
		ID     any             `json:"id"`
		Result []answered      `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	for decoder := json.NewDecoder(connection); reply.ID != id; { // Others are echo requests of the database.
		if err := decoder.Decode(&reply); err != nil {
			return nil, err
		}
	}
	for _, one := range reply.Result {
		if one.Error != "" {
			return nil, fmt.Errorf("%s: %s", one.Error, one.Details)
		}
	}
	if len(reply.Result) < len(operations) {
		return nil, fmt.Errorf("no result: %s", reply.Error)
	}
	return reply.Result, nil
}
