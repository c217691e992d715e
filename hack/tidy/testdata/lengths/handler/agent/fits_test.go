package agent
//lines 799
