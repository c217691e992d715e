package agent
//lines 399
