package oracle

import (
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const eth1File, br0File = profiles.DiskDir + "/eth1", profiles.DiskDir + "/br0"

func file(content string) profiles.File { return profiles.File{Content: []byte(content)} }

// onDisk writes a file and tells it.
func (s *stage) onDisk(at, content string) {
	s.hosts["n1"].disk.Now = profiles.Files{at: file(content)}
	s.tell("n1", DiskWritten{at})
}

func TestVolatile(t *testing.T) {
	armed := func(s *stage, phase txn.Phase, proven bool) {
		entry := change()
		entry.Transaction.Phase, entry.Transaction.Proven = phase, proven
		s.hosts["n1"].entry = entry
		s.hosts["n1"].disk.Armed = profiles.Files{eth1File: file("io.nmstate.sim=a\n")}
	}
	// expiring: NetworkManager has given the checkpoint up and not told so yet.
	expiring := func(s *stage, phase txn.Phase) {
		s.try("n1", change())
		armed(s, phase, false)
		s.hosts["n1"].disk.Ended = true
	}
	// written: the disk was full, and has taken the way back since.
	written := func(s *stage) {
		s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
		s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", End: true}})
		s.run(time.Second)
		armed(s, txn.Settling, false)
		s.tell("n1", JournalSaved{*s.hosts["n1"].entry})
		s.onDisk(profiles.DNSFile, "new")
	}
	judge(t, func() Oracle { return volatile{} }, one, map[string]history{
		"a profile is written while it is probed": {want: "before it is proven", play: func(s *stage) {
			armed(s, txn.Probing, false)
			s.onDisk(eth1File, "io.nmstate.sim=b\n")
		}},
		"it is written once it is proven": {play: func(s *stage) {
			armed(s, txn.Committing, true)
			s.onDisk(eth1File, "io.nmstate.sim=b\n")
		}},
		"NetworkManager writes what there was in a format of its own": {play: func(s *stage) {
			armed(s, txn.RollingBack, false)
			s.onDisk(eth1File, "[connection]\nio.nmstate.sim=a\n")
		}},
		"global DNS is there for a moment of the apply": {play: func(s *stage) {
			armed(s, txn.Applying, false)
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment of a way back that a full disk could not write down": {play: func(s *stage) {
			s.try("n1", change())
			armed(s, txn.Settling, false)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment of a way back after a crash that a full disk could not write down": {play: func(s *stage) {
			s.try("n1", change())
			armed(s, txn.Probing, false)
			s.tell("n1", Died{})
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment of a way back after a crash before anything was tried, which a full disk could not write down": {play: func(s *stage) {
			armed(s, txn.Settling, false)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment after a crash before anything was tried, and the disk takes everything": {want: "before it is proven", play: func(s *stage) {
			armed(s, txn.Settling, false)
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment after a crash before anything was tried, once the disk took what is written down": {
			want: "before it is proven", play: func(s *stage) {
				written(s)
			}},
		"NetworkManager takes back what it had by itself, when the checkpoint's time is over while it is probed": {play: func(s *stage) {
			expiring(s, txn.Probing)
			s.onDisk(eth1File, "[connection]\nio.nmstate.sim=b\n")
		}},
		"the trial is written once the checkpoint has ended": {want: "before it is proven", play: func(s *stage) {
			expiring(s, txn.Probing)
			s.end("n1", Expired)
			s.onDisk(eth1File, "io.nmstate.sim=b\n")
		}},
		"the trial is written before there is a checkpoint": {want: "before it is proven", play: func(s *stage) {
			armed(s, txn.Applying, false)
			s.hosts["n1"].disk.Ended = true
			s.onDisk(eth1File, "io.nmstate.sim=b\n")
		}},
		"a profile that was not there is on disk when the checkpoint's time is over": {want: "before it is proven", play: func(s *stage) {
			expiring(s, txn.Probing)
			s.onDisk(br0File, "io.nmstate.sim=b\n")
		}},
		"global DNS is there for a moment while it is probed, and the disk is full": {want: "before it is proven", play: func(s *stage) {
			s.try("n1", change())
			armed(s, txn.Probing, false)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.onDisk(profiles.DNSFile, "new")
		}},
		"global DNS is there for a moment when a way back is over that was written down once the disk took it": {
			want: "before it is proven", play: func(s *stage) {
				s.try("n1", change())
				written(s)
			}},
		"global DNS is there for a moment when the way back is over": {want: "before it is proven", play: func(s *stage) {
			s.try("n1", change())
			armed(s, txn.Settling, false)
			s.onDisk(profiles.DNSFile, "new")
		}},
		"no transaction is open": {play: func(s *stage) { s.onDisk(eth1File, "io.nmstate.sim=b\n") }},
	})
	judge(t, func() Oracle { return held{} }, one, map[string]history{
		"global DNS is still there when it is probed": {want: "global DNS", play: func(s *stage) {
			armed(s, txn.Probing, false)
			s.hosts["n1"].disk.Now = profiles.Files{profiles.DNSFile: file("new")}
			s.tell("n1", JournalSaved{*s.hosts["n1"].entry})
		}},
	})
}

func TestExact(t *testing.T) {
	ends := func(is string, unsynced []string, result v1.TransactionResult) func(s *stage) {
		return func(s *stage) {
			s.hosts["n1"].disk = Disk{Armed: profiles.Files{eth1File: file("a")}, Now: profiles.Files{eth1File: file(is)}, Unsynced: unsynced}
			s.try("n1", change())
			s.close("n1", result)
		}
	}
	judge(t, func() Oracle { return exact{} }, one, map[string]history{
		"every byte is as before":     {play: ends("a", nil, v1.TransactionRolledBack)},
		"a file has other bytes":      {want: "other bytes", play: ends("b", nil, v1.TransactionRolledBack)},
		"a power cut would undo it":   {want: "a power cut", play: ends("a", []string{eth1File}, v1.TransactionRolledBack)},
		"a committed change may stay": {play: ends("b", nil, v1.TransactionCommitted)},
	})
}

func TestPermanent(t *testing.T) {
	proven := func(disk Disk, what What) func(s *stage) {
		return func(s *stage) {
			entry := change()
			entry.Transaction.Phase, entry.Transaction.Proven, entry.Transaction.Checkpoint = txn.Committing, true, "1"
			s.hosts["n1"].entry, s.hosts["n1"].disk = entry, disk
			s.tell("n1", what)
		}
	}
	port := profiles.Files{eth1File: file("interface-name=eth1\ncontroller=br0\n"), br0File: file("interface-name=br0\n")}
	judge(t, func() Oracle { return permanent{} }, one, map[string]history{
		"everything is on disk":        {play: proven(Disk{}, Committing{"1"})},
		"a profile is in memory only":  {want: "would not find", play: proven(Disk{Unsaved: []string{profiles.RunDir + "/eth1"}}, Committing{"1"})},
		"global DNS is in memory only": {want: "would not find", play: proven(Disk{Unsaved: []string{profiles.DNSFile}}, Committing{"1"})},
		"global DNS was in memory only before": {play: proven(
			Disk{Unsaved: []string{profiles.DNSFile}, ArmedUnsaved: []string{profiles.DNSFile}}, Committing{"1"})},
		"a profile is not flushed":                  {want: "would not leave", play: proven(Disk{Unsynced: []string{eth1File}}, Committing{"1"})},
		"a port after its controller":               {play: proven(Disk{Now: port}, DiskWritten{eth1File})},
		"NetworkManager's own way back":             {play: proven(Disk{Now: port, Unsynced: []string{br0File}, Ended: true}, DiskWritten{eth1File})},
		"a port whose controller may still be lost": {want: "before that is for certain", play: proven(Disk{Now: port, Unsynced: []string{br0File}}, DiskWritten{eth1File})},
	})
}
