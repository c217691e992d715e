package agent
//lines 800
