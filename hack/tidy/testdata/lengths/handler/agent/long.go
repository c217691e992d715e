package agent
//lines 400
